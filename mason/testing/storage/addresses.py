"""What jobs need of a storage: that any machine opens it by its address, and that it can do what it declares."""

from __future__ import annotations

from pathlib import Path as LocalPath

import pyarrow.fs as pafs

from mason.clients.engines.storage import StorageClient
from mason.errors import Unsupported
from mason.pipeline.storage.abilities import Abilities
from mason.pipeline.storage.address import abilities_of, open_filesystem, open_objects, scheme_in
from mason.testing.place import Place
from mason.testing.storage.verbs import StorageFixtures


class AddressTests(StorageFixtures):
    """Of a client without an address, `Unsupported` is all that is asked: it may be read by its own verbs alone."""

    def test_address_opens_the_same_files(self, client: StorageClient, place: Place) -> None:
        address = _address_of(client)
        if not address:
            return
        place.write("in/a.csv", b"id\n1\n")

        with open_filesystem(address).open_input_stream(place.below("in/a.csv").path) as stream:
            content = stream.read()

        assert content == b"id\n1\n"
        assert scheme_in(address) in client.schemes

    def test_of_two_who_write_a_new_object_one_wins(self, client: StorageClient, place: Place) -> None:
        if not _abilities_of(client).has_conditions:
            return
        objects, path = open_objects(client.address()), place.below("records/1.json").path

        first, second = objects.write_new(path, b"first"), objects.write_new(path, b"second")

        assert objects.keeps_conditions(place.below("records").path)
        assert first and second is None
        assert objects.read(path) == (b"first", first)

    def test_an_object_is_rewritten_only_by_who_has_read_it_last(self, client: StorageClient, place: Place) -> None:
        if not _abilities_of(client).has_conditions:
            return
        objects, path = open_objects(client.address()), place.below("records/1.json").path
        first = objects.write_new(path, b"first")
        assert first

        second = objects.rewrite(path, b"second", first)
        third = objects.rewrite(path, b"third", first)

        assert second and second != first and third is None
        assert objects.read(path) == (b"second", second)

    def test_folders_are_made_and_may_be_empty(self, client: StorageClient, place: Place) -> None:
        if not _abilities_of(client).has_folders:
            return
        filesystem, path = open_filesystem(client.address()), place.below("empty").path

        filesystem.create_dir(path)

        assert filesystem.get_file_info(path).type == pafs.FileType.Directory

    def test_a_file_takes_the_place_of_another_when_it_is_renamed(self, client: StorageClient, place: Place) -> None:
        if not _abilities_of(client).creates_and_renames:
            return
        old, new = place.write("in/a.json", b"old"), place.write("in/a.json.part", b"new")

        open_filesystem(client.address()).move(new.path, old.path)

        assert place.contents() == {"in/a.json": b"new"}

    def test_files_are_opened_by_their_paths(self, client: StorageClient, place: Place) -> None:
        if not _abilities_of(client).opens_paths:
            return
        path = place.write("in/a.csv", b"id\n")

        assert LocalPath(path.path).read_bytes() == b"id\n"


def _address_of(client: StorageClient) -> str:
    try:
        return client.address()
    except Unsupported:
        return ""


def _abilities_of(client: StorageClient) -> Abilities:
    """Return what the client declares; nothing of a storage that jobs do not reach."""
    address = _address_of(client)
    return abilities_of(address) if address else Abilities(has_conditions=False)
