"""What readers see who only list a table's prefix on an object store: copies of the newest version's files.

Mason itself reads the files where they were written, so that no commit takes them away from a reader. Others get
copies, made after the commit; then the former version's copies are deleted. In between they see both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor

from mason.pipeline.object_store import ObjectStore
from mason.pipeline.rejects import FOLDER as QUARANTINE
from mason.pipeline.table_commit import OWN_FOLDER, CommitRecord

_AT_ONCE = 16


def view_of(record: CommitRecord) -> Mapping[str, str]:
    """Return what others see of a version, and where each of it lies, as paths below the table's folder."""
    files = {each.path: each.home for each in record.files if each.home}
    return {**files, **record.beside}


def shown(store: ObjectStore, table: str) -> dict[str, int]:
    """Return what others see below a table's folder at this moment, with the sizes."""
    own, quarantine = f"{table}/{OWN_FOLDER}/", f"{table}/{QUARANTINE}/"
    return {
        each.path[len(table) + 1 :]: each.size
        for each in store.below(table)
        if not each.path.endswith("/") and (not each.path.startswith(own) or each.path.startswith(quarantine))
    }


def show(store: ObjectStore, table: str, record: CommitRecord, former: Iterable[CommitRecord]) -> None:
    """Make others see a version, whatever of it was done before; `former` are those that they may still see."""
    wanted, there = view_of(record), shown(store, table)
    sizes = {each.path: each.bytes for each in record.files}
    kept = f"{OWN_FOLDER}/kept/{record.id}"
    missing = {f"{table}/{name}": home for name, home in wanted.items() if there.get(name, -1) != sizes.get(name, -2)}
    strangers = [name for name in record.aside if name in there and name not in wanted]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        list(pool.map(lambda name: store.copy(f"{table}/{name}", f"{table}/{kept}/{name}"), strangers))
        list(pool.map(lambda item: store.copy(f"{table}/{item[1]}", item[0]), missing.items()))
    old = {name for each in former for name in view_of(each)} - set(wanted)
    store.delete(f"{table}/{name}" for name in [*sorted(old & set(there)), *strangers])
