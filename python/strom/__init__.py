"""Results and tables of PostgreSQL with pg_strom, without a copy of each value.

    import strom
    with strom.connect("dbname=postgres") as session:
        table = session.query("SELECT * FROM orders").read_all()    # pyarrow.Table

    export = strom.open_export(identifier)    # of pgstrom.export_query() or pgstrom.arrow_fdw_export_cupy()
    export.matrix()                           # numpy.ndarray, read-only, of the server's own memory
"""
from .errors import ExportError, ExportGone, StromError
from .exports import Column, Export, open_export
from .plans import Plan
from .server_side import ServerSession, here
from .session import Result, Session, connect, plan, write

__all__ = ["Column", "Export", "ExportError", "ExportGone", "Plan", "Result", "ServerSession", "Session", "StromError",
           "connect", "here", "open_export", "plan", "write"]
__version__ = "1.0"


def load_ipython_extension(shell: object) -> None:
    """%load_ext strom"""
    from .notebook import load_ipython_extension as load

    load(shell)
