"""Text that waits to be parsed, and grows by reading on."""

from __future__ import annotations

from collections.abc import Iterator

from mason.errors import UnreadableFile
from mason.pipeline.formats.file_warnings import reason


class TextBuffer:
    """The part of a text that is not parsed yet. `at_end`: nothing follows it. `quoted`: there was a quote in it."""

    def __init__(self, name: str, texts: Iterator[str], warnings: list[str]) -> None:
        self.text = ""
        self.quoted = False
        self.at_end = False
        self._name = name
        self._texts = texts
        self._warnings = warnings
        self._started = False
        self.read_on()

    def is_exhausted(self) -> bool:
        """Say whether nothing is left to parse, looking ahead if need be."""
        if not self.text and not self.at_end:
            self.read_on()
        return self.at_end and not self.text

    def skip(self, characters: str) -> int:
        """Drop these characters from the beginning of the text, however many blocks they fill; return how many."""
        dropped = self._strip(characters)
        while not self.text and not self.at_end:
            self.read_on()
            dropped += self._strip(characters)
        return dropped

    def _strip(self, characters: str) -> int:
        length = len(self.text)
        self.text = self.text.lstrip(characters)
        return length - len(self.text)

    def read_on(self) -> None:
        """Read another block, or as much again as is waiting, so that a very long record is not gone over too often.

        A file that breaks off, as a truncated gz does, ends there, with a warning.

        Raises:
            UnreadableFile: not even its beginning can be read.
        """
        pieces = [self.text]
        length = len(self.text)
        try:
            while length <= 2 * len(self.text):
                pieces.append(next(self._texts))
                length += len(pieces[-1])
                self.quoted = self.quoted or '"' in pieces[-1]
                self._started = True
        except StopIteration:
            self.at_end = True
        except UnreadableFile as error:
            if not self._started:
                raise
            self._warnings.append(f"only its beginning could be read: {reason(error, self._name)}")
            self.at_end = True
        self.text = "".join(pieces)
