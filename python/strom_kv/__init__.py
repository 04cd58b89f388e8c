"""Store tables of pg_strom from Python: reads rows by key from memory shared with the server, and changes them by
messages.

    with strom_kv.attach("dbname=postgres", "positions") as table:
        table.get(4711)                        # {"dev_id": 4711, "x": 3.5, "y": 7.0}, or None
        table.mget([1, 2, 3], form="arrow")    # a pyarrow.RecordBatch

    with strom_kv.session("dbname=postgres", "positions") as session:
        session.put({"dev_id": 4711, "x": 3.5, "y": 7})

docs/user/store.md explains what the server does. The program runs on the server's machine."""
from __future__ import annotations

from .errors import (BadValue, Busy, Conflict, ConstraintViolation, Corrupt, Denied, Dropped, Full, Moved, Refused, Silent,
                     StoreError, TooLarge, Unreachable, Unstable, Unsupported)
from .messages import Session, session
from .region import Table, attach

__all__ = ["BadValue", "Busy", "Conflict", "ConstraintViolation", "Corrupt", "Denied", "Dropped", "Full", "Moved", "Refused",
           "Session", "Silent", "StoreError", "Table", "TooLarge", "Unreachable", "Unstable", "Unsupported", "attach", "session"]
