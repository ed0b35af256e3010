"""What cuts lines into columns where no usual delimiter does, and lines that underline a header."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain, islice, pairwise

_LINES = 200
_LEAST_LINES = 3
_READ = "@#&*%$!"
"""Taken for delimiters where they cut a header into three names or more; others are but told."""
_TOLD = _READ + "/-+=_.\\"
_LIKELY = ";\t|^~"
_TWO = 2
_AROUND = "~^|#@*! "
_RULE = re.compile(r"[-=_]{2,}")
_WORDS_APART = re.compile(r"\S {2,}\S")
_PAGE = re.compile(r"\s*<(?:!doctype|html|\?xml)\b", re.IGNORECASE)
_LINE_ENDS = "\x1e\x0b\x0c\x85\u2028\u2029"
_QUOTED = re.compile(r'"(?:[^"]|"")*+"')


def find_unusual_delimiter(text: str, found: str, *, final: bool) -> str:
    """Return a delimiter of one rare character, or one around which the same character always stands: `~|~`, ` | `.

    `found` is the one that was found so far; if it is the right one, nothing is returned.
    """
    first = text.partition("\n")[0]
    if found in first:
        around = [each for each in _AROUND if each not in found and f"{each}{found}{each}" in first]
        if not around or first.startswith(around[0]) or first.endswith(around[0]):
            return ""
        wide = f"{around[0]}{found}{around[0]}"
        lines = _lines(_QUOTED.sub("", text), final=final)
        return wide if len(lines) > 1 and all(line.count(wide) == line.count(found) > 0 for line in lines) else ""
    lines = _lines(text, final=final)
    return next((each for each in _READ if _cuts(lines, each) and first.count(each) > 1), "")


def doubt_one_column(text: str, *, final: bool) -> list[str]:
    """What is said of lines that are read as one column, and seem to have more."""
    lines = _lines(text, final=final)
    others = (each for each in dict.fromkeys(lines[0] if lines else "") if not (each.isascii() or each.isalnum()))
    found = next((each for each in chain(_TOLD, others) if not each.isspace() and _cuts(lines, each)), "")
    if found:
        return [f'each of its lines has as many "{found}" as the first; delimiter:"{found}" reads them as columns']
    if cut := _cuts_first(lines):
        shown = {"\t": "tab"}.get(cut, cut)
        return [f'its first line has {lines[0].count(cut)} "{shown}", others have not; delimiter:"{shown}" cuts it']
    if widths := _find_widths(lines):
        counts_text = ",".join(map(str, widths))
        return [f'its lines seem to have fields of fixed width; widths:"{counts_text}" reads them as columns']
    return []


def doubt_lines(text: str) -> list[str]:
    """What is said of a text that is no table, or whose records end with something else than lines do."""
    if _PAGE.match(text):
        return ["it begins as a page of the web or XML does, and its lines are read as records"]
    if 0 <= text.find("\n") < len(text) - 1:
        return []
    ends = next((each for each in _LINE_ENDS if text.count(each) > 1), "")
    code = f"U+{ord(ends):04X}" if ends else ""
    return [f"all of it is one line, in which {code} stands as if it ended lines; mend the file if so"] if ends else []


def find_rule(text: str, delimiter: str) -> str:
    """Return the second line if it but underlines the header, as command lines of databases print it."""
    lines = text.split("\n", 3)
    if len(lines) < _LEAST_LINES or lines[1][:2] not in ("--", "==", "__"):
        return ""
    cells = [cell.strip() for cell in lines[1].split(delimiter)]
    is_rule = len(cells) > 1 and len(lines[0].split(delimiter)) == len(cells) and all(map(_RULE.fullmatch, cells))
    return lines[1] if is_rule and not _RULE.match(lines[0]) else ""


def _lines(text: str, *, final: bool) -> Sequence[str]:
    lines = [line for line in text.split("\n", _LINES)[:_LINES] if line]
    is_whole = final or text.endswith("\n") or len(lines) < 2
    return lines if is_whole else lines[:-1]  # the last may be cut off


def _cuts(lines: Sequence[str], delimiter: str) -> bool:
    """Say whether a delimiter stands as often in all lines, and cuts the first into names."""
    if len(lines) < _LEAST_LINES or delimiter not in lines[0]:
        return False
    names = [each.strip() for each in lines[0].split(delimiter)]
    if len(set(names)) < len(names) or not all(_is_word(name) for name in names):
        return False
    return all(line.count(delimiter) == len(names) - 1 for line in lines)


def _cuts_first(lines: Sequence[str]) -> str:
    """A usual delimiter, or a rare one, that cuts the first line into three names or more."""
    first = lines[0] if lines else ""
    for each in _LIKELY:
        names = [name.strip(" \"'") for name in first.split(each)]
        if len(names) > _TWO and len(set(names)) == len(names) and all(map(_is_word, filter(None, names))):
            return each
    return ""


def _is_word(name: str) -> bool:
    return bool(name) and name[0].isalpha() and not any(map(str.isdigit, name))


def _find_widths(lines: Sequence[str]) -> Sequence[int]:
    """The widths of columns that begin below the words of the first line, with a blank before each in all lines."""
    if len(lines) < _LEAST_LINES or not _WORDS_APART.search(lines[0]) or "\t" in lines[0]:
        return []
    length = max(map(len, lines))
    blank = [all(line[place : place + 1] in ("", " ") for line in lines) for place in range(min(length, 10_000))]
    starts = [0, *(n + 1 for n, (one, other) in enumerate(pairwise(blank)) if one and not other)]
    are_names = all(lines[0][start : start + 1].strip() for start in islice(starts, 1, None))
    return [*_steps(starts), length - starts[-1]] if len(starts) > 1 and are_names else []


def _steps(starts: Sequence[int]) -> Iterator[int]:
    return (other - one for one, other in pairwise(starts))
