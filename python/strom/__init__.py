"""Results and tables of PostgreSQL with pg_strom, without a copy of each value.

    import strom
    with strom.connect("dbname=postgres") as session:
        table = session.query("SELECT * FROM orders").read_all()    # pyarrow.Table

    export = strom.open_export(identifier)    # of pgstrom.export_query() or pgstrom.arrow_fdw_export_cupy()
    export.matrix()                           # numpy.ndarray, read-only, of the server's own memory
"""
from .errors import ExportError, ExportGone, StromError
from .exports import Column, Export, open_export
from .session import Session, connect

__all__ = ["Column", "Export", "ExportError", "ExportGone", "Session", "StromError", "connect", "open_export"]
__version__ = "1.0"
