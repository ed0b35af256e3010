"""What the tests of a storage start from, what every verb does alike, and the file system beneath."""

from __future__ import annotations

import pyarrow.fs
import pytest

from mason.clients.engines.storage import StorageClient
from mason.engines.storage.models.infer_options import InferOptions
from mason.testing.contract import check_answer, is_refused, tests_verbs
from mason.testing.place import Place


class StorageFixtures:
    """The fixtures of the suite; a subclass has `client` and `base_path`."""

    @pytest.fixture
    def client(self) -> StorageClient:
        raise NotImplementedError("A suite is given its client by a fixture `client` in the subclass.")

    @pytest.fixture
    def base_path(self) -> str:
        raise NotImplementedError("A suite is told where to write by a fixture `base_path` in the subclass.")

    @pytest.fixture
    def place(self, client: StorageClient, base_path: str) -> Place:
        """The place that `base_path` names."""
        return Place(client.filesystem(), client.path(base_path))


class VerbTests(StorageFixtures):
    @pytest.mark.parametrize("verb", ["list_files", "infer_table", "delete"])
    def test_a_verb_gives_back_the_response_it_was_given(self, client: StorageClient, verb: str, place: Place) -> None:
        if is_refused(client, verb):
            return
        path = place.write("orders/part.csv", b"id\n1\n")
        arguments = {"infer_table": (path, "sales", "orders", InferOptions())}

        check_answer(getattr(client, verb), *arguments.get(verb, (path,)))

    def test_check_finds_nothing_wrong_with_a_client_that_works(self, client: StorageClient) -> None:
        assert client.check() == []

    def test_schemes_are_named(self, client: StorageClient) -> None:
        assert client.schemes
        assert not isinstance(client.schemes, str)
        assert all(scheme and ":" not in scheme for scheme in client.schemes)

    @tests_verbs("filesystem")
    def test_filesystem_reads_back_what_it_wrote(self, client: StorageClient, place: Place) -> None:
        content = bytes(range(256)) * 100
        place.write("deep/er/bytes.bin", content)

        assert isinstance(client.filesystem(), pyarrow.fs.FileSystem)
        assert place.contents() == {"deep/er/bytes.bin": content}
