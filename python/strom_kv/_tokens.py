"""Gets sockets and tokens from a session of PostgreSQL."""
from __future__ import annotations

from typing import Any, Callable, Tuple

Token = Tuple[str, str]


def token_source(database: Any, function: str, table: str) -> Callable[[], Token]:
    """`database`: a psycopg connection, or the argument to make one. Each call returns a new token."""
    statement = f"SELECT socket, token FROM pgstrom.{function}(%s::regclass)"

    def ask() -> Token:
        if hasattr(database, "execute"):
            return tuple(database.execute(statement, (table,)).fetchone())
        try:
            import psycopg
        except ImportError as error:
            raise ImportError("this needs psycopg: pip install 'psycopg[binary]'. Without it, Table.from_token() and "
                              "Session.from_token() take a socket and a token") from error
        with psycopg.connect(database, autocommit=True) as connection:
            return tuple(connection.execute(statement, (table,)).fetchone())

    return ask
