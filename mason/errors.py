"""Every way in which Mason can fail, in one tree.

    MasonError                      500 · a failure without a better name
    ├── BadInput                    400 · the caller can mend it
    │   ├── InvalidParameters           parameters missing, unknown or ill-typed
    │   ├── InvalidConfiguration        a configuration file, or a value in it
    │   ├── InvalidDefinition           an operator.yaml, workflow.yaml or its code
    │   ├── InvalidProject              a mason.yaml, or what it names
    │   └── BadPath                     a path that leaves its root or cannot be read as one
    ├── Unauthorized                401 · who calls is not known
    ├── Forbidden                   403 · the technology, the file system or a token says no
    ├── NotFound                    404
    │   ├── ConfigurationNotFound
    │   ├── OperatorNotFound
    │   ├── DatabaseNotFound
    │   ├── TableNotFound
    │   └── PathNotFound
    ├── Conflict                    409 · what is there already does not allow it
    │   ├── AlreadyExists
    │   ├── AlreadyRegistered           another version has this name
    │   ├── PlanDiffers                 something changed since a plan was saved
    │   └── NotEmpty
    ├── TooLarge                    413 · a request that is larger than this server takes
    ├── WrongMediaType              415 · a request that is not JSON
    ├── Unprocessable               422 · understood, but cannot be carried out
    │   ├── UnreadableFile              a data file that cannot be read as what it claims to be
    │   ├── NoData                      nothing there to look at
    │   ├── ChecksFailed                data that are not what they should be
    │   └── UnsupportedConfiguration    the operator does not accept these clients
    ├── TooMany                     429 · more than can be queued
    ├── Interrupted                 499 · exit 130 · ctrl-C
    ├── Unsupported                 501 · a client says no, and why
    │   ├── RoleNotFilled               no such client for this role
    │   ├── BrokenPlugin                what a package declares cannot be used, or two declare it
    │   └── MissingDependency           the client's package is not installed
    ├── ClientFailed                502 · the technology failed
    └── StateFailed                 503 · MASON_HOME or the state store cannot be used

A class carries its HTTP status and its exit code. Anything that is not a MasonError is a bug and keeps its traceback.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mason.util.names import did_you_mean


class MasonError(Exception):
    """Raised when something went wrong that the user should read about; `hint` says what to do next. 500 · exit 1"""

    status = 500
    exit_code = 1
    record: object = None
    """What there is to look at all the same, such as the record of a job that found what must not be."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(f"{message} {hint}" if hint else message)

    @property
    def messages(self) -> Sequence[str]:
        """One line per problem, ready for `Response.errors`."""
        return (str(self),)


class BadInput(MasonError):
    """Raised when what somebody gave is wrong. 400 · exit 1"""

    status = 400


class Problems(BadInput):
    """Raised when several problems were found in one go: all are shown, none hides another. 400 · exit 1"""

    def __init__(self, problems: Iterable[object], hint: str = "") -> None:
        self._messages = (*(str(problem) for problem in problems), *([hint] if hint else ()))
        super().__init__("\n".join(self._messages))

    @property
    def messages(self) -> Sequence[str]:
        return self._messages


class InvalidParameters(Problems):
    """Raised when the parameters of a call are wrong. 400 · exit 1"""


class InvalidConfiguration(Problems):
    """Raised when a configuration or setting is wrong. 400 · exit 1"""


class InvalidDefinition(Problems):
    """Raised when a definition of an operator or workflow is wrong. 400 · exit 1"""


class InvalidProject(Problems):
    """Raised when a mason.yaml, or what it names, is not what it should be. 400 · exit 1"""


class BadPath(BadInput):
    """Raised when a text names no place in the storage. 400 · exit 1"""


class Unauthorized(MasonError):
    """Raised when a caller has no valid token. 401 · exit 1"""

    status = 401


class Forbidden(MasonError):
    """Raised when a caller may not do what they ask for. 403 · exit 1"""

    status = 403


class NotFound(MasonError):
    """Raised when what is asked for does not exist. 404 · exit 1"""

    status = 404


class ConfigurationNotFound(NotFound):
    """Raised when no configuration has the id. 404 · exit 1"""

    def __init__(self, config_id: str, known: Sequence[str]) -> None:
        listed = f"There are: {', '.join(known)}."
        super().__init__(f'Configuration "{config_id}" not found.', hint=did_you_mean(config_id, known) or listed)


class OperatorNotFound(NotFound):
    """Raised when no operator is registered under the name. 404 · exit 1"""


class DatabaseNotFound(NotFound):
    """Raised when a metastore has no such database. 404 · exit 1"""

    def __init__(self, database: str, near: Sequence[str] = ()) -> None:
        super().__init__(f'Database "{database}" not found.', hint=did_you_mean(database, near))


class TableNotFound(NotFound):
    """Raised when a database has no such table. 404 · exit 1"""

    def __init__(self, database: str, table: str, near: Sequence[str] = ()) -> None:
        super().__init__(f'Table "{table}" not found in database "{database}".', hint=did_you_mean(table, near))


class PathNotFound(NotFound):
    """Raised when nothing lies at a path. 404 · exit 1"""

    def __init__(self, path: str, *, hint: str = "") -> None:
        super().__init__(f'Path "{path}" not found.', hint=hint)


class Conflict(MasonError):
    """Raised when the state of something does not allow what is asked. 409 · exit 1"""

    status = 409


class AlreadyExists(Conflict):
    """Raised when something of that name is already there. 409 · exit 1"""


class AlreadyRegistered(Conflict, Problems):
    """Raised when a name is already registered for something else. 409 · exit 1"""


class PlanDiffers(Conflict, Problems):
    """Raised when what would be done is no longer what was planned. 409 · exit 1"""


class NotEmpty(Conflict):
    """Raised when something must be empty and is not. 409 · exit 1"""


class TooLarge(MasonError):
    """Raised when what was sent or asked for is larger than allowed. 413 · exit 1"""

    status = 413


class WrongMediaType(MasonError):
    """Raised when a body is in no format that is understood. 415 · exit 1"""

    status = 415


class TooMany(MasonError):
    """Raised when there are too many requests or jobs at the moment. 429 · exit 1 · try again in a moment"""

    status = 429
    retry_after = 1


class Unprocessable(MasonError):
    """Raised when what was given is well-formed and cannot be carried out. 422 · exit 1"""

    status = 422


class UnreadableFile(Unprocessable):
    """Raised when a file is damaged or is not in the format that it should be in. 422 · exit 1"""

    def __init__(self, path: str, reason: str, *, hint: str = "") -> None:
        super().__init__(f"{path}: {reason}", hint=hint)


class NoData(Unprocessable):
    """Raised when there are no files, or no rows in them. 422 · exit 1"""


class ChecksFailed(Unprocessable, Problems):
    """Raised when rows of a table fail checks that must hold. 422 · exit 1"""


class UnsupportedConfiguration(Unprocessable):
    """Raised when an operator does not support the clients of a configuration. 422 · exit 1"""


class Interrupted(MasonError):
    """Raised when somebody cancelled or interrupted the work. 499 · exit 130"""

    status = 499
    exit_code = 130


class Unsupported(MasonError):
    """Raised when a technology or engine cannot do what is asked. 501 · exit 1"""

    status = 501


class BrokenPlugin(Unsupported):
    """Raised when what a package declares in an entry-point group of Mason cannot be used. 501 · exit 1"""


class RoleNotFilled(Unsupported):
    """Raised when a configuration fills a role with no client and the operator needs one. 501 · exit 1"""


class MissingDependency(Unsupported):
    """Raised when a package that is needed is not installed. 501 · exit 1"""


class ClientFailed(MasonError):
    """Raised when a technology behind a client failed. 502 · exit 1"""

    status = 502


class StateFailed(MasonError):
    """Raised when Mason's own state cannot be read or written. 503 · exit 1"""

    status = 503
