"""What Spark does and DuckDB does otherwise, as macros of DuckDB.

`greatest` and `least` of DuckDB pass over nulls, so what is null is asked for first.
"""

from __future__ import annotations

import re

# Letters that become several capitals, and which ones DuckDB does not know; ß is dealt with.
_LONGER = "ŉǰΐΰևẖ-ẚὐὒὔὖᾀ-ᾯᾲ-ᾴᾶᾷᾼῂ-ῄῆῇῌῒΐῖῗῢ-ῤῦῧῲ-ῴῶῷῼﬀ-ﬆﬓ-ﬗ"
_WHOLE = r"\s*[+-]?[0-9]+\s*"
_NUMBER = r"(?i)\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?\s*"
_FLOAT = r"(?i)\s*([+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?|inf|infinity)|nan)\s*"
_SUFFIXED = r"(?i)\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?[df]\s*"
_DATE = r"\s*([0-9]{4})(-([0-9]{1,2})(-([0-9]{1,2})([ T].*)?)?)?\s*"
_FAR = r"\s*[+-]?[0-9]{4,7}(-[0-9]{1,2}(-[0-9]{1,2}([ T].*)?)?)?\s*"  # years with a sign, or of more digits
_TIME = r"[ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?"
_NAIVE = rf"\s*[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}({_TIME})?\s*"
_INSTANT = rf"\s*[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}({_TIME}(Z|[+-][0-9]{{2}}:[0-9]{{2}})?)?\s*"

# Java writes two digits, though one would be enough to tell the very smallest floating points from each other.
_TINY_DOUBLES = "4.9E-324 9.9E-324 4.9E-323 5.9E-323 6.9E-323 7.9E-323 8.9E-323 9.9E-323"
_TINY_FLOATS = "1.4E-45 2.8E-45 4.2E-45 5.6E-45 8.4E-45 9.8E-45 2.9E-44 4.1E-44 9.9E-44"


def _cases(kind: str, texts: str) -> str:
    whens = " ".join(f"WHEN abs(x) = CAST({each} AS {kind}) THEN '{each}'" for each in texts.split())
    return f"CASE {whens} END"


_TEXTS = rf"""
spark_bare(x) AS trim(x, E' \t\r\n')
spark_try_whole(x) AS CASE WHEN regexp_full_match(x, '{_WHOLE}') THEN spark_bare(x) END
spark_whole(x) AS CASE WHEN x IS NULL OR regexp_full_match(x, '{_WHOLE}') THEN spark_bare(x)
    ELSE error('"' || x || '" is not a whole number.') END
spark_try_number(x) AS CASE WHEN regexp_full_match(x, '{_NUMBER}') THEN spark_bare(x) END
spark_number(x) AS CASE WHEN x IS NULL OR regexp_full_match(x, '{_NUMBER}') THEN spark_bare(x)
    ELSE error('"' || x || '" is not a number.') END
spark_try_float(x) AS CASE WHEN regexp_full_match(x, '{_FLOAT}') THEN spark_bare(x)
    WHEN regexp_full_match(x, '{_SUFFIXED}') THEN spark_bare(x)[:-2] END
spark_float(x) AS CASE WHEN x IS NULL OR spark_try_float(x) IS NOT NULL THEN spark_try_float(x)
    ELSE error('"' || x || '" is not a number.') END
spark_try_flag(x) AS CASE WHEN lower(spark_bare(x)) IN ('t', 'true', 'y', 'yes', '1') THEN true
    WHEN lower(spark_bare(x)) IN ('f', 'false', 'n', 'no', '0') THEN false END
spark_flag(x) AS CASE WHEN x IS NULL OR spark_try_flag(x) IS NOT NULL THEN spark_try_flag(x)
    ELSE error('"' || x || '" is not a boolean.') END
spark_try_date(x) AS CASE WHEN regexp_full_match(x, '{_DATE}') THEN regexp_extract(x, '{_DATE}', 1)
    || '-' || lpad(coalesce(nullif(regexp_extract(x, '{_DATE}', 3), ''), '1'), 2, '0')
    || '-' || lpad(coalesce(nullif(regexp_extract(x, '{_DATE}', 5), ''), '1'), 2, '0')
    WHEN regexp_full_match(x, '{_FAR}') THEN error('The local engine reads no date such as "' || x || '".') END
spark_date(x) AS CASE WHEN x IS NULL OR spark_try_date(x) IS NOT NULL THEN CAST(spark_try_date(x) AS DATE)
    ELSE error('"' || x || '" is not a date.') END
spark_naive(x) AS CASE WHEN x IS NULL OR regexp_full_match(x, '{_NAIVE}') THEN CAST(spark_bare(x) AS TIMESTAMP)
    ELSE error('"' || x || '" is not a moment such as 2026-01-31 10:20:30, all that the local engine reads.') END
spark_instant(x) AS CASE WHEN x IS NULL OR regexp_full_match(x, '{_INSTANT}') THEN CAST(spark_bare(x) AS TIMESTAMPTZ)
    ELSE error('"' || x || '" is not a moment such as 2026-01-31 10:20:30+01:00, all that the local engine reads.') END
spark_float_text(x) AS CASE WHEN x IS NULL THEN NULL WHEN isnan(x) THEN 'NaN' WHEN isinf(x) THEN
    CASE WHEN x > 0 THEN 'Infinity' ELSE '-Infinity' END
    WHEN x = 0 OR (abs(x) >= 1e-3 AND abs(x) < 1e7) THEN CAST(x AS VARCHAR)
    ELSE CASE WHEN x < 0 THEN '-' ELSE '' END || coalesce(
    CASE WHEN typeof(x) = 'FLOAT' THEN {_cases("FLOAT", _TINY_FLOATS)} ELSE {_cases("DOUBLE", _TINY_DOUBLES)} END,
    spark_power(CAST(abs(x) AS VARCHAR))) END
spark_like_pattern(p, shape) AS CASE WHEN p IS NULL OR regexp_full_match(p, shape) THEN p
    ELSE error('In the pattern "' || p || '" the escape stands before none of %, _ and itself.') END
spark_finite(x) AS CASE WHEN isfinite(x) THEN x END
spark_to_long(x) AS CASE WHEN isnan(x) THEN 0 WHEN x >= 9223372036854775807 THEN 9223372036854775807
    WHEN x <= -9223372036854775808 THEN -9223372036854775808 ELSE CAST(x AS BIGINT) END
spark_power(t) AS CASE WHEN contains(t, 'e') THEN split_part(t, 'e', 1)
    || CASE WHEN contains(t, '.') THEN '' ELSE '.0' END || 'E' || CAST(split_part(t, 'e', 2) AS INTEGER)
    WHEN starts_with(t, '0.')
    THEN spark_digits(ltrim(t[3:], '0')) || 'E-' || (length(t) - 1 - length(ltrim(t[3:], '0')))
    ELSE spark_digits(replace(t, '.', '')) || 'E' || (strpos(t || '.', '.') - 2) END
spark_digits(t) AS t[1] || '.' || coalesce(nullif(rtrim(t[2:], '0'), ''), '0')
spark_upper(s) AS CASE WHEN regexp_matches(s, '[{_LONGER}]')
    THEN error('The local engine has no capitals for "' || s || '".') ELSE upper(replace(s, 'ß', 'SS')) END
spark_lower(s) AS lower(regexp_replace(replace(s, 'İ', 'i̇'), '(\p{{L}})Σ(\P{{L}}|$)', '\1ς\2', 'g'))
spark_initcap(s) AS CASE WHEN regexp_matches(s, 'İ|(^| )[ßǄ-ǌǱ-ǳ{_LONGER}]')
    THEN error('The local engine has no capitals for "' || s || '".') ELSE array_to_string(
    list_transform(string_split(lower(s), ' '), lambda word: upper(word[1]) || word[2:]), ' ') END
spark_substr(s, p, n) AS CASE WHEN p IS NULL OR n IS NULL THEN NULL ELSE spark_between(s,
    CASE WHEN p > 0 THEN p - 1 WHEN p < 0 THEN length(s) + p ELSE 0 END, n) END
spark_between(s, first, n) AS substring(s, greatest(first, 0) + 1, greatest(first + n - greatest(first, 0), 0))
spark_left(s, n) AS CASE WHEN s IS NULL OR n IS NULL THEN NULL WHEN n <= 0 THEN '' ELSE left(s, n) END
spark_right(s, n) AS CASE WHEN s IS NULL OR n IS NULL THEN NULL WHEN n <= 0 THEN '' ELSE right(s, n) END
spark_locate(part, s, n) AS CASE WHEN part IS NULL OR s IS NULL OR n IS NULL THEN NULL WHEN n < 1 THEN 0
    WHEN strpos(substring(s, n), part) = 0 THEN 0 ELSE strpos(substring(s, n), part) + n - 1 END
spark_lpad(s, n, pad) AS CASE WHEN s IS NULL OR n IS NULL OR pad IS NULL THEN NULL
    WHEN pad = '' OR n <= length(s) THEN spark_left(s, n) ELSE lpad(s, CAST(n AS INTEGER), pad) END
spark_rpad(s, n, pad) AS CASE WHEN s IS NULL OR n IS NULL OR pad IS NULL THEN NULL
    WHEN pad = '' OR n <= length(s) THEN spark_left(s, n) ELSE rpad(s, CAST(n AS INTEGER), pad) END
spark_reverse(s) AS array_to_string(list_transform(range(length(s), 0, -1), lambda i: substring(s, i, 1)), '')
spark_split_part(s, d, n) AS CASE WHEN n = 0 THEN error('split_part counts from 1.') ELSE split_part(s, d, n) END
spark_substring_index(s, d, n) AS CASE WHEN n IS NULL THEN NULL WHEN n = 0 OR d = '' THEN '' WHEN n > 0
    THEN array_to_string(string_split(s, d)[1:n], d) ELSE array_to_string(string_split(s, d)[n:], d) END
spark_unended(s) AS CASE WHEN regexp_matches(s, '[\n\r\x{{85}}\x{{2028}}\x{{2029}}]\z')
    THEN error('The local engine cannot guarantee Spark''s result for "$" before a line end: "' || s || '".') ELSE s END
spark_regexp_substr(s, p) AS CASE WHEN regexp_matches(s, p) THEN regexp_extract(s, p, 0) END
spark_regexp_count(s, p) AS len(regexp_extract_all(s, p))
spark_chr(n) AS CASE WHEN n IS NULL THEN NULL WHEN n < 0 THEN '' ELSE chr(CAST(n % 256 AS INTEGER)) END
"""

_NUMBERS = """
spark_divisor(b, a) AS CASE WHEN b = 0 AND a IS NOT NULL THEN error('Division by zero.') ELSE nullif(b, 0) END
spark_unscaled(x) AS CAST(replace(CAST(x AS VARCHAR), '.', '') AS HUGEINT)
spark_quotient(a, b) AS (a // b) + CASE WHEN abs(a % b) >= abs(b) - abs(a % b)
    THEN CASE WHEN (a < 0) = (b < 0) THEN 1 ELSE -1 END ELSE 0 END
spark_scaled(q, unit, scale) AS CASE WHEN q < 0 THEN '-' ELSE '' END || CAST(abs(q) // unit AS VARCHAR) || '.'
    || lpad(CAST(abs(q) % unit AS VARCHAR), scale, '0')
spark_pmod(a, n) AS CASE WHEN a % spark_divisor(n, a) < 0 THEN (a % n + n) % n ELSE a % n END
spark_round(x, n) AS CASE WHEN isnan(x) OR abs(x) >= 1e15 THEN x
    ELSE CAST(round(CAST(CAST(x AS VARCHAR) AS DECIMAL(38, 20)), n) AS DOUBLE) END
spark_sign(x) AS CASE WHEN x = 0 OR isnan(x) THEN x ELSE sign(x) END
spark_sqrt(x) AS CASE WHEN x < 0 THEN CAST('nan' AS DOUBLE) ELSE sqrt(x) END
spark_ln(x) AS CASE WHEN x > 0 THEN ln(x) END
spark_log2(x) AS CASE WHEN x > 0 THEN log2(x) END
spark_log10(x) AS CASE WHEN x > 0 THEN log10(x) END
spark_isnan(x) AS x IS NOT NULL AND isnan(x)
spark_log(b, x) AS CASE WHEN x > 0 AND b > 0 THEN ln(x) / ln(b) END
"""

_TIMES = """
spark_floor_div(a, b) AS CASE WHEN a % b < 0 THEN a // b - 1 ELSE a // b END
spark_cut_seconds(x) AS epoch_us(x) // 1000000
spark_seconds(x) AS spark_floor_div(epoch_us(x), 1000000)
spark_millis(x) AS spark_floor_div(epoch_us(x), 1000)
spark_moment(n, unit) AS CAST(make_timestamp(n * unit) AS TIMESTAMPTZ)
spark_second_part(x) AS CAST(CAST(microsecond(x) AS DECIMAL(12, 0)) * CAST(0.000001 AS DECIMAL(7, 6)) AS DECIMAL(8, 6))
spark_dayofweek(d) AS dayofweek(d) + 1
spark_weekday(d) AS isodow(d) - 1
spark_add_months(d, n) AS d + to_months(n)
spark_days(d) AS date_diff('day', CAST('1970-01-01' AS DATE), d)
spark_day(n) AS CAST('1970-01-01' AS DATE) + n
spark_parsed(s, shape, pattern) AS CASE WHEN s IS NULL THEN NULL WHEN regexp_full_match(s, shape)
    THEN strptime(s, pattern) ELSE error('"' || s || '" is not written as the pattern says.') END
"""

_NESTED = """
spark_at(l, i) AS CASE WHEN l IS NULL OR i IS NULL THEN NULL WHEN i < 0 OR i >= len(l)
    THEN error('The list has ' || len(l) || ' elements, and none at ' || i || '.') ELSE l[i + 1] END
spark_get(l, i) AS CASE WHEN i >= 0 THEN l[i + 1] END
spark_element_at(l, i) AS CASE WHEN l IS NULL OR i IS NULL THEN NULL WHEN i = 0 OR abs(i) > len(l)
    THEN error('The list has ' || len(l) || ' elements, and none at ' || i || '.') ELSE l[i] END
spark_try_element_at(l, i) AS CASE WHEN i = 0 THEN error('element_at counts from 1.') ELSE l[i] END
spark_list_contains(l, x) AS CASE WHEN l IS NULL OR x IS NULL THEN NULL WHEN list_contains(l, x) THEN true
    WHEN list_count(l) < len(l) THEN NULL ELSE false END
spark_list_position(l, x) AS CASE WHEN l IS NULL OR x IS NULL THEN NULL ELSE coalesce(list_position(l, x), 0) END
spark_holds(l, x) AS len(list_filter(l, lambda each: each IS NOT DISTINCT FROM x)) > 0
spark_distinct(l) AS list_filter(l, lambda x, i: NOT spark_holds(l[1:i - 1], x))
spark_union(a, b) AS CASE WHEN a IS NULL OR b IS NULL THEN NULL ELSE spark_distinct(list_concat(a, b)) END
spark_intersect(a, b) AS CASE WHEN a IS NULL OR b IS NULL THEN NULL
    ELSE list_filter(spark_distinct(a), lambda x: spark_holds(b, x)) END
spark_except(a, b) AS CASE WHEN a IS NULL OR b IS NULL THEN NULL
    ELSE list_filter(spark_distinct(a), lambda x: NOT spark_holds(b, x)) END
spark_remove(l, v) AS CASE WHEN v IS NULL THEN NULL ELSE list_filter(l, lambda x: x IS DISTINCT FROM v) END
spark_append(l, v) AS CASE WHEN l IS NULL THEN NULL ELSE list_append(l, v) END
spark_prepend(l, v) AS CASE WHEN l IS NULL THEN NULL ELSE list_prepend(v, l) END
spark_compact(l) AS list_filter(l, lambda x: x IS NOT NULL)
spark_join(l, d) AS array_to_string(l, d)
spark_join_all(l, d, other) AS array_to_string(list_transform(l, lambda x: coalesce(x, other)), d)
spark_repeat(v, n) AS list_transform(range(n), lambda i: v)
spark_slice(l, p, n) AS CASE WHEN l IS NULL OR p IS NULL OR n IS NULL THEN NULL
    WHEN p = 0 OR n < 0 THEN error('slice counts from 1.')
    WHEN p < 0 AND len(l) + p < 0 THEN [] WHEN p < 0 THEN l[len(l) + p + 1:len(l) + p + n] ELSE l[p:p + n - 1] END
spark_list_concat(a, b) AS CASE WHEN a IS NULL OR b IS NULL THEN NULL ELSE list_concat(a, b) END
spark_flatten(l) AS CASE WHEN list_count(l) < len(l) THEN NULL ELSE flatten(l) END
spark_sequence(a, b) AS CASE WHEN a <= b THEN generate_series(a, b) ELSE generate_series(a, b, -1) END
spark_has_key(m, k) AS list_contains(map_keys(m), k)
"""


_MACROS = {
    each.partition("(")[0]: each
    for each in "".join((_TEXTS, _NUMBERS, _TIMES, _NESTED)).replace("\n    ", " ").splitlines()
    if each
}
_NAME = re.compile(r"\bspark_\w+", re.IGNORECASE)


def macros_of(statement: str) -> list[str]:
    """Return the statements that make the macros which a statement calls."""
    wanted: list[str] = []
    texts = [statement]
    while texts:
        names = {name.lower() for name in _NAME.findall(texts.pop())}
        fresh = [name for name in names if name in _MACROS and name not in wanted]
        wanted += fresh
        texts += [_MACROS[name] for name in fresh]
    return [f"CREATE TEMP MACRO {_MACROS[name]}" for name in _MACROS if name in wanted]
