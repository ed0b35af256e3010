"""What a storage deletes: what was named, and nothing else."""

from __future__ import annotations

from mason.clients.engines.storage import StorageClient
from mason.errors import PathNotFound
from mason.testing.contract import answer, fails_with, tests_verbs
from mason.testing.place import Place
from mason.testing.storage.verbs import StorageFixtures


class DeletionTests(StorageFixtures):
    @tests_verbs("delete")
    def test_delete_a_file_keeps_its_neighbours(self, client: StorageClient, place: Place) -> None:
        for name in ("in/a.csv", "in/a.csv.gz", "in/b.csv", "in/a/c.csv"):
            place.write(name, b"id\n")

        assert answer(client.delete, place.below("in/a.csv")) is None

        assert sorted(place.contents()) == ["in/a.csv.gz", "in/a/c.csv", "in/b.csv"]

    @tests_verbs("delete")
    def test_delete_a_folder_takes_all_that_is_in_it(self, client: StorageClient, place: Place) -> None:
        for name in ("in/a.csv", "in/2020/01/b.csv", "in/_mason/c.json", "in/.hidden", "other/a.csv"):
            place.write(name, b"id\n")

        answer(client.delete, place.below("in"))

        assert sorted(place.contents()) == ["other/a.csv"]
        assert not place.filesystem.get_file_info(place.below("in").path).is_file

    @tests_verbs("delete")
    def test_delete_a_folder_of_many_files_leaves_none(self, client: StorageClient, place: Place) -> None:
        for number in range(50):
            place.write(f"in/part_{number:02}.csv", b"id\n")

        answer(client.delete, place.below("in"))

        assert place.contents() == {}

    @tests_verbs("delete")
    def test_delete_a_folder_keeps_one_whose_name_begins_the_same(self, client: StorageClient, place: Place) -> None:
        for name in ("in/a.csv", "in_2/a.csv", "in.csv", "input/a.csv"):
            place.write(name, b"id\n")

        answer(client.delete, place.below("in"))

        assert sorted(place.contents()) == ["in.csv", "in_2/a.csv", "input/a.csv"]

    @tests_verbs("delete", "list_files")
    def test_delete_makes_the_path_not_found(self, client: StorageClient, place: Place) -> None:
        place.write("in/a.csv", b"id\n")
        place.write("other/a.csv", b"id\n")

        answer(client.delete, place.below("in"))

        with fails_with(PathNotFound):
            answer(client.list_files, place.below("in"))

    @tests_verbs("delete")
    def test_delete_of_a_missing_path_raises_path_not_found(self, client: StorageClient, place: Place) -> None:
        place.write("input/a.csv", b"id\n")

        with fails_with(PathNotFound):
            answer(client.delete, place.below("in"))

        assert sorted(place.contents()) == ["input/a.csv"]
