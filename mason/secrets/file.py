"""Secrets in files, as containers get them: `{{secret:file:/run/secrets/warehouse}}`."""

from __future__ import annotations

from pathlib import Path

from mason.errors import Forbidden, NotFound, Unprocessable

_LARGEST = 64 * 1024


def read_secret(place: str) -> str:
    """Return what a file holds, without the line end that editors leave behind.

    Raises:
        NotFound: there is no such file.
        Forbidden: it may not be read.
        Unprocessable: it is not text, or too large to be a secret.
    """
    file = Path(place).expanduser()
    try:
        with file.open("rb") as opened:
            content = opened.read(_LARGEST + 1)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise NotFound(f"there is no file {file}.") from error
    except PermissionError as error:
        raise Forbidden(f"{file} may not be read: permission denied.") from error
    except OSError as error:
        raise Unprocessable(f"{file}: {error.strerror}.") from error
    if len(content) > _LARGEST:
        raise Unprocessable(f"{file} is larger than {_LARGEST // 1024} KiB.")
    try:
        return content.decode("utf-8").removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError as error:
        raise Unprocessable(f"{file} is not UTF-8 text.") from error
