"""Zip archives, whose members are files."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator, Mapping, Sequence

from tests.merge.corpus_writers.case import Case

PEOPLE = ["id", "name"]
ROWS = [[1, "Ann"], [2, "Bob"]]
TEXT = "id,name\n1,Ann\n2,Bob\n"


def archived_cases() -> Iterator[Case]:
    """Yield the files."""
    lines = "".join(json.dumps(dict(zip(PEOPLE, row, strict=True))) + "\n" for row in ROWS)
    read = {
        "csv": {"people.csv": TEXT},
        "jsonl": {"people.jsonl": lines},
        "folders": {"2024/a.csv": "id,name\n1,Ann\n", "2025/b.csv": "name,id\nBob,2\n"},
        "mac": {"people.csv": TEXT, "__MACOSX/._people.csv": "\x00\x05\x16\x07"},
        "hidden": {"people.csv": TEXT, ".DS_Store": "x"},
    }
    for name, members in read.items():
        yield _case(f"{name}.zip", zipped(members), "Each member of an archive is a file.")
    for name, method in (("stored", zipfile.ZIP_STORED), ("bzip2", zipfile.ZIP_BZIP2), ("lzma", zipfile.ZIP_LZMA)):
        yield _case(f"{name}.zip", zipped({"people.csv": TEXT}, method), f"Members may be packed as {name}.")
    refused = {
        "nested": (zipped({"inner.zip": zipped({"people.csv": TEXT})}), "is an archive itself"),
        "out-of-the-folder": (zipped({"../people.csv": TEXT}), "has a name that no file has"),
        "encrypted": (_encrypted(), "is encrypted"),
        "cut-off": (zipped({"people.csv": TEXT})[:-10], "it is no zip archive, or a broken one"),
    }
    for name, (content, said) in refused.items():
        file = f"{name}.zip"
        why = "What cannot be read of an archive is refused, not left out."
        yield Case(name=f"archives/{file}", content=content, why=why, error=[f"{file}: ", said])


def zipped(members: Mapping[str, str | bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return an archive that is the same whenever it is made."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", method) as archive:
        for name, member in members.items():
            archive.writestr(zipfile.ZipInfo(name), member, method)
    return content.getvalue()


def _encrypted() -> bytes:
    content = bytearray(zipped({"people.csv": TEXT}))
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(mark) + place] |= 1
    return bytes(content)


def _case(file: str, content: bytes, why: str, rows: Sequence[Sequence[object]] = ROWS) -> Case:
    return Case(name=f"archives/{file}", content=content, why=why, columns=PEOPLE, rows=rows)
