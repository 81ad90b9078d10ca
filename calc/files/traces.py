"""Files of requests as a load over a day: Azure's and BurstGPT's, or one's own."""

import csv
import gzip
import io
from typing import Any, BinaryIO

import numpy as np
import pandas as pd

from calc.catalogs.load import read_catalog, read_once
from calc.catalogs.schemas import load_curves as curves_catalog
from calc.catalogs.schemas.load_curves import TraceFormat
from calc.files.door import one_sentence
from calc.files.streams import read
from calc.plan.load_day import Trace
from calc.scenarios.problems import TableError, quote_cell
from calc.units import DAY_HOURS, HOUR_SECONDS, WEEK_HOURS

GZIP, BLOCK_BYTES, LONGEST_HEADER_BYTES = b"\x1f\x8b", 2**24, 2**16
HOUR_TEXT = len("2026-11-28 18")
MOST_HOURS = 24 * 366 * 5
DATED_HOURS = MOST_HOURS  # since 1970: times of a file with dates lie beyond
FIRST_MONDAY = 4 * 24  # hours since 1970 began, on a Thursday


@read_once
def load_curves() -> curves_catalog.File:
    """Named curves and formats of requests (catalogs/edited/load_curves.yaml)."""
    return read_catalog(curves_catalog.File)


def curve_of(text: str, of_week: bool = False) -> tuple[float, ...]:
    """The loads of a named curve, of a day or a week, or numbers joined by +; raises TableError."""
    curves = load_curves().curves
    if text in curves:
        day = tuple(map(float, curves[text].hours))
        weekend = tuple(load * curves[text].weekend_ratio for load in day)
        return day * 5 + weekend * 2 if of_week else day
    try:
        hours = tuple(float(part) for part in text.split("+"))
    except ValueError:
        hours = ()
    is_load = all(0 <= hour < np.inf for hour in hours) and sum(hours) > 0
    if len(hours) not in (DAY_HOURS, WEEK_HOURS) or not is_load:
        raise TableError(
            f"'{quote_cell(text)}' is not the load of a day or a week; give {', '.join(curves)}, "
            f"or {DAY_HOURS} numbers from midnight on, or {WEEK_HOURS} from Monday's on, joined by "
            f"+, not all 0."
        )
    return hours * 7 if of_week and len(hours) == DAY_HOURS else hours


def trace_of_file(path: str) -> Trace:
    """The load of a file of requests, or of standard input; raises TableError or OSError."""
    with read(path) as stream:
        return trace_of(stream.read() if path == "-" else stream, path)


@one_sentence
def trace_of(source: bytes | BinaryIO, name: str) -> Trace:
    """The load of requests in bytes or a stream, CSV or gzip; raises TableError."""
    stream = io.BytesIO(source) if isinstance(source, bytes) else source
    is_packed = stream.read(len(GZIP)) == GZIP
    stream.seek(0)
    try:
        form = _format_of(_header(stream, is_packed, name), name)
        parts = [_by_hour(rows, form, name) for rows in _batches(stream, is_packed, form, name)]
    except (gzip.BadGzipFile, EOFError) as error:
        raise TableError(
            f"{name} cannot be unpacked ({quote_cell(error)}); fetch it again."
        ) from None
    if not parts:
        raise TableError(f"{name} has a first line and no request; give some.")
    return _trace(pd.concat(parts).groupby(level=0).sum(), form.name, name)


def _trace(hours: pd.DataFrame, form_name: str, name: str) -> Trace:
    """The load of requests, prompt and answer tokens by hour."""
    first = int(hours.index.min())
    last = int(hours.index.max())
    covered = last - first + 1
    if covered > MOST_HOURS:
        raise TableError(f"{name} covers more than five years; correct its times.")
    requests = hours["requests"].reindex(range(first, last + 1), fill_value=0).to_numpy(dtype=float)
    times = np.arange(first, last + 1)
    monday = FIRST_MONDAY if first > DATED_HOURS else first // DAY_HOURS * DAY_HOURS
    total = float(requests.sum())
    return Trace(
        form_name,
        _means(requests, times % DAY_HOURS, DAY_HOURS),
        _means(requests, (times - monday) % WEEK_HOURS, WEEK_HOURS),
        int(total),
        covered,
        float(hours["prompt"].sum()) / total,
        float(hours["answer"].sum()) / total,
        float(requests.max()) / HOUR_SECONDS,
        float(requests.max() / requests.mean()),
    )


def _means(requests: np.ndarray, places: np.ndarray, hours: int) -> tuple[float, ...]:
    """The mean requests at each hour of a day or a week; empty where the file covers less."""
    if len(requests) < hours:
        return ()
    return tuple(float(requests[places == hour].mean()) for hour in range(hours))


def _header(stream: BinaryIO, is_packed: bool, name: str) -> list[str]:
    """The names of the columns of a trace; the stream is back at its beginning."""
    opened: Any = gzip.GzipFile(fileobj=stream) if is_packed else stream
    line = opened.readline(LONGEST_HEADER_BYTES)
    stream.seek(0)
    try:
        return [cell.strip() for cell in next(csv.reader([line.decode("utf-8-sig")]), [])]
    except (UnicodeDecodeError, csv.Error):
        raise TableError(f"{name} is not CSV in UTF-8; save it as such.") from None


def _format_of(header: list[str], name: str) -> TraceFormat:
    """Return the format whose three columns a header has; raise TableError if none has."""
    formats = load_curves().traces.values()
    for form in formats:
        if {form.time, form.prompt_tokens, form.answer_tokens} <= set(header):
            return form
    plain = load_curves().traces["plain"]
    raise TableError(
        f"{name} is not a file of requests (its columns: {quote_cell(', '.join(header[:6]))}); "
        f"give Azure's or BurstGPT's trace, or the columns {plain.time}, {plain.prompt_tokens} "
        f"and {plain.answer_tokens}."
    )


def _batches(stream: BinaryIO, is_packed: bool, form: TraceFormat, name: str) -> Any:
    """The three columns of the file, in batches."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    types = {form.time: pa.string()}
    types |= {form.prompt_tokens: pa.float64(), form.answer_tokens: pa.float64()}
    try:
        with arrow_csv.open_csv(
            pa.input_stream(stream, compression="gzip" if is_packed else None),
            read_options=arrow_csv.ReadOptions(block_size=BLOCK_BYTES, use_threads=False),
            convert_options=arrow_csv.ConvertOptions(
                include_columns=list(types), column_types=types
            ),
        ) as reader:
            for batch in reader:
                yield batch.to_pandas()
    except (pa.ArrowInvalid, pa.ArrowKeyError, OSError) as error:
        reason = " ".join(str(error).split())[:200].rstrip(".")
        raise TableError(f"{name} cannot be read ({reason}); save it as CSV again.") from None


def _by_hour(rows: pd.DataFrame, form: TraceFormat, name: str) -> pd.DataFrame:
    """Requests and tokens by hour since 1970, or since the first midnight; raises TableError."""
    texts = rows[form.time].fillna("").astype(str)
    seconds = pd.to_numeric(texts, errors="coerce")
    if seconds.notna().all():
        hours = np.floor(seconds / HOUR_SECONDS)
    else:
        codes, distinct = pd.factorize(texts.str.slice(0, HOUR_TEXT).str.replace("T", " "))
        days = pd.to_datetime(pd.Series(distinct), format="%Y-%m-%d %H", errors="coerce")
        if days.isna().any():
            wrong = quote_cell(distinct[int(np.flatnonzero(days.isna())[0])])
            raise TableError(
                f"{name}: '{wrong}' is not a time; write it as 2026-11-28 18:00:00, or as seconds "
                f"from the first midnight."
            )
        since = (days - pd.Timestamp(0)) // pd.Timedelta(hours=1)
        hours = since.to_numpy()[codes]
    if not np.all((np.asarray(hours) >= 0) & (np.asarray(hours) < 1e7)):
        raise TableError(f"{name}: a time lies before its beginning or beyond any day; correct it.")
    for column in (form.prompt_tokens, form.answer_tokens):
        tokens = rows[column].fillna(0.0)
        if not np.all((tokens >= 0) & (tokens < np.inf)):
            raise TableError(f"{name}: a number in {column} is below 0 or without end; correct it.")
    return (
        pd.DataFrame(
            {
                "hour": np.asarray(hours, dtype=np.int64),
                "requests": 1,
                "prompt": rows[form.prompt_tokens].fillna(0.0).to_numpy(),
                "answer": rows[form.answer_tokens].fillna(0.0).to_numpy(),
            }
        )
        .groupby("hour")
        .sum()
    )
