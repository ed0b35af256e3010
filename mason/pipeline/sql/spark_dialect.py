"""Spark SQL as sqlglot reads what users write, and writes it for Spark: a call stays what it is written as."""

from __future__ import annotations

import logging
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.dialects.databricks import Databricks
from sqlglot.generators.databricks import DatabricksGenerator
from sqlglot.parsers.databricks import DatabricksParser
from sqlglot.tokenizer_core import TokenType

# It warns of statements that it does not know, which are refused in Mason's own words.
logging.getLogger("sqlglot").addHandler(logging.NullHandler())

UNITS = {
    *("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "DAYOFYEAR"),
    *("HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND"),
}
TAKES_A_UNIT = {"timestampadd", "timestampdiff", "dateadd", "datediff", "date_add", "date_diff", "time_diff"}
"""Functions whose first of three arguments is a word such as DAY, and no column."""

# Of these alone sqlglot knows how they make rows, or their arguments are no plain list.
_ROW_MAKERS = ("EXPLODE", "EXPLODE_OUTER", "POSEXPLODE", "POSEXPLODE_OUTER")
_SPECIAL = ("CAST", "TRY_CAST", "EXTRACT", "OVERLAY", "POSITION", "SUBSTRING", "SUBSTR", "TRIM")
_SUFFIX = "suffix"
_OPENING = TokenType.L_PAREN
_STATED_CAST = "stated cast"
_BITS = (
    (TokenType.PIPE, exp.BitwiseOr),
    (TokenType.CARET, exp.BitwiseXor),
    (TokenType.AMP, exp.BitwiseAnd),
)
_BITS_JOINED = (exp.BitwiseOr, exp.BitwiseXor, exp.BitwiseAnd, exp.BitwiseLeftShift, exp.BitwiseRightShift)
_FLOATING = ("D", "F")  # -0.0D has its sign, which the decimal -0.0 has not


def mark_cast(node: Any) -> Any:
    """Return a cast, marked as one that stands in the statement."""
    node.meta[_STATED_CAST] = True
    return node


def is_cast(node: Any) -> bool:
    """Say whether a cast stands in the statement, and not only in what was made of it."""
    return bool(node.meta.get(_STATED_CAST))


def suffix(node: Any) -> str | None:
    """Return the letter that a number has behind it, if it is read as a cast for that."""
    letter: str | None = node.meta.get(_SUFFIX)
    return letter


def is_unit(node: Any) -> bool:
    """Say whether a node is the word DAY, or the like, of a function that takes one there."""
    call = node.parent
    return (
        isinstance(node, exp.Column)
        and not node.table
        and not node.this.args.get("quoted")
        and node.name.upper() in UNITS
        and isinstance(call, exp.Anonymous)
        and call.name.lower() in TAKES_A_UNIT
        and len(call.expressions) == 3
        and call.expressions[0] is node
    )


def _parse_colon_cast(parser: Any, value: Any, kind: Any) -> Any:
    """Return the cast of `4::smallint`, or that which `4S` is read as: its type has the letter for a text."""
    cast = parser.build_cast(strict=parser.STRICT_CAST, this=value, to=kind)
    letter = parser._prev.text.upper()
    if letter not in Databricks.Tokenizer.NUMERIC_LITERALS:
        return mark_cast(cast)
    cast.meta[_SUFFIX] = letter
    return cast


def _parse_negative(parser: Any) -> Any:
    """Return what a minus stands before: of a number it is a part, before any cast, so that `-1::string` is '-1'."""
    is_number = parser._curr.token_type is TokenType.NUMBER
    value = number = parser._parse_unary()
    while is_number and isinstance(number, exp.Cast) and suffix(number) not in _FLOATING:
        number = number.this
    if number is value:
        return parser.expression(exp.Neg(this=value))
    number.replace(exp.Neg(this=number.copy()))
    return value


def _parse_bits(parser: Any, levels: Any = _BITS) -> Any:
    """Return what |, ^, & and shifts join, in the order in which they bind in Spark: | the loosest."""
    if not levels:
        return _parse_shift(parser)
    (token, kind), *tighter = levels
    this = _parse_bits(parser, tighter)
    while parser._match(token):
        other = _parse_bits(parser, tighter)
        # Others than Spark have them all on one level, and read them from the left.
        other = exp.Paren(this=other) if isinstance(other, _BITS_JOINED) else other
        this = parser.expression(kind(this=this, expression=other))
    return this


def _parse_shift(parser: Any) -> Any:
    this = parser._parse_term()
    while True:
        if parser._match_pair(TokenType.LT, TokenType.LT):
            kind: Any = exp.BitwiseLeftShift
        elif parser._match_pair(TokenType.GT, TokenType.GT):
            if parser._match(TokenType.GT):
                this = _shift_unsigned(this, parser._parse_term())
                continue
            kind = exp.BitwiseRightShift
        else:
            return this
        this = parser.expression(kind(this=this, expression=parser._parse_term()))


def _shift_unsigned(this: Any, places: Any) -> Any:
    """Return `a >>> b` by the name that Spark has for it: sqlglot knows no such operator."""
    return exp.Anonymous(this="shiftrightunsigned", expressions=[this, places])


def simplify_tree(tree: Any) -> Any:
    """Return a tree in which what can be written in several ways is there in one."""
    for node in list(tree.walk()):
        if is_unit(node):
            node.replace(exp.Var(this=node.name.upper()))
        elif isinstance(node, exp.RawString):
            node.replace(exp.Literal.string(node.name))
        elif isinstance(node, exp.Concat) and all(each.is_string for each in node.expressions):
            node.replace(exp.Literal.string("".join(each.name for each in node.expressions)))  # 'a' 'b' is one text
        elif isinstance(node, exp.WindowSpec):
            _simplify_window(node)
        elif isinstance(node, exp.CurrentTimestamp):
            node.replace(exp.Anonymous(this="current_timestamp"))
    return tree


def _simplify_window(node: Any) -> None:
    for name in ("kind", "start", "start_side", "end", "end_side"):
        if isinstance(node.args.get(name), str):
            node.set(name, node.args[name].upper())
    if not node.args.get("end"):
        node.set("end", "CURRENT ROW")


def function_start(text: str, name: str) -> int:
    """Return the place at which a statement first calls a function."""
    tokens = sqlglot.tokenize(text, dialect=SparkAsWritten)
    named = [number for number, token in enumerate(tokens) if token.text.casefold() == name.casefold()]
    called = [number for number in named if [each.token_type for each in tokens[number + 1 : number + 2]] == [_OPENING]]
    return next((tokens[number].start for number in [*called, *named]), 0)


def variable_start(text: str) -> int:
    """Return the place of a statement's first variable, such as `${env:NAME}` or `@name`."""
    tokens = sqlglot.tokenize(text, dialect=SparkAsWritten)
    return next((token.start for token in tokens if token.token_type == TokenType.PARAMETER), 0)


_WRITTEN_PLAINLY = (
    *(exp.Select, exp.From, exp.Pivot, exp.StrPosition, exp.Table, exp.Trim, exp.WithinGroup),
    *(exp.BitwiseLeftShift, exp.BitwiseRightShift),
)
_TERMS = {TokenType.PLUS: exp.Add, TokenType.DASH: exp.Sub, TokenType.DPIPE: exp.DPipe}
_COMPARISONS = DatabricksParser.EQUALITY | DatabricksParser.COMPARISON
_COMPARED = tuple(_COMPARISONS.values())


class SparkAsWritten(Databricks):
    """Spark 4 raises where Spark 3 gave null, as Databricks does, and doubles a quote to have it in a text."""

    class Tokenizer(Databricks.Tokenizer):
        STRING_ESCAPES = ["\\", "'", '"']

    class Parser(DatabricksParser):
        FUNCTIONS = {name: DatabricksParser.FUNCTIONS[name] for name in _ROW_MAKERS}
        FUNCTION_PARSERS = {
            name: parse
            for name, parse in DatabricksParser.FUNCTION_PARSERS.items()
            if name in _SPECIAL or name.startswith(("BROADCAST", "MAPJOIN", "MERGE", "SHUFFLE"))  # the latter are hints
        } | {"CAST": lambda parser: mark_cast(DatabricksParser.FUNCTION_PARSERS["CAST"](parser))}
        COLUMN_OPERATORS = DatabricksParser.COLUMN_OPERATORS | {TokenType.DCOLON: _parse_colon_cast}
        UNARY_PARSERS = DatabricksParser.UNARY_PARSERS | {TokenType.DASH: _parse_negative}
        NO_PAREN_FUNCTION_PARSERS = {
            name: parse
            for name, parse in DatabricksParser.NO_PAREN_FUNCTION_PARSERS.items()
            if name in ("CASE", "IF", "ANY")
        }
        ARRAY_CONSTRUCTORS = {}  # array(1, 2)[0] is an element, and no list of its own

        # Spark has || on one level with + and -, all comparisons on one, and LIKE, BETWEEN, IN and IS below them, which
        # sqlglot has not: what that would read otherwise stands in parentheses from here on.

        def _parse_term(self, parse_mod: bool = True) -> Any:
            this = self._parse_collated(parse_mod)
            while self._match_set(_TERMS):
                kind = _TERMS[self._prev.token_type]
                left = exp.Paren(this=this) if isinstance(this, exp.DPipe) and kind is not exp.DPipe else this
                this = self.expression(kind(this=left, expression=self._parse_collated(parse_mod)))
                if isinstance(this, exp.DPipe):
                    this.set("safe", True)
            return this

        def _parse_collated(self, parse_mod: bool) -> Any:
            this = self._parse_factor(parse_mod)
            while self._match(TokenType.COLLATE):
                this = self.expression(exp.Collate(this=this, expression=self._parse_factor(parse_mod)))
                self._normalize_collate(this)
            return this

        def _parse_bitwise(self) -> Any:
            this = _parse_bits(self)
            while self._match_set(self.JSON_OPERATORS):  # which are refused by their name
                this = self.JSON_OPERATORS[self._prev.token_type](self, this, self._parse_term())
            return this

        def _parse_comparison(self, this: Any = None) -> Any:
            this = this or self._parse_bitwise()
            while self._match_set(_COMPARISONS):
                kind = _COMPARISONS[self._prev.token_type]
                left = exp.Paren(this=this) if isinstance(this, _COMPARED) else this
                this = self._build_predicate(kind, left, self._parse_bitwise())
            return this

        def _parse_equality(self, parse_is: bool = True) -> Any:
            this = self._parse_comparison()
            if not parse_is:
                return this
            index = self._index
            found = self._parse_range(this, parse_is=True) if this else this
            if self._index != index and isinstance(this, _COMPARED) and not isinstance(this.parent, exp.Paren):
                this.replace(exp.Paren(this=this.copy()))
            return found

        def _parse_group(self, skip_group_by_token: bool = False) -> Any:
            """`GROUP BY window(…)` calls the function: it does not begin the WINDOW clause."""
            begins = [each.token_type for each in self._tokens[self._index + 1 : self._index + 3]]
            if begins != [TokenType.WINDOW, TokenType.L_PAREN]:
                return super()._parse_group(skip_group_by_token)
            # Of this parser alone, which reads one text: the class has them for all.
            known = self.QUERY_MODIFIER_TOKENS
            self.QUERY_MODIFIER_TOKENS = known - {TokenType.WINDOW}  # type: ignore[misc]
            try:
                return super()._parse_group(skip_group_by_token)
            finally:
                self.QUERY_MODIFIER_TOKENS = known  # type: ignore[misc]

        def _parse_subquery(self, this: Any, parse_alias: bool = True) -> Any:
            """The sample of a subquery stands before its name."""
            sample = self._parse_table_sample() if this else None
            found = super()._parse_subquery(this, parse_alias)
            if found and sample:
                found.set("sample", sample)
            return found

        def _parse_interval(self, *args: Any, **options: Any) -> Any:
            """`x - interval 1 day 2 hours` takes both away: their sum stands in parentheses."""
            found = super()._parse_interval(*args, **options)
            return exp.Paren(this=found) if isinstance(found, exp.Add) else found

    class Generator(DatabricksGenerator):
        # Written as it was read, without what sqlglot does for statements of other dialects.
        TRANSFORMS = {
            kind: write for kind, write in DatabricksGenerator.TRANSFORMS.items() if kind not in _WRITTEN_PLAINLY
        }
        EXPRESSIONS_WITHOUT_NESTED_CTES = set()  # a WITH stays where it stands
        TYPE_MAPPING = DatabricksGenerator.TYPE_MAPPING | {exp.DType.TIME: "TIME"}

        def lateral_sql(self, expression: exp.Lateral) -> str:
            """Quote the name of a LATERAL VIEW: sqlglot writes it as it is, whatever stands in it."""
            alias = expression.args.get("alias")
            if not expression.args.get("view") or not alias or not alias.this:
                return super().lateral_sql(expression)
            outer = " OUTER" if expression.args.get("outer") else ""
            columns = self.expressions(alias, key="columns", flat=True)
            named = f" AS {columns}" if columns else ""
            return f" LATERAL VIEW{outer} {self.sql(expression, 'this')} {self.sql(alias, 'this')}{named}"

        def literal_sql(self, expression: exp.Literal) -> str:
            """Write a text with two escapes alone, which every reader of Spark SQL knows."""
            if not expression.is_string:
                return super().literal_sql(expression)
            text = expression.name.replace("\\", "\\\\").replace("'", "\\'")
            return f"'{text}'"

        def cast_sql(self, expression: exp.Cast, safe_prefix: str | None = None) -> str:
            letter = suffix(expression)
            if letter and letter != "BD" and isinstance(expression.this, exp.Literal | exp.Neg):
                return f"{self.sql(expression, 'this')}{letter}"
            return super().cast_sql(expression, safe_prefix)

        def regexplike_sql(self, expression: exp.RegexpLike) -> str:
            return self.binary(expression, "RLIKE")

        def strposition_sql(self, expression: exp.StrPosition) -> str:
            start = expression.args.get("position")
            if start is None:
                return f"POSITION({self.sql(expression, 'substr')} IN {self.sql(expression, 'this')})"
            return self.func("POSITION", expression.args["substr"], expression.this, start)

        def trim_sql(self, expression: exp.Trim) -> str:
            side, characters = expression.args.get("position"), self.sql(expression, "expression")
            said = " ".join(filter(None, [side, characters]))
            return f"TRIM({f'{said} FROM ' if said else ''}{self.sql(expression, 'this')})"
