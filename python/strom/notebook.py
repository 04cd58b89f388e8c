"""Magics of IPython and Jupyter: %load_ext strom, then

    %strom dbname=postgres          the session of this notebook
    %%strom [--plan] [--df] [NAME]  a cell of SQL: a pyarrow.Table, also as the variable NAME
"""
from __future__ import annotations

import shlex
import time
from typing import Any, Optional

from .errors import StromError
from .session import Session, connect

_session: Optional[Session] = None
_REPORT_S = 0.5  # between two reports of progress


def session() -> Session:
    """The notebook's session. If %strom has not made one, connects by libpq's environment variables."""
    global _session
    if _session is None or _session.connection.closed:
        _session = connect()
    return _session


class _Progress:
    """One line below the cell that shows how much has arrived."""

    def __init__(self) -> None:
        self._begin = self._last = time.monotonic()
        self._display: Any = None

    def __call__(self, count: int) -> None:
        now = time.monotonic()
        if now - self._last < _REPORT_S:
            return
        from IPython.display import Pretty, display

        self._last = now
        seconds = now - self._begin
        text = Pretty(f"{count / 1e6:.0f} MB, {count / 1e6 / seconds:.0f} MB/s, {seconds:.0f} s")
        if self._display is None:
            self._display = display(text, display_id=True)
        else:
            self._display.update(text)


def _strom(line: str, cell: Optional[str] = None, shell: Any = None) -> Any:
    global _session
    if cell is None:
        if _session is not None:
            _session.close()
        _session = connect(line.strip())
        return None
    words = shlex.split(line)
    options = {word for word in words if word.startswith("--")}
    names = [word for word in words if not word.startswith("--")]
    if options - {"--plan", "--df"} or len(names) > 1:
        raise StromError("usage: %%strom [--plan] [--df] [NAME]")
    at = session()
    if "--plan" in options:
        from IPython.display import display

        display(at.plan(cell))
    table = at.query(cell, progress=_Progress()).read_all()
    result = table.to_pandas() if "--df" in options else table
    if names and shell is not None:
        shell.user_ns[names[0]] = result
        return None
    return result


def load_ipython_extension(shell: Any) -> None:
    """Registers the magics."""

    def strom(line: str, cell: Optional[str] = None) -> Any:
        return _strom(line, cell, shell)

    shell.register_magic_function(strom, magic_kind="line_cell", magic_name="strom")
