"""Gets sockets and tokens from a session of PostgreSQL."""
from __future__ import annotations

from typing import Any, Callable, NamedTuple

from ._encodings import UTF8, Encoding, encoding_of


class Token(NamedTuple):
    """`encoding`: of the database's text."""

    socket: str
    token: str
    encoding: Encoding = UTF8


def token_source(database: Any, function: str, table: str) -> Callable[[], Token]:
    """`database`: a psycopg connection, or the argument to make one. Each call returns a new token."""
    statement = f"SELECT socket, token, current_setting('server_encoding') FROM pgstrom.{function}(%s::regclass)"

    def ask_by(connection: Any) -> Token:
        found = connection.execute(statement, (table,)).fetchone()
        # psycopg leaves text of a database in SQL_ASCII as bytes.
        socket, token, encoding = (value.decode() if isinstance(value, bytes) else value for value in found)
        return Token(socket, token, encoding_of(encoding))

    def ask() -> Token:
        if hasattr(database, "execute"):
            return ask_by(database)
        try:
            import psycopg
        except ImportError as error:
            raise ImportError("this needs psycopg: pip install 'psycopg[binary]'. Without it, Table.from_token() and "
                              "Session.from_token() take a socket and a token") from error
        with psycopg.connect(database, autocommit=True) as connection:
            return ask_by(connection)

    return ask
