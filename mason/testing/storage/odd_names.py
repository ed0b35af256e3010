"""What a storage does with names that are legal, and odd: it takes each as it is written."""

from __future__ import annotations

import pytest

from mason.clients.engines.storage import StorageClient
from mason.engines.storage.models.infer_options import InferOptions
from mason.testing.contract import answer, tests_verbs
from mason.testing.place import Place
from mason.testing.storage.verbs import StorageFixtures

ODD_NAMES = (
    "two words",
    "100%",
    "a%20b",
    "a+b",
    "größe",
    "数量",
    "it's",
    'say "so"',
    "a#b",
    "a?b",
    "a&b",
    "a,b",
    "[a]",
    "a*",
    "~a",
)


class OddNameTests(StorageFixtures):
    @pytest.fixture(params=ODD_NAMES)
    def name(self, request: pytest.FixtureRequest) -> str:
        """An odd name, of a folder and of a file in it."""
        odd: str = request.param
        return f"{odd}/{odd}.csv"

    @tests_verbs("path")
    def test_path_takes_an_odd_name_as_it_is(
        self, client: StorageClient, base_path: str, place: Place, name: str
    ) -> None:
        path = client.path(f"{base_path}/{name}")

        assert path == place.below(name)
        assert client.path(str(path)) == path

    @tests_verbs("list_files")
    def test_list_files_of_an_odd_name(self, client: StorageClient, place: Place, name: str) -> None:
        written = place.write(name, b"id\n1\n")

        for path in (written, place.below(name.partition("/")[0])):
            assert [each.path for each in answer(client.list_files, path)] == [written.path]

    @tests_verbs("infer_table")
    def test_infer_table_of_an_odd_name(self, client: StorageClient, place: Place, name: str) -> None:
        written = place.write(name, b"id\n1\n")

        table = answer(client.infer_table, written, "sales", "orders", InferOptions())

        assert [each.name for each in table.schema.columns] == ["id"]
        assert table.path == str(written)

    @tests_verbs("delete")
    def test_delete_of_an_odd_name(self, client: StorageClient, place: Place, name: str) -> None:
        place.write(name, b"id\n1\n")
        place.write("other.csv", b"id\n1\n")

        answer(client.delete, place.below(name))

        assert sorted(place.contents()) == ["other.csv"]
