"""Mason: data operators that do the same sensible thing whichever technologies stand behind them.

From Python: `m = mason.connect()`, then `m.operator("table", "get", database_name="shop", table_name="orders")`.
"""

from __future__ import annotations

__version__ = "0.1.0"

TYPE_CHECKING = False  # as typing has it, which a command that prints its version need not import
if TYPE_CHECKING:
    from mason.connection.connection import Connection


def connect(
    url: str = "", *, token: str = "", config: str = "", progress: bool | None = None, ca_file: str = ""
) -> Connection:
    """Return Mason as Python code uses it: in this process, or at the server with this address.

    Args:
        url: where `mason run` listens, as in `http://127.0.0.1:5000`; nothing for this process.
        token: of the server's; MASON_TOKEN by default.
        config: the configuration of calls that name none; the current one by default.
        progress: whether to tell how far calls are; by default in notebooks only.
        ca_file: a file of certificates to trust, for a server with one of its own.

    Raises:
        BadInput: that is not an address.
        MissingDependency: a server takes the package httpx.
    """
    from mason.connection.connect import open_connection  # who does not connect does not pay for it

    return open_connection(url, token=token, config=config, progress=progress, ca_file=ca_file)
