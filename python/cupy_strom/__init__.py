"""Arrays that pgstrom.arrow_fdw_export_cupy() has exported, for PL/Python functions and for programs.

    X = cupy_strom.ipc_import(identifier)    # shape [columns, rows]

With CuPy and a GPU the array is a cupy.ndarray, else a numpy.ndarray.
"""
from __future__ import annotations

from typing import Any

from strom.exports import open_export

__all__ = ["ipc_import"]


def ipc_import(identifier: str) -> Any:
    """The matrix of an export. Errors: strom.ExportError, strom.ExportGone; ImportError if the export is in a GPU's
    memory and CuPy is not installed.

    A numpy.ndarray is a read-only view of the server's memory. For an export in a GPU's memory, the cupy.ndarray is
    that memory, by CUDA IPC, on the same GPU: do not write to it. For an export in the server's memory, the
    cupy.ndarray is a copy on the current GPU."""
    export = open_export(identifier)
    if export.device is not None:
        return export.cupy()
    matrix = export.matrix()
    try:
        import cupy

        if cupy.cuda.runtime.getDeviceCount() == 0:
            return matrix
    except Exception:  # CuPy is missing or finds no driver; the error depends on CuPy's version
        return matrix
    return cupy.asarray(matrix)
