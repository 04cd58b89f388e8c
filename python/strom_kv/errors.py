"""One error class for each status of libstromkv that a program may want to distinguish."""
from __future__ import annotations

from typing import Dict, Type


class StoreError(Exception):
    """`status` is libstromkv's number (stromkv.h); `sqlstate` is the server's five-character code, or empty."""

    status = 0

    def __init__(self, message: str, status: int = 0, sqlstate: str = "") -> None:
        super().__init__(message)
        self.status = status or self.status
        self.sqlstate = sqlstate


class Moved(StoreError):
    """Another region has replaced this one: attach again."""

    status = 2


class Dropped(StoreError):
    """The table is gone, or has no published region any more."""

    status = 3


class Silent(StoreError):
    """The server has shown no sign of life for a while."""

    status = 4


class Unstable(StoreError):
    """The row changed during every attempt to read it: try again later."""

    status = 5


class Refused(StoreError):
    """The token is unknown, used up or expired."""

    status = 6


class Corrupt(StoreError):
    """The region is damaged."""

    status = 7


class Unsupported(StoreError):
    """The library does not know the version of the region or server, or does not support the table."""

    status = 8


class Unreachable(StoreError):
    """The socket cannot be reached, or the region cannot be mapped. It is unknown whether a change was made."""

    status = 9


class Conflict(StoreError):
    """The row has another generation."""

    status = 12


class Denied(StoreError):
    """The role lacks the right."""

    status = 13


class Busy(StoreError):
    """Another transaction has locked the row or the table: try again."""

    status = 14


class Full(StoreError):
    """The table, its memory or its log has no room."""

    status = 15


class ConstraintViolation(StoreError):
    """The row violates a constraint of the table."""

    status = 16


class BadValue(StoreError):
    """A value is invalid for its column's type."""

    status = 17


class TooLarge(StoreError):
    """The rows of one mget() do not fit in one answer, of 16 MB: ask for fewer keys at a time."""

    status = 19


BY_STATUS: Dict[int, Type[StoreError]] = {
    kind.status: kind
    for kind in (Moved, Dropped, Silent, Unstable, Refused, Corrupt, Unsupported, Unreachable, Conflict, Denied, Busy,
                 Full, ConstraintViolation, BadValue, TooLarge)
}
