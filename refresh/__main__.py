"""`make prices`: today's prices from AWS into the catalogs."""

import argparse
import re
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from urllib.request import urlopen

from calc.catalogs.history import read_history
from calc.catalogs.load import FOLDER, CatalogError, load_catalogs
from calc.say.numbers import with_noun
from refresh import public
from refresh.answers import RefreshError, Scope, family_of
from refresh.doubts import LABELS
from refresh.merge import merge
from refresh.offer_files import plain_name
from refresh.region_cache import RegionCache
from refresh.regions import ALL, REGION, every_region
from refresh.write import read_documents, write_catalogs

ACCEPT = (
    "write this one entry although it looks wrong, such as on_demand/p5.48xlarge/us-east-1; may "
    "be repeated"
)
UNTOUCHED = "The catalogs are as they were."


def main(arguments=None, session=None, open_url=urlopen, today=None):
    """Run a refresh; return 0 if written (or shown), 1 if refused as doubtful, 2 if it failed."""
    options = _options(arguments)
    today = today or datetime.now(UTC).date().isoformat()
    region_cache = None
    try:
        scope = _scope(options, load_catalogs(options.folder))
        if ALL in (options.region or ()):
            scope = replace(scope, regions=every_region(public.patient(open_url)))
        session, why = (None, "--public was given") if options.public else _session(session)
        region_cache = RegionCache(
            options.folder.parent, scope, "public" if session is None else "account"
        )
        try:
            answers = _fetch(session, why, scope, region_cache, open_url)
        except (LookupError, ValueError, TypeError) as error:
            raise RefreshError(
                f"AWS answered in an unknown form ({error!r}); see refresh/."
            ) from error
        merged = merge(
            read_documents(options.folder), answers, scope, today, read_history(options.folder)
        )
        return _finish(options, answers, merged, region_cache, today)
    except (RefreshError, CatalogError) as error:
        sentence = str(error)
    except KeyboardInterrupt:
        sentence = "Stopped."
    except OSError as error:
        sentence = (
            f"The catalogs could not be replaced ({error}); free the folder and run it again."
        )
    resume = region_cache.sentence() if region_cache else ""
    print(f"{sentence[:1].upper()}{sentence[1:]} {UNTOUCHED}{resume}", file=sys.stderr)
    return 2


def _options(arguments):
    parser = argparse.ArgumentParser(prog="python -m refresh", description=__doc__)
    parser.add_argument(
        "--region",
        action="append",
        type=_region,
        help="only this region; may be repeated; all: every region of AWS",
    )
    parser.add_argument(
        "--family",
        action="append",
        help="only this family of instances, such as p5; may be repeated",
    )
    parser.add_argument(
        "--public",
        action="store_true",
        help="use the public files even where credentials are found",
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="show what would change, write nothing"
    )
    parser.add_argument(
        "--accept", action="append", type=_entry, default=[], metavar="ENTRY", help=ACCEPT
    )
    parser.add_argument("--folder", type=Path, default=FOLDER, help="the folder of the catalogs")
    return parser.parse_args(arguments)


def _entry(text):
    if not re.fullmatch(r"[a-z0-9_]+(/[a-zA-Z0-9.-]+)+", text):
        raise argparse.ArgumentTypeError(
            f"{text} is no single entry; write it as on_demand/p5.48xlarge/us-east-1"
        )
    return text


def _region(text):
    if text != ALL and not REGION.fullmatch(text):
        raise argparse.ArgumentTypeError(
            f"{text} is not a region; write it as us-east-1, or {ALL} for every region of AWS"
        )
    return text


def _scope(options, catalogs):
    """Return what this refresh fetches from AWS."""
    gpus = catalogs.gpus[
        (catalogs.gpus["ec2_name"] != "") & catalogs.gpus["ec2_memory_bytes"].notna()
    ]
    forms = gpus[["ec2_name", "ec2_memory_bytes", "form_factor"]].itertuples()
    cards = {(name, int(memory / 2**20)): (gpu, form) for gpu, name, memory, form in forms}
    regions = tuple(dict.fromkeys(options.region or catalogs.regions.index))
    families = tuple(dict.fromkeys(options.family)) if options.family else None
    models = {
        plain_name(text): model
        for model, name in catalogs.models["name"].items()
        for text in (model, name)
    }
    models |= dict(
        zip(
            map(plain_name, catalogs.endpoints["sold_as"]), catalogs.endpoints["model"], strict=True
        )
    )
    return Scope(
        regions, families, frozenset(catalogs.instances.index), cards, models, *_capacity(catalogs)
    )


def _capacity(catalogs):
    """Codes of quotas, types sold in blocks, and pools of types for spot scores.

    A pool has one card; P types are one pool.
    """
    codes = {
        code
        for name in catalogs.quotas
        if name.endswith("_code")
        for code in catalogs.quotas[name]
        if code
    }
    blocks = catalogs.prices.loc[
        catalogs.prices["capacity_block_usd_per_hour"].notna(), "instance"
    ].unique()
    current = catalogs.instances[catalogs.instances["current"]]
    cards = current["gpu"].where(~current["family"].str.startswith("p"), "p")
    return (
        tuple(sorted(codes)),
        tuple(sorted(blocks)),
        tuple(tuple(sorted(types)) for types in current.groupby(cards).groups.values()),
    )


def _fetch(session, why, scope, region_cache, open_url):
    """AWS's answers, from the public files if there are no credentials."""
    if session is None:
        unknown = [
            family
            for family in scope.families or ()
            if family not in map(family_of, scope.instances)
        ]
        if unknown:
            raise RefreshError(
                f"family {unknown[0]} is not in the catalog, and new types need credentials; "
                f"check its name."
            )
        _progress(f"Public files ({why}): published prices on demand, spot as an estimate.")
        return public.fetch(scope, region_cache, _progress, open_url)
    from refresh import aws  # only here is botocore needed

    return aws.fetch(session, scope, region_cache, _progress, open_url)


def _session(session):
    """A session with credentials from the usual chain, or None and the reason.

    The chain is that of boto3: environment, profile, role.
    """
    try:
        import boto3
        from botocore.exceptions import BotoCoreError
    except ImportError:
        return None, "boto3 is not installed"
    try:
        session = session or boto3.Session()
        return (
            (session, "") if session.get_credentials() else (None, "no AWS credentials were found")
        )
    except BotoCoreError as error:
        raise RefreshError(
            f"the AWS credentials cannot be read ({error}); correct them or use --public."
        ) from error


def _finish(options, answers, merged, region_cache, today):
    """Print notes, changes and doubts; write the catalogs if nothing forbids it."""
    for line in (*(f"Note: {note}." for note in answers.notes), *merged.changes):
        print(line)
    outliers = "; ".join(
        f"{LABELS.get(market, market)} {len(prices)}"
        for market, prices in answers.prices.items()
        if prices
    )
    print(f"Prices seen: {outliers or 'none'}. Changes: {len(merged.changes)}.")
    if not outliers:
        raise RefreshError("AWS gave no price at all; check the regions and families.")
    for entry in sorted(set(options.accept) - {doubt.entry for doubt in merged.doubts}):
        print(f"Note: --accept {entry} accepts nothing, since nothing is doubted there.")
    open_doubts = [doubt for doubt in merged.doubts if doubt.entry not in options.accept]
    for doubt in open_doubts:
        print(
            f"Looks wrong: {doubt.sentence}. If it is right: --accept {doubt.entry}",
            file=sys.stderr,
        )
    if open_doubts:
        print(
            (
                f"Refused: {with_noun(len(open_doubts), 'doubt')}; accept each entry that is "
                f"right. {UNTOUCHED}{region_cache.sentence()}"
            ),
            file=sys.stderr,
        )
        return 1
    if options.dry_run:
        print(f"Dry run. {UNTOUCHED}")
        return 0
    write_catalogs(options.folder, merged.documents, merged.history, today)
    region_cache.clear()
    print(f"Written to {options.folder}.")
    return 0


def _progress(text):
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
