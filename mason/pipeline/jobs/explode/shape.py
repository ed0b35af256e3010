"""What becomes of a nested schema: which flat tables there are, with which columns of which names.

It follows from the schema and the job's options alone, so that every task and the driver come to the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import pyarrow as pa

from mason.pipeline.formats.writers.table_writer import escape_for_folder
from mason.pipeline.types.evidence_json import decode_schema, encode_schema

ELEMENT = None
VALUE = "value"
_ID = "id"
_POSITION = "position"
_COUNT = "count"
_LONGEST_FOLDER = 200

Path: TypeAlias = tuple[str | None, ...]
"""Where something stands in a record: the names of fields; `ELEMENT` for whatever element of a list."""


@dataclass(frozen=True)
class Leaf:
    """A value that becomes a column as it is."""

    column: int


@dataclass(frozen=True)
class Fields:
    """A struct: each of its fields becomes something in the same table."""

    parts: Sequence[Part]


@dataclass(frozen=True)
class Elements:
    """A list (or a map): a column with its length, and a table with a row for each element."""

    count: int
    table: int


@dataclass(frozen=True)
class JsonText:
    """Text that holds JSON: what it holds is taken apart, and the column keeps the text that is none."""

    column: int
    type: pa.DataType
    inside: Part
    path: Path


Part: TypeAlias = Leaf | Fields | Elements | JsonText


@dataclass(frozen=True, kw_only=True)
class FlatTable:
    """A table that comes out: its key columns first, then those of its rows."""

    name: str
    folder: str
    schema: pa.Schema
    keys: Sequence[str]
    part: Part
    """What becomes of a record, or of an element of the list."""
    renamed: Mapping[str, str]
    """Columns that could not have the name that they should."""


@dataclass(frozen=True)
class Form:
    """How a table is taken apart, beyond its schema."""

    name: str
    separator: str = "_"
    columns: Sequence[str] = ()
    """The columns to be taken apart; all of them if none is named."""
    texts: Mapping[Path, pa.DataType] = field(default_factory=dict)
    """Text that holds JSON, and the type of what it holds."""

    def to_dict(self) -> dict[str, Any]:
        texts = [[list(path), encode_schema(pa.schema([("", kind)]))] for path, kind in self.texts.items()]
        return {"name": self.name, "separator": self.separator, "columns": list(self.columns), "texts": texts}

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> Form:
        texts = {tuple(path): decode_schema(kind).field(0).type for path, kind in value["texts"]}
        return cls(**{**value, "columns": tuple(value["columns"]), "texts": texts})


def flat_tables(schema: pa.Schema, form: Form) -> Sequence[FlatTable]:
    """Return the tables that a schema becomes; the first is that of the records themselves."""
    return _Drafting(form).tables(schema)


def describe_path(path: Path) -> str:
    """Return a path for people: `items[].tags`."""
    text = ""
    for name in path:
        text += "[]" if name is ELEMENT else f".{name}" if text else name
    return text


@dataclass(frozen=True)
class _Wanted:
    """A column that does not have its name yet. The lower its rank, the sooner it is asked."""

    name: str
    type: pa.DataType
    rank: int


@dataclass
class _Draft:
    """A table in the making. `lists` are the lists that it lies in, from the outermost, by their flat names."""

    name: str
    lists: Sequence[str]
    columns: list[_Wanted] = field(default_factory=list)
    part: Part = Leaf(0)

    def add(self, name: str, kind: pa.DataType, rank: int) -> int:
        self.columns.append(_Wanted(name, kind, rank))
        return len(self.columns) - 1


_OWN, _INNER, _COUNTED = range(3)
"""Fields that stand in the record itself come first, then those of structs, then what is made."""


class _Drafting:
    def __init__(self, form: Form) -> None:
        self._form = form
        self._drafts: list[_Draft] = []
        self._taken: set[str] = set()

    def tables(self, schema: pa.Schema) -> Sequence[FlatTable]:
        main = self._new(self._form.name, ())
        chosen = set(self._form.columns or schema.names)
        main.part = Fields(
            [
                self._part(main, each.type, (each.name,), [each.name])
                if each.name in chosen
                else Leaf(main.add(each.name, each.type, _OWN))
                for each in schema
            ]
        )
        names = [_Names(draft.columns, self._form.separator) for draft in self._drafts]
        keys = self._key_names(names)
        return [_flat(*each) for each in zip(self._drafts, names, keys, strict=True)]

    def _new(self, name: str, lists: Sequence[str]) -> _Draft:
        """Begin a table; of two that would have the same name, in a folder that minds no case, one gets a number."""
        free, number = name, 1
        while folder_name(free).casefold() in self._taken:
            number += 1
            free = f"{name}{self._form.separator}{number}"
        self._taken.add(folder_name(free).casefold())
        self._drafts.append(_Draft(free, lists))
        return self._drafts[-1]

    def _part(self, draft: _Draft, kind: pa.DataType, path: Path, names: Sequence[str]) -> Part:
        """`names` are those of the fields from the table's own rows to here."""
        name = self._form.separator.join(names)
        rank = _OWN if len(names) == 1 else _INNER
        if pa.types.is_struct(kind):
            return Fields([self._part(draft, each.type, (*path, each.name), [*names, each.name]) for each in kind])
        if pa.types.is_list(kind) or pa.types.is_map(kind):
            count = draft.add(f"{name}{self._form.separator}{_COUNT}", pa.int32(), _COUNTED)
            return Elements(count, self._child(draft, kind, path, name))
        column = draft.add(name, kind, rank)
        if path in self._form.texts:
            held = self._form.texts[path]
            return JsonText(column, held, self._part(draft, held, path, names), path)
        return Leaf(column)

    def _child(self, draft: _Draft, kind: pa.DataType, path: Path, name: str) -> int:
        lists = [*draft.lists, self._form.separator.join([*draft.lists[-1:], name])]
        child = self._new(f"{draft.name}{self._form.separator}{name}", lists)
        number = len(self._drafts) - 1
        element = entries_type(kind).value_type
        inside = (*path, ELEMENT)
        if pa.types.is_struct(element):
            child.part = Fields([self._part(child, each.type, (*inside, each.name), [each.name]) for each in element])
        else:
            child.part = self._part(child, element, inside, [VALUE])
        return number

    def _key_names(self, names: Sequence[_Names]) -> Sequence[Sequence[str]]:
        """A key is called the same in all tables; a table that no list comes from needs none."""
        if len(self._drafts) == 1:
            return [[]]
        separator = self._form.separator
        own = _free(f"{self._form.name}{separator}{_ID}", separator, [name for each in names for name in each.given])
        keys = []
        for draft, given in zip(self._drafts, names, strict=True):
            above = [f"{each}{separator}{_POSITION}" for each in draft.lists[:-1]]
            wanted = [*above, _POSITION] if draft.lists else []
            found = [own]
            for name in wanted:
                found.append(_free(name, separator, [*given.given, *found]))
            keys.append(found)
        return keys


class _Names:
    """The names that the columns of a table get."""

    def __init__(self, columns: Sequence[_Wanted], separator: str) -> None:
        self.given = [""] * len(columns)
        self.renamed: dict[str, str] = {}
        taken: set[str] = set()
        for number in sorted(range(len(columns)), key=lambda each: columns[each].rank):
            wanted = columns[number].name
            name = _free(wanted, separator, taken)
            taken.add(name.casefold())
            self.given[number] = name
            if name != wanted:
                self.renamed[name] = wanted


def _free(wanted: str, separator: str, taken: Collection[str]) -> str:
    """Return the name, with a number if another column has it or one that differs only in case."""
    others = taken if isinstance(taken, set) else {each.casefold() for each in taken}
    name, number = wanted, 1
    while name.casefold() in others:
        number += 1
        name = f"{wanted}{separator}{number}"
    return name


def _flat(draft: _Draft, names: _Names, keys: Sequence[str]) -> FlatTable:
    key_types = [pa.int64(), *[pa.int32()] * (len(keys) - 1)] if keys else []
    columns = [pa.field(name, each.type) for name, each in zip(names.given, draft.columns, strict=True)]
    schema = pa.schema([*map(pa.field, keys, key_types), *columns])
    return FlatTable(
        name=draft.name,
        folder=folder_name(draft.name),
        schema=schema,
        keys=keys,
        part=draft.part,
        renamed=names.renamed,
    )


def entries_type(kind: pa.DataType) -> pa.DataType:
    """Return the list that a map is: of its keys and values."""
    if pa.types.is_map(kind):
        return pa.list_(pa.struct([("key", kind.key_type), (VALUE, kind.item_type)]))
    return kind


def folder_name(table: str) -> str:
    """Return the folder of a table: its name, escaped where a file system or a reader would take it for another.

    A name that begins with a dot or an underscore would be hidden; one with `=` in it would be a partition.
    """
    name = escape_for_folder(table)
    if name.startswith((".", "_")):
        name = f"%{ord(name[0]):02X}{name[1:]}"
    content = name.encode()
    if len(content) <= _LONGEST_FOLDER:
        return name
    digest = hashlib.sha256(table.encode()).hexdigest()[:16]
    return content[: _LONGEST_FOLDER - len(digest) - 1].decode(errors="ignore") + "~" + digest
