"""What a storage makes of the paths that users write."""

from __future__ import annotations

import pytest

from mason.clients.engines.storage import StorageClient
from mason.engines.storage.models.path import Path
from mason.errors import BadPath, PathNotFound
from mason.testing.contract import answer, fails_with, tests_verbs
from mason.testing.place import Place
from mason.testing.storage.fixtures import StorageFixtures


class PathTests(StorageFixtures):
    @tests_verbs("path")
    def test_path_has_one_of_the_schemes(self, client: StorageClient, base_path: str) -> None:
        path = client.path(base_path)

        assert isinstance(path, Path)
        assert path.scheme in client.schemes

    @tests_verbs("path")
    def test_path_is_the_same_in_every_spelling(self, client: StorageClient, base_path: str) -> None:
        path = client.path(f"{base_path}/orders/2020")

        assert client.path(f"{base_path}/orders/2020/") == path
        assert client.path(str(path)) == path
        assert client.path(f"{path.scheme}://{path.path}") == path

    @tests_verbs("path")
    def test_path_is_what_the_filesystem_calls_it(self, client: StorageClient, base_path: str, place: Place) -> None:
        place.write("orders/part.csv", b"id\n")

        assert client.filesystem().get_file_info(client.path(f"{base_path}/orders/part.csv").path).is_file

    @tests_verbs("path", "list_files")
    def test_path_does_not_touch_the_place(self, client: StorageClient, base_path: str, place: Place) -> None:
        path = client.path(f"{base_path}/orders")

        assert place.contents() == {}
        assert not client.filesystem().get_file_info(path.path).is_file
        with fails_with(PathNotFound):
            answer(client.list_files, path)

    @pytest.mark.parametrize("text", ["", "nosuchscheme://x/y", "with\0NUL"], ids=["empty", "foreign", "NUL"])
    @tests_verbs("path")
    def test_path_refuses_what_names_no_place(self, client: StorageClient, text: str) -> None:
        with fails_with(BadPath):
            client.path(text)
