from __future__ import annotations

import threading
from collections.abc import Generator

import pytest

from mason.errors import UnreadableFile
from mason.pipeline.storage.blocks import read_ahead


def test_reading_ahead_gives_the_same_blocks() -> None:
    assert list(read_ahead(block for block in (b"a", b"", b"c"))) == [b"a", b"", b"c"]
    assert list(read_ahead(block for block in ())) == []


def test_the_next_block_is_read_while_one_is_worked_on() -> None:
    read = threading.Event()

    def blocks() -> Generator[bytes]:
        yield b"first"
        read.set()
        yield b"second"

    coming = read_ahead(blocks())

    assert next(coming) == b"first"
    assert read.wait(10)
    assert list(coming) == [b"second"]


def test_what_fails_in_reading_is_told_after_what_could_be_read() -> None:
    def blocks() -> Generator[bytes]:
        yield b"first"
        raise UnreadableFile("a.csv", "it vanished.")

    coming = read_ahead(blocks())

    assert next(coming) == b"first"
    with pytest.raises(UnreadableFile, match="it vanished"):
        next(coming)


def test_who_stops_early_closes_the_file() -> None:
    asked, answered, closed = threading.Event(), threading.Event(), threading.Event()

    def blocks() -> Generator[bytes]:
        try:
            yield b"first"
            asked.set()
            answered.wait(10)
            yield b"second"
        finally:
            closed.set()

    coming = read_ahead(blocks())
    next(coming)
    assert asked.wait(10)
    threading.Timer(0.2, answered.set).start()
    coming.close()  # while the second block is still on its way

    assert closed.is_set()
