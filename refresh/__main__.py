"""`make prices`: today's prices from AWS into the catalogs; without credentials, from the public files."""

import argparse
import re
import sys
from datetime import UTC, datetime
from http.client import HTTPException
from pathlib import Path
from urllib.request import urlopen

from calc.catalogs.history import read_history
from calc.catalogs.load import FOLDER, CatalogError, load_catalogs
from refresh import offer_files, public
from refresh.answers import RefreshError, Scope, family_of
from refresh.merge import merge
from refresh.offer_files import plain_name
from refresh.write import read_documents, write_catalogs

UNTOUCHED = "The catalogs are as they were."


def main(arguments=None, session=None, open_url=urlopen, today=None):
    """0: written (or shown, with --dry-run); 1: refused because something looks wrong; 2: failed. Only 0 writes."""
    options = _options(arguments)
    today = today or datetime.now(UTC).date().isoformat()
    try:
        catalogs = load_catalogs(options.folder)
        scope = _scope(options, catalogs)
        try:
            answers = _fetch(options, scope, session, open_url)
        except (LookupError, ValueError, TypeError) as error:
            raise RefreshError(f"AWS answered in a form that is not known ({error!r}); see refresh/.") from error
        merged = merge(read_documents(options.folder), answers, scope, today, read_history(options.folder))
        return _finish(options, answers, merged, today)
    except (RefreshError, CatalogError) as error:
        print(f"{error} {UNTOUCHED}", file=sys.stderr)
    except KeyboardInterrupt:
        print(f"Stopped. {UNTOUCHED}", file=sys.stderr)
    except OSError as error:
        print(f"The catalogs could not be replaced ({error}); free the folder and run it again. {UNTOUCHED}", file=sys.stderr)
    return 2


def _options(arguments):
    parser = argparse.ArgumentParser(prog="python -m refresh", description=__doc__)
    parser.add_argument("--region", action="append", type=_region, help="only this region; may be given several times")
    parser.add_argument("--family", action="append", help="only this family of instances, as p5; several times")
    parser.add_argument("--public", action="store_true", help="use the public files even where credentials are found")
    parser.add_argument("--dry-run", action="store_true", help="show what would change and write nothing")
    parser.add_argument("--accept", action="store_true", help="write even what looks wrong, after it has been read")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="the folder of the catalogs")
    return parser.parse_args(arguments)


def _region(text):
    if not re.fullmatch(r"[a-z]{2}(-[a-z]+)+-\d", text):
        raise argparse.ArgumentTypeError(f"{text} is not a region; write it as us-east-1")
    return text


def _scope(options, catalogs):
    gpus = catalogs.gpus
    named = gpus[(gpus["ec2_name"] != "") & gpus["ec2_memory_bytes"].notna()]
    cards = {
        (name, int(memory / 2**20)): (gpu, form)
        for gpu, name, memory, form in zip(named.index, named["ec2_name"], named["ec2_memory_bytes"], named["form_factor"], strict=True)
    }
    regions = tuple(dict.fromkeys(options.region or catalogs.regions.index))
    families = tuple(dict.fromkeys(options.family)) if options.family else None
    names = zip(catalogs.models.index, catalogs.models["name"], strict=True)
    models = {plain_name(text): model for model, name in names for text in (model, name)}
    sold_as = zip(catalogs.endpoints["sold_as"], catalogs.endpoints["model"], strict=True)
    models |= {plain_name(text): model for text, model in sold_as}
    return Scope(regions, families, frozenset(catalogs.instances.index), cards, models, *_capacity(catalogs))


def _capacity(catalogs):
    """What is asked about capacity: codes of quotas, types sold in blocks, pools of types (one card; P together) for scores."""
    codes = {code for name in catalogs.quotas if name.endswith("_code") for code in catalogs.quotas[name] if code}
    blocks = catalogs.prices.loc[catalogs.prices["capacity_block_usd_per_hour"].notna(), "instance"].unique()
    current = catalogs.instances[catalogs.instances["current"]]
    cards = current["gpu"].where(~current["family"].str.startswith("p"), "p")
    return tuple(sorted(codes)), tuple(sorted(blocks)), tuple(tuple(sorted(types)) for types in current.groupby(cards).groups.values())


def _fetch(options, scope, session, open_url):
    session, why = (None, "--public was given") if options.public else _session(session)
    if session is None:
        unknown = [family for family in scope.families or () if family not in map(family_of, scope.instances)]
        if unknown:
            raise RefreshError(f"family {unknown[0]} is not in the catalog and new types need credentials; check its name.")
        _progress(f"Public files ({why}): published prices on demand, spot as an estimate.")
        answers = public.fetch(scope, _progress, open_url)
        offer_files.fetch(scope, answers, _progress, public.patient(open_url))
        return answers
    from refresh import aws  # botocore is needed for this way alone

    answers = aws.fetch(session, scope, _progress)
    offer_files.fetch(scope, answers, _progress, public.patient(open_url))
    try:
        public.read_advisor(scope, answers, open_url)
        answers.sources[public.ADVISOR] = public.SOURCES[public.ADVISOR]
    except (OSError, HTTPException, ValueError, LookupError) as error:
        answers.note(f"the Spot Advisor could not be read ({error}): the bands of interruption stay as they were")
    return answers


def _session(session):
    """A session with credentials from the usual chain (environment, profile, role), or None and why there is none."""
    if session is None:
        try:
            import boto3
            import botocore.exceptions
        except ImportError:
            return None, "boto3 is not installed"
        try:
            session = boto3.Session()
            session.get_credentials()
        except botocore.exceptions.BotoCoreError as error:
            raise RefreshError(f"the AWS credentials cannot be read ({error}); mend them or use --public.") from error
    return (session, "") if session.get_credentials() else (None, "no AWS credentials were found")


def _finish(options, answers, merged, today):
    for note in answers.notes:
        print(f"Note: {note}.")
    for change in merged.changes:
        print(change)
    counted = {market: len(prices) for market, prices in answers.prices.items() if prices}
    seen = ", ".join(f"{count} {market}" for market, count in counted.items())
    print(f"Seen: {seen or 'nothing'}; {len(merged.changes)} changes.")
    if not counted:
        raise RefreshError("AWS gave no price at all; check the regions and families.")
    for doubt in merged.doubts:
        print(f"Looks wrong: {doubt}.", file=sys.stderr)
    if merged.doubts and not options.accept:
        print(f"Refused; look at these {len(merged.doubts)} and run again with --accept. {UNTOUCHED}", file=sys.stderr)
        return 1
    if options.dry_run:
        print(f"Dry run. {UNTOUCHED}")
        return 0
    write_catalogs(options.folder, merged.documents, merged.history, today)
    print(f"Written to {options.folder}.")
    return 0


def _progress(text):
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
