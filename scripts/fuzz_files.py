"""Damages files of the corpus at random, merges each, and tells of crashes and of rows that vanish without a word.

python -m scripts.fuzz_files --files 10000 --seed 1
python -m scripts.fuzz_files --files 10000 --keep damaged     leave the files that something is wrong with there
"""

from __future__ import annotations

import argparse
import io
import random
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fastavro
import msgpack
import pyarrow.parquet as pq
from pyarrow import orc

from mason.pipeline.work.row_sums import RowsLost
from tests.merge.corpus_writers.case import CORPUS_FILES
from tests.merge.expected_files import corpus_files, expectation_of, outcome_of_file
from tests.merge.outcomes import Outcome

Reader = Callable[[Path, Path, Mapping[str, Any]], Outcome]
_SIGNS = [b'"', b"'", b",", b";", b"\t", b"|", b"\\", b"\n", b"\r\n", b"\x00", b"\xff", b"{", b"]", b" ", b"#", b"0"]
_LINE_END = re.compile(r"\r\n|\r|\n")
_SKIPPED = re.compile(r"its first (?:([0-9,]+) lines are|line is) not a record|its first line says")


@dataclass(frozen=True)
class Find:
    """A damaged file that something is wrong with."""

    name: str
    content: bytes
    complaint: str


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="a folder for the files that something is wrong with")
    given = parser.parse_args()
    tally: Counter[str] = Counter()
    finds = list(fuzz(given.files, given.seed, tally=tally))
    for number, find in enumerate(finds):
        print(f"{find.name}: {find.complaint}")  # noqa: T201
        if given.keep:
            given.keep.mkdir(parents=True, exist_ok=True)
            (given.keep / f"{number:04}-{find.name}").write_bytes(find.content)
    told = ", ".join(f"{count:,} {what}" for what, count in sorted(tally.items()))
    print(f"{given.files:,} files: {told}; {len(finds):,} with something wrong.")  # noqa: T201
    sys.exit(int(bool(finds)))


def fuzz(files: int, seed: int, reader: Reader = outcome_of_file, tally: Counter[str] | None = None) -> Iterator[Find]:
    """Merge so many damaged files, and yield those that something is wrong with."""
    chance = random.Random(seed)
    originals = corpus_files(CORPUS_FILES)
    tally = Counter() if tally is None else tally
    for _ in range(files):
        original = chance.choice(originals)
        content = damage(original.read_bytes(), chance)
        options = (expectation_of(original) or {}).get("options", {})
        with tempfile.TemporaryDirectory() as room:
            file = Path(room) / original.name
            file.write_bytes(content)
            complaint = judge(file, Path(room) / "room", options, reader, tally)
        if complaint:
            yield Find(original.name, content, complaint)


def damage(content: bytes, chance: random.Random) -> bytes:
    """Return a content with one to three things wrong in it."""
    for _ in range(chance.randint(1, 3)):
        content = chance.choice(_DAMAGES)(content, chance)
    return content


def judge(file: Path, room: Path, options: Mapping[str, Any], reader: Reader, tally: Counter[str]) -> str:
    """Merge a file, and return what is wrong with what came of it; "" if nothing is.

    Everything that is no error of Mason's own is a crash; so is a merge that finds out itself that rows are missing.
    """
    try:
        seen = reader(file, room, options)
    except RowsLost as error:
        return f"it lost rows: {error}"
    except Exception as error:  # noqa: BLE001 whatever it is, it is what this looks for
        return f"it crashed: {type(error).__name__}: {error}"
    if seen.error:
        tally["refused"] += 1
        return ""
    came, out, aside = seen.counts
    if came != out + aside or out != len(seen.rows) or aside != len(seen.rejects):
        return f"{came} records in, {len(seen.rows)} rows ({out} told), {len(seen.rejects)} set aside ({aside} told)"
    expected = count_records(file, options, seen)
    tally["read"] += 1
    tally["counted by another reader"] += expected is not None
    if expected is not None and expected != came:
        return f"{came} records in, but another reader counts {expected}"
    return ""


def count_records(file: Path, options: Mapping[str, Any], seen: Outcome) -> int | None:
    """Return how many records a file has by another reader; None where no other can tell for sure."""
    content = file.read_bytes()
    try:
        if file.suffix == ".parquet":
            return int(pq.ParquetFile(io.BytesIO(content)).metadata.num_rows)
        if file.suffix == ".orc":
            return int(orc.ORCFile(io.BytesIO(content)).nrows)
        if file.suffix == ".avro":
            return sum(1 for _ in fastavro.reader(io.BytesIO(content)))
        if file.suffix == ".msgpack":
            return _count_maps(content)
        text = content.decode("utf-8-sig")
    except Exception:  # noqa: BLE001 another reader that fails has no say
        return None
    if file.suffix in (".jsonl", ".ndjson") and "\r" not in text and text.lstrip()[:1] == "{":
        return sum(bool(line.strip(" \t")) for line in text.split("\n"))
    if file.suffix in (".csv", ".tsv") and not options and not any(sign in text for sign in "\"'{[\x00\x1b"):
        return _count_lines(text, seen)
    return None


def _count_maps(content: bytes) -> int | None:
    unpacked = list(msgpack.Unpacker(io.BytesIO(content), strict_map_key=False))
    return len(unpacked) if all(isinstance(each, dict) for each in unpacked) else None


def _count_lines(text: str, seen: Outcome) -> int | None:
    """Where there is no quote, a record is a line that is not blank; a header and what is told as skipped are none.

    In a file of one column a blank line is a null, and no other reader says how many of them are meant.
    """
    if len(seen.columns) == 1:
        return None
    lines = _LINE_END.split(text.lstrip("\r\n").rstrip("\x1a"))  # the end of a file, as DOS knew it
    skipped = 0
    for found in filter(None, map(_SKIPPED.search, seen.warnings)):
        skipped += int((found[1] or "1").replace(",", ""))
    has_header = not all(re.fullmatch(r"col_[0-9]+", name) for name, _ in seen.columns)
    return sum(map(bool, lines[skipped:])) - has_header


def _flip(content: bytes, chance: random.Random) -> bytes:
    changed = bytearray(content)
    for _ in range(chance.randint(1, 4) if content else 0):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def _insert(content: bytes, chance: random.Random) -> bytes:
    place = chance.randint(0, len(content))
    return content[:place] + chance.choice(_SIGNS) * chance.randint(1, 2) + content[place:]


def _truncate(content: bytes, chance: random.Random) -> bytes:
    return content[: chance.randint(0, len(content))]


def _remove(content: bytes, chance: random.Random) -> bytes:
    place = chance.randint(0, len(content))
    return content[:place] + content[place + chance.randint(1, 8) :]


def _drop_line(content: bytes, chance: random.Random) -> bytes:
    lines = content.splitlines(keepends=True)
    if lines:
        del lines[chance.randrange(len(lines))]
    return b"".join(lines)


def _double_line(content: bytes, chance: random.Random) -> bytes:
    lines = content.splitlines(keepends=True)
    if lines:
        lines.insert(chance.randint(0, len(lines)), chance.choice(lines))
    return b"".join(lines)


def _shuffle_lines(content: bytes, chance: random.Random) -> bytes:
    lines = content.splitlines(keepends=True)
    chance.shuffle(lines)
    return b"".join(lines)


def _repeat(content: bytes, chance: random.Random) -> bytes:
    return content + content[chance.randint(0, len(content)) :]


_DAMAGES: Sequence[Callable[[bytes, random.Random], bytes]] = [
    _flip, _insert, _insert, _insert, _truncate, _remove, _drop_line, _double_line, _shuffle_lines, _repeat
]  # fmt: skip

if __name__ == "__main__":
    main()
