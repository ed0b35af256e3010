"""What a caller's statement may be made of: parts of SQL and functions that compute with rows, and nothing else.

These are allow-lists: what is not on them is refused by name. Left out of Spark's functions are those that call Java
(reflect), fetch schemas or files by an option (from_xml, from_avro, from_protobuf, xpath), tell of the machine
(input_file_name, current_user, version), or take the bytes of a sketch apart without checking them (hll_union).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

from mason.pipeline.sql.query import BadQuery
from mason.pipeline.sql.spark_dialect import function_start, variable_start
from mason.util.names import did_you_mean

if TYPE_CHECKING:
    from mason.pipeline.sql.statement import Statement

_CLAUSES = {
    *(exp.Select, exp.From, exp.Where, exp.Group, exp.Having, exp.Order, exp.Ordered, exp.Limit, exp.Offset),
    *(exp.Sort, exp.Cluster, exp.Distribute, exp.Hint, exp.JoinHint, exp.Join, exp.Lateral, exp.TableSample),
    *(exp.With, exp.CTE, exp.Subquery, exp.Union, exp.Except, exp.Intersect, exp.Values, exp.Table, exp.TableAlias),
    *(exp.Pivot, exp.PivotAlias, exp.UnpivotColumns, exp.Rollup, exp.Cube, exp.GroupingSets, exp.Distinct),
    *(exp.Window, exp.WindowSpec, exp.Filter, exp.WithinGroup, exp.IgnoreNulls, exp.RespectNulls),
}
_NAMES = {
    *(exp.Identifier, exp.Column, exp.Star, exp.Alias, exp.Aliases, exp.Dot, exp.Bracket, exp.Tuple, exp.Paren),
    *(exp.Placeholder, exp.Var, exp.Lambda, exp.Kwarg),
}
_VALUES = {
    *(exp.Literal, exp.Boolean, exp.Null, exp.HexString, exp.Interval, exp.IntervalSpan),
    *(exp.DataType, exp.DataTypeParam, exp.ColumnDef, exp.Cast, exp.TryCast),
}
_OPERATORS = {
    *(exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.Neg, exp.DPipe, exp.Collate),
    *(exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor, exp.BitwiseNot, exp.BitwiseLeftShift, exp.BitwiseRightShift),
    *(exp.And, exp.Or, exp.Not, exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.NullSafeNEQ),
    *(exp.Is, exp.In, exp.Between, exp.Like, exp.ILike, exp.RegexpLike, exp.Escape, exp.Any, exp.All, exp.Exists),
    *(exp.Case, exp.If),
}
_CALLS = {
    *(exp.Anonymous, exp.Extract, exp.Overlay, exp.StrPosition, exp.Substring, exp.Trim),
    *(exp.Explode, exp.ExplodeOuter, exp.Posexplode, exp.PosexplodeOuter),
    *(exp.CurrentDate, exp.CurrentTimestamp),
}
_PARTS = _CLAUSES | _NAMES | _VALUES | _OPERATORS | _CALLS

_HINTS = {"coalesce", "repartition", "repartition_by_range", "rebalance"}

_NAMES_OF_FUNCTIONS = """
abs acos acosh add_months aes_decrypt aes_encrypt aggregate any any_value approx_count_distinct approx_percentile
approx_top_k array array_agg array_append array_compact array_contains array_distinct array_except array_insert
array_intersect array_join array_max array_min array_position array_prepend array_remove array_repeat array_size
array_sort array_union arrays_overlap arrays_zip ascii asin asinh assert_true atan atan2 atanh avg base64 bigint bin
binary bit_and bit_count bit_get bit_length bit_or bit_xor bitmap_and_agg bitmap_bit_position bitmap_bucket_number
bitmap_construct_agg bitmap_count bitmap_or_agg bool_and bool_or boolean bround btrim cardinality cbrt ceil ceiling
char char_length character_length chr coalesce collate collation collect_list collect_set concat concat_ws contains
conv convert_timezone corr cos cosh cot count count_if count_min_sketch covar_pop covar_samp crc32 csc cume_dist
curdate current_date current_time current_timestamp current_timezone date date_add date_diff date_format
date_from_unix_date date_part date_sub date_trunc dateadd datediff datepart day dayname dayofmonth dayofweek
dayofyear decimal decode degrees dense_rank double e element_at elt encode endswith equal_null every exists exp
explode explode_outer expm1 extract factorial filter find_in_set first first_value flatten float floor forall
format_number format_string from_csv from_json from_unixtime from_utc_timestamp get get_json_object getbit greatest
grouping grouping_id hash hex histogram_numeric hour hypot if ifnull ilike initcap inline inline_outer instr int
is_valid_utf8 is_variant_null isnan isnotnull isnull json_array_length json_object_keys json_tuple kurtosis lag last
last_day last_value lcase lead least left len length levenshtein like listagg ln localtimestamp locate log log10
log1p log2 lower lpad ltrim luhn_check make_date make_dt_interval make_interval make_time make_timestamp
make_timestamp_ltz make_timestamp_ntz make_valid_utf8 make_ym_interval map map_concat map_contains_key map_entries
map_filter map_from_arrays map_from_entries map_keys map_values map_zip_with mask max max_by md5 mean median min
min_by minute mod mode monotonically_increasing_id month monthname months_between named_struct nanvl negative
next_day now nth_value ntile nullif nullifzero nvl nvl2 octet_length overlay parse_json parse_url percent_rank
percentile percentile_approx percentile_cont percentile_disc pi pmod posexplode posexplode_outer position positive
pow power printf quarter quote radians raise_error rand randn random randstr range rank reduce regexp regexp_count
regexp_extract regexp_extract_all regexp_instr regexp_like regexp_replace regexp_substr regr_avgx regr_avgy
regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy repeat replace reverse right rint rlike
round row_number rpad rtrim schema_of_csv schema_of_json schema_of_variant schema_of_variant_agg sec second
sentences sequence session_window sha sha1 sha2 shiftleft shiftright shiftrightunsigned shuffle sign signum sin sinh
size skewness slice smallint some sort_array soundex space spark_partition_id split split_part sqrt stack startswith
std stddev stddev_pop stddev_samp str_to_map string string_agg struct substr substring substring_index sum tan tanh
time time_diff time_trunc timestamp timestamp_micros timestamp_millis timestamp_seconds timestampadd timestampdiff
tinyint to_binary to_char to_csv to_date to_json to_number to_time to_timestamp to_timestamp_ltz to_timestamp_ntz
to_unix_timestamp to_utc_timestamp to_varchar to_variant_object transform transform_keys transform_values translate
trim trunc try_add try_aes_decrypt try_avg try_divide try_element_at try_make_interval try_make_timestamp
try_make_timestamp_ltz try_make_timestamp_ntz try_mod try_multiply try_parse_json try_parse_url try_subtract try_sum
try_to_binary try_to_date try_to_number try_to_time try_to_timestamp try_url_decode try_validate_utf8
try_variant_get typeof ucase unbase64 unhex uniform unix_date unix_micros unix_millis unix_seconds unix_timestamp
upper url_decode url_encode uuid validate_utf8 var_pop var_samp variance variant_explode variant_explode_outer
variant_get weekday weekofyear when width_bucket window window_time xxhash64 year zeroifnull zip_with
"""
_FUNCTIONS = frozenset(_NAMES_OF_FUNCTIONS.split())

_BEYOND_THE_TABLES = {
    *("reflect", "try_reflect", "java_method", "from_xml", "schema_of_xml", "to_xml", "from_avro", "schema_of_avro"),
    *("to_avro", "from_protobuf", "to_protobuf", "xpath", "input_file_name", "input_file_block_start"),
    *("input_file_block_length", "current_user", "session_user", "user", "current_catalog", "current_database"),
    *("current_schema", "version", "python_worker_logs", "identifier", "read_files"),
}

_WHICH_FUNCTIONS = "A query may call what Spark has for values, lists, times and groups of rows."
_OF_THE_MACHINE = {"user", "current_user", "session_user", "current_catalog", "current_database", "current_schema"}
"""Spark takes these names for functions wherever no column is called so, without parentheses too."""


def check_parts(statement: Statement) -> None:
    """See that a statement is made of what is allowed, wherever in it that stands.

    Raises:
        BadQuery: it is not; the message names the first part, or function, that is not.
    """
    for node in statement.tree.walk():
        if type(node) not in _PARTS or (isinstance(node, exp.Placeholder) and not node.this):
            raise _not_allowed(statement, node)
        if isinstance(node, exp.Hint):
            _check_hint(statement, node)
        elif isinstance(node, exp.Dot) and isinstance(node.expression, exp.Func):
            raise _function_not_allowed(statement, f"{node.this.name}.{node.expression.name}", node.expression.name)
        elif isinstance(node, exp.Anonymous) and not isinstance(node.parent, exp.Hint):
            _check_function(statement, node)
        elif isinstance(node, exp.Var) and not node.name.replace("_", "a").isalnum():
            raise _not_allowed(statement, node)


def is_of_the_machine(name: str) -> bool:
    """Say whether Spark would tell something of the machine for a column of this name that no table has."""
    return name.casefold() in _OF_THE_MACHINE


def _check_function(statement: Statement, call: Any) -> None:
    if call.name.casefold() not in _FUNCTIONS:
        raise _function_not_allowed(statement, call.name, call.name)


def _function_not_allowed(statement: Statement, name: str, found_as: str) -> BadQuery:
    start = function_start(statement.text, found_as)
    if found_as.casefold() in _BEYOND_THE_TABLES:
        return statement.problem(
            start, f'The function "{name}" is not allowed in a query: it reaches beyond the tables.'
        )
    hint = did_you_mean(found_as.casefold(), sorted(_FUNCTIONS)) or _WHICH_FUNCTIONS
    return statement.problem(start, f'The function "{name}" is unknown, or not allowed in a query.', hint)


def _check_hint(statement: Statement, hint: Any) -> None:
    for each in hint.expressions:
        known = isinstance(each, exp.JoinHint) or (isinstance(each, exp.Anonymous) and each.name.casefold() in _HINTS)
        if not known:
            raise statement.problem(_start(hint), "This hint is not allowed in a query.", "Leave it out.")


def _not_allowed(statement: Statement, node: Any) -> BadQuery:
    if isinstance(node, exp.Parameter | exp.SessionParameter):
        start, hint = variable_start(statement.text), "Write :name, and give its value in parameters."
        return statement.problem(start, "A query has no variables.", hint)
    if isinstance(node, exp.JSONExtract):
        hint = "Write variant_get(v, '$.name', 'string'), or get_json_object(text, '$.name')."
        return statement.problem(_start(node), "A path into a value, as v:name, is not allowed in a query.", hint)
    name = node.sql_name() if isinstance(node, exp.Func) else type(node).__name__
    if isinstance(node, exp.Func):
        return _function_not_allowed(statement, name.lower(), name)
    return statement.problem(_start(node), f"This part of SQL ({name}) is not allowed in a query.")


def _start(node: Any) -> int:
    """Where a part begins, as far as what is in it, or around it, says so."""
    while node is not None:
        starts = [each.meta["start"] for each in node.walk() if "start" in each.meta]
        if starts:
            return int(min(starts))
        node = node.parent
    return 0
