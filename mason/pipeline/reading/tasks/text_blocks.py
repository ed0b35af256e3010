"""The bytes of a file, or of a range of it, for the readers of text, and the text of a column where a file has it."""

from __future__ import annotations

import codecs
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.fs as pafs

from mason.errors import UnreadableFile
from mason.pipeline.formats.cell_source import CellSource
from mason.pipeline.formats.json.parse import ParsedSource
from mason.pipeline.formats.scanning.chunks import CHUNK
from mason.pipeline.formats.scanning.csv_typed import TypedSource
from mason.pipeline.formats.sources import ArrowSource, Source, TextSource, ValueSource
from mason.pipeline.formats.text_encoding import NUL_BYTES, without_end_mark
from mason.pipeline.reading.tasks.task import FileInTask
from mason.pipeline.storage.address import abilities_of_files
from mason.pipeline.storage.blocks import read_ahead, read_blocks, read_range
from mason.pipeline.types.given_types import Fitted, unite_fitted
from mason.pipeline.types.value_patterns import fit_pattern

BLOCK = CHUNK  # one block is one chunk: nothing is copied to make it larger


def utf8_blocks(filesystem: pafs.FileSystem, file: FileInTask, notes: list[str]) -> Iterator[bytes]:
    """Yield the file's text in UTF-8, and note what is odd about it.

    What cannot be decoded stays as it is, for the reader of records to refuse.
    """
    for block in without_end_mark(_utf8_blocks(filesystem, file), b"\x1a", notes.append):
        if b"\0" in block and NUL_BYTES not in notes:
            notes.append(NUL_BYTES)
        yield block


def _utf8_blocks(filesystem: pafs.FileSystem, file: FileInTask) -> Iterator[bytes]:
    blocks = raw_blocks(filesystem, file)
    if codecs.lookup(file.encoding or "utf-8").name == "utf-8":
        yield from blocks
        return
    decoder = codecs.getincrementaldecoder(file.encoding)("surrogateescape")
    try:
        for block in blocks:
            yield decoder.decode(block).encode("utf-8", "surrogateescape")
        yield decoder.decode(b"", final=True).encode("utf-8", "surrogateescape")
    except UnicodeDecodeError as error:  # UTF-16, whose broken pairs nothing can stand for
        raise UnreadableFile(file.name, f"it is not valid {file.encoding.upper()}: {error.reason}.") from error


def raw_blocks(filesystem: pafs.FileSystem, file: FileInTask) -> Iterator[bytes]:
    """Yield the file's bytes, decompressed."""
    if file.is_whole:
        blocks = read_blocks(filesystem, file.data, BLOCK)
    else:
        blocks = read_range(filesystem, file.data, file.offset, file.length, BLOCK)
    return blocks if abilities_of_files(filesystem).is_near else read_ahead(blocks)


def fit_texts(source: Source, pattern: str, target: pa.DataType, timezone: str) -> Fitted:
    """Return a column in a type that was given: its text by the pattern, values with types of their own as they are."""
    if isinstance(source, CellSource):
        return source.unite_with(fit_pattern(source.texts, pattern, target, timezone), target, timezone)
    if isinstance(source, ValueSource):
        return _fit_values(source, pattern, target, timezone)
    texts = _texts_of(source)
    if texts is None:
        return source.fit_given(target, timezone)
    return fit_pattern(texts, pattern, target, timezone)


def is_text_at(source: Source, index: int) -> bool:
    """Say whether a value of a column was text in the file."""
    return source.is_text(index) if isinstance(source, CellSource) else isinstance(source.value(index), str)


def _fit_values(source: ValueSource, pattern: str, target: pa.DataType, timezone: str) -> Fitted:
    texts = [value if isinstance(value, str) else None for value in source.values]
    fitted = fit_pattern(pa.array(texts, pa.string()), pattern, target, timezone)
    others = [None if isinstance(value, str) else value for value in source.values]
    if all(value is None for value in others):
        return fitted
    return unite_fitted([fitted, ValueSource(others).fit_given(target, timezone)])


def _texts_of(source: Source) -> pa.Array | None:
    """The values of a column if they are text; None if they have types of their own."""
    if isinstance(source, TypedSource):
        return source.text().values
    if isinstance(source, TextSource):
        return source.values
    if isinstance(source, ArrowSource | ParsedSource):
        values = source.values
        values = values.dictionary_decode() if pa.types.is_dictionary(values.type) else values
        return values.cast(pa.string()) if _is_text(values.type) else None
    return None


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))
