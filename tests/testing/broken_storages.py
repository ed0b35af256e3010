"""Storage clients with one defect each, and the test of the suite that finds it."""

from __future__ import annotations

import pathlib
import shutil
from dataclasses import replace
from urllib.parse import unquote

import pyarrow as pa

from mason.clients.engines.role import unsupported, verb
from mason.clients.local.storage import LocalStorageClient
from mason.clients.response import Response
from mason.engines.metastore.models.schema import Schema
from mason.engines.storage.models.path import File, Path
from mason.errors import BadPath, NoData, NotFound, PathNotFound, UnreadableFile

Good = LocalStorageClient
FOUND_BY: dict[type[Good], str] = {}


def found_by(test: str):
    def mark(broken: type[Good]) -> type[Good]:
        FOUND_BY[broken] = test
        return broken

    return mark


class ChangesTheListing(Good):
    def list_files(self, path, *, response):
        files, response = super().list_files(path, response=response)
        return self.changed(path, files), response

    def changed(self, path, files):
        raise NotImplementedError


@found_by("test_list_files_is_sorted_by_path")
class ListsFolderByFolder(ChangesTheListing):
    def changed(self, path, files):
        return sorted(files, key=lambda each: (each.path.count("/"), each.path))


@found_by("test_list_files_leaves_none_out")
class ListsOnePage(ChangesTheListing):
    def changed(self, path, files):
        return files[:20]


@found_by("test_list_files_finds_them_at_any_depth")
class ListsOneLevel(ChangesTheListing):
    def changed(self, path, files):
        return [each for each in files if "/" not in each.path.removeprefix(f"{path.path}/")]


@found_by("test_list_files_knows_the_sizes")
class KnowsNoSizes(ChangesTheListing):
    def changed(self, path, files):
        return [replace(each, size=0) for each in files]


@found_by("test_list_files_knows_the_sizes")
class LeavesEmptyFilesOut(ChangesTheListing):
    def changed(self, path, files):
        return [each for each in files if each.size]


@found_by("test_list_files_leaves_hidden_ones_out")
class ListsHiddenFiles(ChangesTheListing):
    def changed(self, path, files):
        if pathlib.Path(path.path).is_file():
            return files
        found = [file for file in pathlib.Path(path.path).rglob("*") if file.is_file()]
        return sorted((File(str(file), file.stat().st_size) for file in found), key=lambda each: each.path)


@found_by("test_list_files_shows_none_of_a_neighbour_whose_name_begins_the_same")
class ListsByPrefix(Good):
    @verb
    def list_files(self, path, *, response):
        super().list_files(path, response=response)
        place = pathlib.Path(path.path)
        near = sorted(each for each in place.parent.iterdir() if each.name.startswith(place.name))
        one = super(type(self), self).list_files
        return [file for each in near for file in one(Path("file", str(each)), response=response)[0]]


@found_by("test_list_files_of_a_missing_path_raises_path_not_found")
class ListsNothingForAMissingPath(Good):
    def list_files(self, path, *, response):
        try:
            return super().list_files(path, response=response)
        except PathNotFound:
            return [], response


@found_by("test_list_files_of_a_missing_path_raises_path_not_found")
class RaisesAVagueError(Good):
    def list_files(self, path, *, response):
        try:
            return super().list_files(path, response=response)
        except PathNotFound as error:
            raise NotFound(str(error)) from error


@found_by("test_a_verb_gives_back_the_response_it_was_given[infer_table]")
class ForgetsTheResponse(Good):
    def infer_table(self, path, database, table, options, *, response):
        return super().infer_table(path, database, table, options, response=Response())


@found_by("test_a_verb_gives_back_the_response_it_was_given[delete]")
class ReturnsOnlyTheValue(Good):
    def delete(self, path, *, response):
        super().delete(path, response=response)


@found_by("test_path_does_not_touch_the_place")
class MakesTheFolderOfAPath(Good):
    def path(self, text):
        path = super().path(text)
        if not pathlib.Path(path.path).suffix:
            pathlib.Path(path.path).mkdir(parents=True, exist_ok=True)
        return path


@found_by("test_path_takes_an_odd_name_as_it_is[a%20b]")
class UnquotesPaths(Good):
    def path(self, text):
        return super().path(unquote(text))


@found_by("test_path_is_the_same_in_every_spelling")
class KeepsTheTrailingSlash(Good):
    def path(self, text):
        path = super().path(text)
        return replace(path, path=path.path + "/") if text.endswith("/") else path


@found_by("test_path_refuses_what_names_no_place[foreign]")
class TakesAnyScheme(Good):
    def path(self, text):
        return super().path(text.replace("://", ":/") if not text.startswith("file://") else text)


@found_by("test_path_refuses_what_names_no_place[empty]")
class RaisesValueErrors(Good):
    def path(self, text):
        try:
            return super().path(text)
        except BadPath as error:
            raise ValueError(text) from error


@found_by("test_path_has_one_of_the_schemes")
class MakesPathsOfAnotherScheme(Good):
    def path(self, text):
        return replace(super().path(text.replace("local://", "file://")), scheme="local")


@found_by("test_schemes_are_named")
class NamesNoSchemes(Good):
    schemes = ()


class ChangesTheTable(Good):
    def infer_table(self, path, database, table, options, *, response):
        found, response = super().infer_table(path, database, table, options, response=response)
        return self.changed(found), response

    def changed(self, table):
        raise NotImplementedError


@found_by("test_infer_table_makes_partition_keys_of_folders")
class TakesNoNoticeOfPartitions(ChangesTheTable):
    def changed(self, table):
        columns = [each for each in table.schema.columns if each.name not in table.partition_keys]
        return replace(table, partition_keys=(), schema=Schema(table.schema.schema_type, columns))


@found_by("test_infer_table_reports_what_files_disagree_on")
class ReportsNoConflicts(ChangesTheTable):
    def changed(self, table):
        return replace(table, conflicts=())


@found_by("test_infer_table_keeps_leading_zeros_as_text")
class TakesCodesForNumbers(ChangesTheTable):
    def changed(self, table):
        columns = [replace(each, type=pa.int64()) if each.name == "code" else each for each in table.schema.columns]
        return replace(table, schema=Schema(table.schema.schema_type, columns))


@found_by("test_infer_table_takes_the_schema_of_parquet_as_it_is")
class MakesEverythingNullable(ChangesTheTable):
    def changed(self, table):
        columns = [replace(each, nullable=True) for each in table.schema.columns]
        return replace(table, schema=Schema(table.schema.schema_type, columns))


@found_by("test_infer_table_of_a_folder_without_data_raises_no_data[_SUCCESS]")
class InfersATableOfNothing(Good):
    def infer_table(self, path, database, table, options, *, response):
        try:
            return super().infer_table(path, database, table, options, response=response)
        except NoData:
            return None, response


@found_by("test_infer_table_of_nothing_but_unreadable_files_raises_unreadable_file")
class TakesUnreadableFilesForNoData(Good):
    def infer_table(self, path, database, table, options, *, response):
        try:
            return super().infer_table(path, database, table, options, response=response)
        except UnreadableFile as error:
            raise NoData(str(error)) from error


@found_by("test_infer_table_reads_as_it_is_told_and_remembers_it")
class ForgetsHowItRead(Good):
    def infer_table(self, path, database, table, options, *, response):
        return super().infer_table(path, database, table, replace(options, delimiter=""), response=response)


@found_by("test_infer_table_writes_nothing")
class LeavesANoteInTheData(Good):
    def infer_table(self, path, database, table, options, *, response):
        found = super().infer_table(path, database, table, options, response=response)
        if pathlib.Path(path.path).is_dir():
            pathlib.Path(path.path, "_inferred").touch()
        return found


@found_by("test_delete_a_folder_keeps_one_whose_name_begins_the_same")
class DeletesByPrefix(Good):
    def delete(self, path, *, response):
        done = super().delete(path, response=response)
        place = pathlib.Path(path.path)
        for each in place.parent.iterdir():
            if each.name.startswith(place.name) and each.is_dir():
                shutil.rmtree(each)
        return done


@found_by("test_delete_of_a_missing_path_raises_path_not_found")
class DeletesWhatIsMissing(Good):
    def delete(self, path, *, response):
        try:
            return super().delete(path, response=response)
        except PathNotFound:
            return None, response


@found_by("test_delete_a_folder_takes_all_that_is_in_it")
class DeletesOnlyWhatItLists(Good):
    def delete(self, path, *, response):
        for file in self.list_files(path, response=response)[0]:
            pathlib.Path(file.path).unlink()
        return None, response


@found_by("test_delete_a_folder_takes_all_that_is_in_it")
class DoesWhatItDeclaresUnsupported(Good):
    def delete(self, path, *, response):
        return None, response

    delete.unsupported_because = "objects stay for ever"


class DeclaresWhatItLacks(Good):
    """Not broken: it lacks a verb and says so."""

    delete = unsupported("objects stay for ever")
