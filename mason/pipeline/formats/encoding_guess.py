"""Which encodings a text may have that is not UTF-8: what charset-normalizer finds likely, and what people write.

Nearly any bytes are text in some encoding, so that three things are weighed: whether the text is a mess in it
(charset-normalizer), whether its characters are those that are used every day (the first level of the East Asian
standards), and whether the foreign letters of a Latin alphabet stand among plain ones.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

_LATIN = ("cp1252", "latin_1", "cp1250", "iso8859_2", "cp1254", "cp850")
_EVERYDAY: Mapping[str, tuple[str, Sequence[range]]] = {
    # The encoding of a standard, and in which rows of it what people write is found: kana, first level, Hangul. Where
    # nothing tells encodings apart, the first of them is taken.
    "cp932": ("euc_jp", (range(0xA4, 0xA6), range(0xB0, 0xD0))),
    "gb18030": ("gb2312", (range(0xB0, 0xD8),)),
    "cp949": ("euc_kr", (range(0xB0, 0xC9),)),
    "cp950": ("big5", (range(0xA4, 0xC7),)),
    "big5hkscs": ("big5", (range(0xA4, 0xC7),)),
    "euc_jp": ("euc_jp", (range(0xA4, 0xA6), range(0xB0, 0xD0))),
    "euc_jis_2004": ("euc_jp", (range(0xA4, 0xA6), range(0xB0, 0xD0))),
}
_OTHERS = ("cp1251", "koi8_r", "cp866", "cp1253", "cp1255", "cp1256", "cp874")
_KNOWN = (*_EVERYDAY, *_OTHERS, *_LATIN)
_HALF_WIDTH = range(0xFF61, 0xFFA0)
_ENOUGH = 8 * 1024
_FEWEST = 3  # fewer bytes say nothing
_PLAINLY_LATIN = 0.7
_AS_LIKELY = 0.1
_LONGEST_RUN = 3
_NEIGHBOURS = ("cp1250", "iso8859_2", "cp1254")
"""What people write to the east of those that write cp1252: most of the letters are at the same places."""
_WORD = re.compile(r"[^\W\d_]+").findall
_APOSTROPHE = re.compile(r"(?<=[^\W\d_])’(?=[^\W\d_])").sub


def guess_encodings(start: bytes) -> Sequence[str]:
    """Return the encodings that a text may have by its first bytes, the likeliest first; none where Western is likely.

    Those that are as good as the first, and make another text of it, follow it.
    """
    telling = _pick_non_ascii_lines(start)
    if len(telling) - len(telling.decode("ascii", "ignore")) < _FEWEST:
        return ()
    western = _decode(telling, "cp1252")
    share = _latin_share(western) if western is not None else 0
    if share == 1:
        return ()
    badness = dict(sorted(_weigh(telling), key=lambda found: (round(found[1], 2), _KNOWN.index(found[0]))))
    if share >= _PLAINLY_LATIN and not _is_neighbour(badness):
        return ()
    if not badness:
        return ()
    best, *others = [name for name, value in badness.items() if value <= min(badness.values()) + _AS_LIKELY]
    if best in ("cp1252", "latin_1"):
        return ()
    texts = {telling.decode(name): name for name in reversed([best, *others])}
    return list(reversed(texts.values()))


def other_latin_encodings(start: bytes) -> Sequence[str]:
    """Return the encodings in which a Western text would be other words that look as good."""
    telling = _pick_non_ascii_lines(start)
    western = _decode(telling, "cp1252") or telling.decode("latin_1")
    texts = {western: "cp1252"}
    for name in _NEIGHBOURS:
        text = _decode(telling, name)
        if text is not None and _latin_share(text) >= _latin_share(western):
            texts.setdefault(text, name)
    return list(texts.values())[1:]


def _is_neighbour(badness: Mapping[str, float]) -> bool:
    """Say whether a neighbour of cp1252 is plainly better than this."""
    best = next(iter(badness), "")
    return best in _NEIGHBOURS and badness[best] + _AS_LIKELY < badness.get("cp1252", 1)


def _decode(text: bytes, encoding: str) -> str | None:
    try:
        return text.decode(encoding)
    except UnicodeDecodeError:
        return None


def is_east_asian(encoding: str) -> bool:
    """Say whether it is one of the encodings in which most characters have two bytes."""
    return encoding in _EVERYDAY


def _pick_non_ascii_lines(start: bytes) -> bytes:
    """The lines that have more than ASCII in them; the last one may be cut off within a character."""
    lines = start.splitlines(keepends=True)
    if len(lines) > 1 and not lines[-1].endswith((b"\n", b"\r")):
        lines.pop()
    return b"".join(line for line in lines if not line.isascii())[:_ENOUGH].rpartition(b"\n")[0] or start[:_ENOUGH]


def _weigh(text: bytes) -> Iterator[tuple[str, float]]:
    """Yield each encoding that the text can have, and how much speaks against it."""
    from charset_normalizer import from_bytes

    for match in from_bytes(text, cp_isolation=list(_KNOWN), preemptive_behaviour=False):
        for each in (match, *match.submatch):
            mess = each.chaos - each.coherence / 4
            if each.encoding in _EVERYDAY:
                yield each.encoding, mess + 0.4 * (1 - _everyday_share(str(each), each.encoding))
            elif each.encoding in _LATIN:
                yield each.encoding, mess + 0.15 + 0.3 * (1 - _latin_share(str(each)))
            else:
                yield each.encoding, mess + 0.15 + 0.5 * _share_of_mixed_words(str(each))


def _everyday_share(text: str, encoding: str) -> float:
    """How many of the characters beyond ASCII are among those that everybody uses; halves of kana count half."""
    standard, rows = _EVERYDAY[encoding]
    foreign = [char for char in text if not char.isascii()]
    halves = [char for char in foreign if ord(char) in _HALF_WIDTH]
    coded = [char.encode(standard, "ignore") for char in foreign]
    everyday = sum(len(code) == 2 and any(code[0] in row for row in rows) for code in coded)
    return (everyday + len(halves) / 2) / max(len(foreign), 1)


def _latin_share(text: str) -> float:
    """How many of the characters beyond ASCII stand where a Latin alphabet has such.

    Three letters stand together at most (more count half), none of them a capital behind a small one; a sign stands
    alone, and not in a word.
    """
    good = total = 0.0
    for run, before, behind in _foreign_runs(_APOSTROPHE("'", text)):
        total += len(run)
        if "ƒ" in run:  # in Shift-JIS every katakana begins with it
            continue
        if all(map(_is_latin, run)):
            is_usual = len(run) <= _LONGEST_RUN
            good += 0 if _has_capital_within(before + run) else len(run) if is_usual else len(run) / 2
        elif len(run) == 1 and run.isprintable() and not (before + behind).isalpha():
            good += 1
    return good / max(total, 1)


def _has_capital_within(letters: str) -> bool:
    return any(one.islower() and other.isupper() for one, other in pairwise(letters))


def _share_of_mixed_words(text: str) -> float:
    """How many words of another alphabet have letters of ours in them, too: that is rather a Latin text."""
    words = [word for word in _WORD(text) if not word.isascii()]
    return sum(any(map(_is_latin, word)) for word in words) / max(len(words), 1)


def _is_latin(char: str) -> bool:
    return char.isalpha() and "LATIN" in unicodedata.name(char, "")


def _foreign_runs(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield characters beyond ASCII that stand together, and what stands before and behind them."""
    start = None
    for place, char in enumerate([*text, " "]):
        if char.isascii() and start is not None:
            yield text[start:place], text[max(start - 1, 0) : start], text[place : place + 1]
            start = None
        elif not char.isascii() and start is None:
            start = place
