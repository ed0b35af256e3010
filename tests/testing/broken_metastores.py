"""Metastore clients with one defect each, and the test of the suite that finds it."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from mason.clients.engines.role import unsupported, verb
from mason.clients.local.metastore import LocalMetastoreClient
from mason.clients.response import Response
from mason.engines.metastore.models.schema import Column, Schema
from mason.engines.metastore.models.table import Table
from mason.engines.storage.models.infer_options import InferOptions
from mason.errors import AlreadyExists, BadInput, MasonError, NotEmpty, NotFound, TableNotFound, Unsupported

Good = LocalMetastoreClient
FOUND_BY: dict[type[Good], str] = {}


def found_by(test: str):
    def mark(broken: type[Good]) -> type[Good]:
        FOUND_BY[broken] = test
        return broken

    return mark


@found_by("test_list_tables_is_sorted_by_name")
class ListsTablesUnsorted(Good):
    def list_tables(self, database, *, response):
        tables, response = super().list_tables(database, response=response)
        return tables[::-1], response


@found_by("test_list_tables_leaves_none_out")
class ListsOnePageOfTables(Good):
    def list_tables(self, database, *, response):
        tables, response = super().list_tables(database, response=response)
        return tables[:20], response


@found_by("test_list_tables_shows_no_table_of_another_database")
class ListsTablesByPrefixOfTheDatabase(Good):
    @verb
    def list_tables(self, database, *, response):
        super().list_tables(database, response=response)
        names = [each.name for each in self.list_databases(response=response)[0] if each.name.startswith(database)]
        return [table for name in names for table in super(type(self), self).list_tables(name, response=response)[0]]


@found_by("test_list_databases_is_sorted_by_name")
class ListsDatabasesUnsorted(Good):
    def list_databases(self, *, response):
        databases, response = super().list_databases(response=response)
        return databases[::-1], response


@found_by("test_list_databases_leaves_none_out")
class ListsOnePageOfDatabases(Good):
    def list_databases(self, *, response):
        databases, response = super().list_databases(response=response)
        return databases[:20], response


@found_by("test_a_verb_gives_back_the_response_it_was_given[get_table]")
class ForgetsTheResponse(Good):
    def get_table(self, database, table, *, response):
        return super().get_table(database, table, response=response)[0], Response()


@found_by("test_a_verb_gives_back_the_response_it_was_given[delete_table]")
class ReturnsOnlyTheValue(Good):
    def delete_table(self, database, table, *, response):
        super().delete_table(database, table, response=response)


@found_by("test_a_verb_gives_back_the_response_it_was_given[list_tables]")
class ReportsAnErrorAndGoesOn(Good):
    def list_tables(self, database, *, response):
        response.add_error("Something went wrong.")
        return super().list_tables(database, response=response)


@found_by("test_get_table_that_is_missing_raises_table_not_found")
class SwallowsTableNotFound(Good):
    def get_table(self, database, table, *, response):
        try:
            return super().get_table(database, table, response=response)
        except TableNotFound:
            return None, response


@found_by("test_get_table_of_a_missing_database_raises_database_not_found")
class RaisesAVagueError(Good):
    def get_table(self, database, table, *, response):
        try:
            return super().get_table(database, table, response=response)
        except NotFound as error:
            raise NotFound(str(error)) from error


@found_by("test_list_tables_of_a_missing_database_raises_database_not_found")
class ListsNothingForAMissingDatabase(Good):
    def list_tables(self, database, *, response):
        try:
            return super().list_tables(database, response=response)
        except NotFound:
            return [], response


@found_by("test_has_table_says_whether_the_database_has_it")
class HasEveryTable(Good):
    def has_table(self, database, table, *, response):
        self.get_database(database, response=response)
        return True


class ChangesWhatIsSaved(Good):
    def save_table(self, table, *, response):
        columns = [self.changed(each) for each in table.schema.columns]
        return super().save_table(replace(table, schema=Schema(table.schema.schema_type, columns)), response=response)

    def changed(self, column: Column) -> Column:
        raise NotImplementedError


@found_by("test_save_table_keeps_what_must_not_be_null")
class LosesNullability(ChangesWhatIsSaved):
    def changed(self, column):
        return replace(column, nullable=True)


@found_by("test_save_table_keeps_the_type[decimal(5,2)]")
class LosesPrecision(ChangesWhatIsSaved):
    def changed(self, column):
        return replace(column, type=pa.decimal128(38, 10)) if pa.types.is_decimal(column.type) else column


@found_by("test_save_table_keeps_the_type[UTC timestamp]")
class LosesTheZone(ChangesWhatIsSaved):
    def changed(self, column):
        return replace(column, type=pa.timestamp("us")) if pa.types.is_timestamp(column.type) else column


@found_by("test_save_table_keeps_the_type[uint64]")
class HasNoUnsignedIntegers(ChangesWhatIsSaved):
    def changed(self, column):
        return replace(column, type=pa.int64()) if pa.types.is_unsigned_integer(column.type) else column


@found_by("test_save_table_keeps_the_column_name[a.b]")
class WritesColumnNamesAsDdl(ChangesWhatIsSaved):
    def changed(self, column):
        return replace(column, name=column.name.replace("`", "").replace(".", "_"))


@found_by("test_save_table_keeps_the_order_of_columns")
class SortsColumns(Good):
    def save_table(self, table, *, response):
        columns = sorted(table.schema.columns, key=lambda each: each.name)
        return super().save_table(replace(table, schema=Schema(table.schema.schema_type, columns)), response=response)


@found_by("test_save_table_keeps_the_table_name[a%20b]")
class UnquotesTableNames(Good):
    def save_table(self, table, *, response):
        return super().save_table(replace(table, name=table.name.replace("%20", " ")), response=response)


@found_by("test_save_table_keeps_the_path[trailing slash]")
class DropsTheTrailingSlash(Good):
    def get_table(self, database, table, *, response):
        found, response = super().get_table(database, table, response=response)
        return replace(found, path=found.path.rstrip("/")), response


@found_by("test_save_table_keeps_the_partition_keys")
class ForgetsPartitionKeys(Good):
    def save_table(self, table, *, response):
        return super().save_table(replace(table, partition_keys=()), response=response)


@found_by("test_save_table_keeps_how_its_files_are_read")
class ForgetsReadOptions(Good):
    def save_table(self, table, *, response):
        return super().save_table(replace(table, read_options=InferOptions()), response=response)


@found_by("test_save_table_does_not_touch_the_data")
class WritesIntoTheData(Good):
    @verb
    def save_table(self, table, *, response):
        if table.path.startswith(str(self.root)):
            path = self._storage.path(table.path)
            with self._storage.filesystem().open_output_stream(f"{path.path}/_schema") as stream:
                stream.write(b"{}")
        return super().save_table(table, response=response)[0]


@found_by("test_save_table_replaces_what_was_known")
class KeepsWhatWasSavedFirst(Good):
    def save_table(self, table, *, response):
        if self.has_table(table.database_name, table.name, response=response):
            return self.get_table(table.database_name, table.name, response=response)
        return super().save_table(table, response=response)


@found_by("test_save_table_refuses_a_name_that_leaves[out]")
class SavesUnderAnyName(Good):
    def save_table(self, table, *, response):
        try:
            return super().save_table(table, response=response)
        except BadInput:
            return super().save_table(replace(table, name="escaped"), response=response)


@found_by("test_a_table_name_that_leaves_is_refused[empty-delete_table]")
class FollowsNamesOut(Good):
    def delete_table(self, database, table, *, response):
        place = (self.root / database / table.replace("\0", "")).resolve()
        return super().delete_table(place.parent.name, place.name, response=response)


@found_by("test_create_database_refuses_a_name_that_leaves[absolute]")
class CreatesDatabasesAnywhere(Good):
    def create_database(self, database, *, response):
        return super().create_database(database.strip("./\0") or "root", response=response)


@found_by("test_create_database_refuses_a_name_that_it_would_not_list[two words]")
class CreatesDatabasesUnderAnotherName(Good):
    def create_database(self, database, *, response):
        return super().create_database(database.replace(" ", "_"), response=response)


@found_by("test_delete_table_keeps_one_whose_name_begins_the_same")
class DeletesByPrefix(Good):
    def delete_table(self, database, table, *, response):
        done = super().delete_table(database, table, response=response)
        for each in self.list_tables(database, response=response)[0]:
            if each.name.startswith(table):
                super().delete_table(database, each.name, response=response)
        return done


@found_by("test_delete_table_that_is_missing_raises_table_not_found")
class DeletesWhatIsMissing(Good):
    def delete_table(self, database, table, *, response):
        try:
            return super().delete_table(database, table, response=response)
        except TableNotFound:
            return None, response


@found_by("test_delete_table_makes_it_neither_listed_nor_found")
class DeletesOnlyInWords(Good):
    def delete_table(self, database, table, *, response):
        self.get_table(database, table, response=response)
        return None, response


@found_by("test_delete_database_with_tables_raises_not_empty_and_keeps_them")
class DeletesDatabasesWithTheirTables(Good):
    def delete_database(self, database, *, response):
        try:
            return super().delete_database(database, response=response)
        except NotEmpty:
            return None, response


@found_by("test_create_database_that_exists_raises_already_exists_and_keeps_its_tables")
class CreatesDatabasesTwice(Good):
    def create_database(self, database, *, response):
        try:
            return super().create_database(database, response=response)
        except AlreadyExists:
            return self.get_database(database, response=response)


@found_by("test_list_partitions_is_sorted_by_values")
class ListsPartitionsUnsorted(Good):
    def list_partitions(self, database, table, *, response):
        partitions, response = super().list_partitions(database, table, response=response)
        return partitions[::-1], response


@found_by("test_list_partitions_gives_none_for_a_null_value")
class GivesNullPartitionsAName(Good):
    def list_partitions(self, database, table, *, response):
        partitions, response = super().list_partitions(database, table, response=response)
        named = [{key: value or "null" for key, value in each.values.items()} for each in partitions]
        return [replace(each, values=values) for each, values in zip(partitions, named, strict=True)], response


def _declared(plain, reason: str):
    plain.unsupported_because = reason
    return plain


@found_by("test_delete_table_makes_it_neither_listed_nor_found")
class DoesWhatItDeclaresUnsupported(Good):
    def delete_table(self, database, table, *, response):
        return None, response

    delete_table = _declared(delete_table, "there is no such call")


@found_by("test_list_partitions_is_sorted_by_values")
class RefusesForAnotherReason(Good):
    def list_partitions(self, database, table, *, response):
        raise Unsupported("not today")

    list_partitions = _declared(list_partitions, "there are no partitions")


@found_by("test_delete_database_makes_it_neither_listed_nor_found")
class RefusesWithAnotherClass(Good):
    def delete_database(self, database, *, response):
        raise MasonError("databases stay")

    delete_database = _declared(delete_database, "databases stay")


@found_by("test_save_table_keeps_the_type[struct]")
class RefusesWithoutDeclaringIt(Good):
    def save_table(self, table: Table, *, response):
        if pa.types.is_nested(table.schema.columns[0].type):
            raise Unsupported("nested types cannot be kept")
        return super().save_table(table, response=response)


class DeclaresWhatItLacks(Good):
    """Not broken: it lacks verbs and says so."""

    delete_table = unsupported("the technology has no such call")
    list_partitions = unsupported("the technology has no partitions")
    delete_database = unsupported("databases are there for good")


@found_by("test_save_table_keeps_the_type[uint64]")
class KeepsWhatItDeclaresItCannotKeep(Good):
    cannot_keep = {"uint64": "no unsigned integers"}


class DeclaresWhatItCannotKeep(Good):
    """Not broken: it cannot keep some types and names, and says so."""

    cannot_keep = {"uint64": "no unsigned integers", "column a.b": "no dots", "table a.b": "no dots"}

    def save_table(self, table, *, response):
        [first, *_] = table.schema.columns
        if first.type == pa.uint64():
            raise Unsupported("This metastore has no unsigned integers of 64 bits.")
        if "a.b" in (first.name, table.name):
            raise Unsupported("This metastore takes no dots.")
        return super().save_table(table, response=response)
