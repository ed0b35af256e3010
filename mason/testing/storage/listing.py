"""What a storage lists, and what it makes of the paths that users write."""

from __future__ import annotations

import pytest

from mason.clients.engines.storage import StorageClient
from mason.engines.storage.models.path import File, Path
from mason.errors import BadPath, PathNotFound
from mason.testing.contract import answer, fails_with, tests_verbs
from mason.testing.place import Place
from mason.testing.storage.verbs import StorageFixtures


class ListingTests(StorageFixtures):
    @tests_verbs("list_files")
    def test_list_files_finds_them_at_any_depth(self, client: StorageClient, place: Place) -> None:
        for name in ("in/a.csv", "in/2020/b.csv", "in/2020/01/c.csv"):
            place.write(name, b"id\n")

        assert _names(client, place, "in") == ["in/2020/01/c.csv", "in/2020/b.csv", "in/a.csv"]

    @tests_verbs("list_files")
    def test_list_files_is_sorted_by_path(self, client: StorageClient, place: Place) -> None:
        names = ["in/a-1.csv", "in/a.csv", "in/a/b.csv", "in/a1.csv", "in/b/a.csv", "in/c.csv"]
        for name in reversed(names):
            place.write(name, b"id\n")

        assert _names(client, place, "in") == names

    @tests_verbs("list_files")
    def test_list_files_leaves_none_out(self, client: StorageClient, place: Place) -> None:
        names = [f"in/part_{number:02}.csv" for number in range(50)]
        for name in names:
            place.write(name, b"id\n")

        assert _names(client, place, "in") == names

    @tests_verbs("list_files")
    def test_list_files_knows_the_sizes(self, client: StorageClient, place: Place) -> None:
        place.write("in/a.csv", b"id\n")
        place.write("in/b.csv", b"id\n" + b"1\n" * 5000)
        place.write("in/empty.csv")

        files = answer(client.list_files, place.below("in"))

        assert all(isinstance(each, File) for each in files)
        assert [each.size for each in files] == [3, 10_003, 0]

    @tests_verbs("list_files")
    def test_list_files_leaves_hidden_ones_out(self, client: StorageClient, place: Place) -> None:
        for name in ("_SUCCESS", ".a.csv.crc", "_mason/a.csv", ".staging/a.csv", "2020/.b.csv", "2020/_tmp/b.csv"):
            place.write(f"in/{name}", b"id\n")
        place.write("in/2020/b.csv", b"id\n")

        assert _names(client, place, "in") == ["in/2020/b.csv"]

    @tests_verbs("list_files")
    def test_list_files_of_a_folder_without_data_files_is_empty(self, client: StorageClient, place: Place) -> None:
        place.write("in/_SUCCESS")

        assert _names(client, place, "in") == []

    @tests_verbs("list_files")
    def test_list_files_of_a_file_is_that_file(self, client: StorageClient, place: Place) -> None:
        place.write("in/a.csv", b"id\n1\n")
        place.write("in/a.csv.gz", b"")

        [found] = answer(client.list_files, place.below("in/a.csv"))

        assert (found.path, found.size) == (place.below("in/a.csv").path, 5)

    @tests_verbs("list_files")
    def test_list_files_shows_none_of_a_neighbour_whose_name_begins_the_same(
        self, client: StorageClient, place: Place
    ) -> None:
        for name in ("in/a.csv", "in_2/b.csv", "in.csv"):
            place.write(name, b"id\n")

        assert _names(client, place, "in") == ["in/a.csv"]

    @tests_verbs("list_files")
    def test_list_files_of_a_missing_path_raises_path_not_found(self, client: StorageClient, place: Place) -> None:
        place.write("input/a.csv", b"id\n")

        with fails_with(PathNotFound):
            answer(client.list_files, place.below("in"))


def _names(client: StorageClient, place: Place, folder: str) -> list[str]:
    path: Path = place.below(folder)
    return [each.path.removeprefix(f"{place.path.path}/") for each in answer(client.list_files, path)]


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
