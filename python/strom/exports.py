"""Exports: memory that the server has filled with columns and that this process maps.

An identifier contains the name of the keeper's socket and a secret. The keeper sends the descriptor of a sealed memory
file. The file ends with a description of itself. docs/format/exports.md has the messages and the description."""
from __future__ import annotations

import array
import json
import mmap
import os
import re
import socket
import struct
from typing import Any, Optional

from .errors import ExportError, ExportGone

_IDENTIFIER = re.compile(r"strom1-([0-9a-f]{16})-([0-9a-f]{32})")
_ADDRESS = b"\0pg_strom-exports-"
_ADDRESS_BYTES = 108  # of struct sockaddr_un: the server pads the name with zeros
_PACKET = 32768
_TIMEOUT_S = 10.0
_MAGIC = b"STROMEX1"
_TRAILER = struct.Struct("<Q8s")

# NumPy's name of the values, by the name of the layout. Other layouts are read through Arrow.
_DTYPES = {
    "Int8": "i1", "Int16": "<i2", "Int32": "<i4", "Int64": "<i8", "UInt8": "u1", "UInt16": "<u2", "UInt32": "<u4",
    "UInt64": "<u8", "Float16": "<f2", "Float32": "<f4", "Float64": "<f8", "Date32": "<M8[D]",
}


def _numpy() -> Any:
    try:
        import numpy
    except ImportError as error:
        raise ImportError("exports as arrays need NumPy: install numpy (or python3-numpy)") from error
    return numpy


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError("exports as Arrow data need pyarrow: pip install pyarrow") from error
    return pyarrow


class _Lease:
    """The writing end of a pipe. The GPU service keeps an export's memory while any process holds it."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def __del__(self) -> None:
        os.close(self._descriptor)


class _OpenedMemory:
    """Memory of a GPU that another process owns. It stays open while anything refers to this object."""

    def __init__(self, runtime: Any, handle: bytes, device: int, lease: Optional[_Lease]) -> None:
        self._runtime, self._device, self._lease = runtime, device, lease
        # 1 is cudaIpcMemLazyEnablePeerAccess, the only flag that CUDA accepts. CUDA counts how often a process opens
        # the memory.
        self.address: int = runtime.ipcOpenMemHandle(handle, 1)

    def __del__(self) -> None:
        address = getattr(self, "address", None)
        if address is None:
            return
        before = self._runtime.getDevice()
        self._runtime.setDevice(self._device)
        self._runtime.ipcCloseMemHandle(address)
        self._runtime.setDevice(before)


class Column:
    """A column of an export.

    Attributes: name; sql_type, the server's name of its type; null_count; dtype, NumPy's name of the values' type or
    None."""

    def __init__(self, export: Export, facts: dict[str, Any]) -> None:
        self._export = export
        self._facts = facts
        self.name: str = facts["name"]
        self.sql_type: str = facts["sql_type"]
        self.null_count: int = facts["nulls"]
        self.dtype: Optional[str] = self._dtype()

    def _dtype(self) -> Optional[str]:
        layout = self._facts["layout"]
        if layout == "Timestamp" and not self._facts.get("timezone"):
            return f"<M8[{self._facts['unit']}]"
        if layout == "Bool" and self._export.form == "matrix":
            return "?"
        return _DTYPES.get(layout)

    def numpy(self) -> Any:
        """The values as a read-only numpy.ndarray of shape [rows], without a copy. Rows that are NULL have zeros, or
        the value of the option fill; null_mask() tells which rows these are. ExportError for types that NumPy does not
        have."""
        if self.dtype is None:
            raise ExportError(f'column "{self.name}" ({self.sql_type}) has no NumPy type; use arrow()')
        offset, _ = self._facts["values"]
        return _numpy().frombuffer(self._export._here(), dtype=self.dtype, count=self._export.rows, offset=offset)

    def cupy(self) -> Any:
        """The values as a cupy.ndarray of shape [rows], without a copy, if the export is in a GPU's memory. ExportError
        for types that NumPy does not have, and the errors of Export.cupy()."""
        if self.dtype is None:
            raise ExportError(f'column "{self.name}" ({self.sql_type}) has no NumPy type')
        if self.null_count:
            raise ExportError(f'column "{self.name}" has NULLs: export it with {{"nulls": "fill"}}')
        return self._export.device_array(self._export.rows, self.dtype, self._facts["values"][0])

    def null_mask(self) -> Any:
        """A numpy.ndarray of bool, shape [rows]: True where the row is NULL. None when no row is NULL, or NULLs were
        filled."""
        if "validity" not in self._facts:
            return None
        numpy = _numpy()
        offset, size = self._facts["validity"]
        bits = numpy.frombuffer(self._export._here(), dtype="u1", count=size, offset=offset)
        return numpy.unpackbits(bits, count=self._export.rows, bitorder="little") == 0

    def arrow(self) -> Any:
        """The column as pyarrow.Array, without a copy. Booleans of a matrix are copied, because they have bytes instead
        of bits."""
        pyarrow = _pyarrow()
        if self._facts["layout"] == "Bool" and self._export.form == "matrix":
            return pyarrow.array(self.numpy(), mask=self.null_mask())
        buffers = [self._buffer(name) for name in ("validity", "values", "texts") if name in self._facts or
                   name == "validity"]
        return pyarrow.Array.from_buffers(self._arrow_type(), self._export.rows, buffers, self.null_count)

    def _buffer(self, name: str) -> Any:
        if name not in self._facts:
            return None
        offset, size = self._facts[name]
        return self._export.arrow_buffer().slice(offset, size)

    def _arrow_type(self) -> Any:
        pyarrow, facts = _pyarrow(), self._facts
        layout = facts["layout"]
        simple = {
            "Bool": pyarrow.bool_, "Int8": pyarrow.int8, "Int16": pyarrow.int16, "Int32": pyarrow.int32,
            "Int64": pyarrow.int64, "UInt8": pyarrow.uint8, "UInt16": pyarrow.uint16, "UInt32": pyarrow.uint32,
            "UInt64": pyarrow.uint64, "Float16": pyarrow.float16, "Float32": pyarrow.float32,
            "Float64": pyarrow.float64, "Date32": pyarrow.date32, "Date64": pyarrow.date64,
            # Offsets in exports have 64 bits.
            "Utf8": pyarrow.large_utf8, "LargeUtf8": pyarrow.large_utf8, "Binary": pyarrow.large_binary,
            "LargeBinary": pyarrow.large_binary, "Interval(MonthDayNano)": pyarrow.month_day_nano_interval,
        }
        if layout in simple:
            return simple[layout]()
        if layout == "Timestamp":
            return pyarrow.timestamp(facts["unit"], facts.get("timezone"))
        if layout in ("Time32", "Time64"):
            return getattr(pyarrow, layout.lower())(facts["unit"])
        if layout in ("Decimal128", "Decimal256"):
            return getattr(pyarrow, layout.lower())(facts["precision"], facts["scale"])
        if layout == "FixedSizeBinary":
            return pyarrow.binary(facts["byte_width"])
        raise ExportError(f'column "{self.name}" has the layout {layout}, which this package does not know')


class Export:
    """Columns that the server has exported, mapped read-only. They stay valid and unchanged while anything refers to
    them, even if the server drops the export or restarts.

    Attributes: form, "matrix", "columns" or "stream"; rows; columns, a list of Column (empty for a stream); memory, the
    mapping; device, None unless the export is in a GPU's memory: then its number, its address on the PCI bus, the
    number of bytes, and CUDA's handle."""

    def __init__(self, descriptor: int, lease: Optional[_Lease] = None) -> None:
        self.lease = lease
        size = os.fstat(descriptor).st_size
        if size < _TRAILER.size:
            raise ExportError("not an export: it is too short")
        self.memory = mmap.mmap(descriptor, size, mmap.MAP_SHARED, mmap.PROT_READ)
        length, magic = _TRAILER.unpack_from(self.memory, size - _TRAILER.size)
        if magic != _MAGIC or length > size - _TRAILER.size:
            raise ExportError("not an export of a version that this package knows")
        begin = size - _TRAILER.size - length
        facts = json.loads(self.memory[begin:begin + length])
        self.form: str = facts["form"]
        self.rows: int = facts["rows"]
        self.device: Optional[dict[str, Any]] = facts.get("device")
        self.columns = [Column(self, column) for column in facts["columns"]]
        self._arrow: Any = None
        self._cupy: Any = None

    def column(self, name: str) -> Column:
        """The column with that name. ExportError if there is none."""
        for column in self.columns:
            if column.name == name:
                return column
        raise ExportError(f'the export has no column "{name}"; it has {", ".join(c.name for c in self.columns)}')

    def _here(self) -> Any:
        """The mapping. ExportError if the columns are in a GPU's memory."""
        if self.device is not None:
            raise ExportError(f"the export is in the memory of GPU {self.device['number']}: use cupy() or "
                              "cupy_strom.ipc_import(), which need CuPy, or export to the server's memory (GPU -1)")
        return self.memory

    def cupy(self) -> Any:
        """A matrix in a GPU's memory as cupy.ndarray of shape [columns, rows], without a copy. The memory stays valid
        while the array exists. Do not write to it: others read it as well. ExportError if the columns are not in a
        GPU's memory, have NULLs, or are on a GPU that this process does not see. ImportError if CuPy is not
        installed."""
        if self.form != "matrix":
            raise ExportError('the export is no matrix: it was made with {"form": "columns"}')
        if any(column.null_count for column in self.columns):
            raise ExportError('a matrix with NULLs is no array of CuPy: export it with {"nulls": "fill"}')
        return self.device_array((len(self.columns), self.rows), self.columns[0].dtype, 0)

    def device_array(self, shape: Any, dtype: Any, offset: int) -> Any:
        """A cupy.ndarray of the memory at `offset` (in bytes), opened by CUDA IPC. Errors as for cupy()."""
        if self.device is None:
            raise ExportError("the export is in the server's memory: use matrix() or numpy()")
        try:
            import cupy
        except ImportError as error:
            raise ImportError("exports in a GPU's memory need CuPy: install cupy-cuda12x") from error
        runtime = cupy.cuda.runtime
        try:
            number = runtime.deviceGetByPCIBusId(self.device["address"])
        except Exception as error:
            raise ExportError(f"this process does not see the export's GPU ({self.device['address']}); see "
                              "CUDA_VISIBLE_DEVICES") from error
        with cupy.cuda.Device(number):
            opened = _OpenedMemory(runtime, bytes.fromhex(self.device["handle"]), number, self.lease)
            memory = cupy.cuda.UnownedMemory(opened.address, self.device["bytes"], opened, number)
            return cupy.ndarray(shape, dtype=dtype, memptr=cupy.cuda.MemoryPointer(memory, offset))

    def matrix(self) -> Any:
        """A matrix as numpy.ndarray of shape [columns, rows], C-contiguous, read-only, without a copy. If it has
        bitmaps of NULLs, the result is a numpy.ma.MaskedArray. ExportError for an export that is not a matrix."""
        if self.form != "matrix":
            raise ExportError('the export is no matrix: it was made with {"form": "columns"}')
        numpy = _numpy()
        shape = (len(self.columns), self.rows)
        values = numpy.frombuffer(self._here(), dtype=self.columns[0].dtype, count=shape[0] * shape[1]).reshape(shape)
        if not any(column.null_count for column in self.columns):
            return values
        mask = numpy.zeros(shape, dtype=bool)
        for row, column in enumerate(self.columns):
            nulls = column.null_mask()
            if nulls is not None:
                mask[row] = nulls
        return numpy.ma.MaskedArray(values, mask)

    def reader(self) -> Any:
        """The record batches of a stream as pyarrow.RecordBatchReader, without copies. ExportError for other forms."""
        if self.form != "stream":
            raise ExportError('the export is no stream: it was not made with {"form": "stream"}')
        return _pyarrow().ipc.open_stream(self.arrow_buffer())

    def arrow(self) -> Any:
        """All columns without a copy: a pyarrow.Table for a stream, a pyarrow.RecordBatch for other forms. polars,
        DuckDB and pandas accept it directly."""
        if self.form == "stream":
            return self.reader().read_all()
        pyarrow = _pyarrow()
        return pyarrow.RecordBatch.from_arrays([column.arrow() for column in self.columns],
                                               [column.name for column in self.columns])

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
        """Arrow's C data interface: a struct of the columns. A stream has __arrow_c_stream__() instead."""
        if self.form == "stream":
            raise ExportError("the export is a stream: use __arrow_c_stream__() or arrow()")
        return self.arrow().__arrow_c_array__(requested_schema)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Arrow's C stream interface: the record batches of a stream, or the only one of other forms."""
        pyarrow = _pyarrow()
        found = self.arrow()
        table = found if self.form == "stream" else pyarrow.Table.from_batches([found])
        return table.__arrow_c_stream__(requested_schema)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        array_ = self.matrix()
        return array_ if dtype is None else array_.astype(dtype)

    @property
    def __array_interface__(self) -> Any:
        """NumPy's interface, for a matrix without NULLs in the server's memory; other exports do not have it."""
        if self.form != "matrix" or self.device is not None or any(column.null_count for column in self.columns):
            raise AttributeError("__array_interface__")
        return self.matrix().__array_interface__

    @property
    def __cuda_array_interface__(self) -> Any:
        """CUDA's interface, for a matrix without NULLs in a GPU's memory; other exports do not have it."""
        if self.form != "matrix" or self.device is None or any(column.null_count for column in self.columns):
            raise AttributeError("__cuda_array_interface__")
        if self._cupy is None:  # the interface is an address: keeps the memory open as long as the export
            self._cupy = self.cupy()
        return self._cupy.__cuda_array_interface__

    def _array(self) -> Any:
        return self.matrix() if self.device is None else self.cupy()

    def __dlpack__(self, **arguments: Any) -> Any:
        """DLPack for a matrix. It is read-only, which DLPack can express since version 1.0. Older consumers get NumPy's
        BufferError."""
        return self._array().__dlpack__(**arguments)

    def __dlpack_device__(self) -> Any:
        return self._array().__dlpack_device__()

    def arrow_buffer(self) -> Any:
        """All bytes as pyarrow.Buffer."""
        if self._arrow is None:
            self._arrow = _pyarrow().py_buffer(self._here())
        return self._arrow

    def __repr__(self) -> str:
        return f"<strom.Export: {self.form}, {len(self.columns)} columns, {self.rows} rows>"


def _receive(keeper: str, secret: str) -> list[int]:
    """The descriptor of an export's file, followed by that of the lease if the export is in a GPU's memory."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as link:
        link.settimeout(_TIMEOUT_S)
        try:
            link.connect((_ADDRESS + keeper.encode()).ljust(_ADDRESS_BYTES, b"\0"))
        except OSError as error:
            raise ExportGone("no server of this machine has the export: its server has restarted or stopped, or it is "
                             "one of another machine") from error
        link.send(b"G" + secret.encode())
        reply, ancillary, _, _ = link.recvmsg(_PACKET, socket.CMSG_SPACE(2 * struct.calcsize("i")),
                                              socket.MSG_CMSG_CLOEXEC)
    descriptors = array.array("i")
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            descriptors.frombytes(data[:len(data) - len(data) % descriptors.itemsize])
    if reply[:1] == b"K" and len(descriptors) in (1, 2):
        return list(descriptors)
    for descriptor in descriptors:
        os.close(descriptor)
    if reply[:1] == b"N":
        raise ExportGone("the export has been dropped, or the session that made it has ended; "
                         "pgstrom.arrow_fdw_export_cupy_pinned() makes one that stays")
    raise ExportError("the server does not know what this package asks of it: their versions differ")


def open_export(identifier: str) -> Export:
    """Maps the export with this identifier, which pgstrom.export_query() or pgstrom.arrow_fdw_export_cupy() has
    returned.

    ExportError: the identifier is invalid. ExportGone: the export does not exist any more."""
    parts = _IDENTIFIER.fullmatch(identifier) if isinstance(identifier, str) else None
    if parts is None:
        raise ExportError(f"not the identifier of an export: {identifier!r}")
    descriptor, *leases = _receive(parts[1], parts[2])
    try:
        return Export(descriptor, *(_Lease(lease) for lease in leases))
    finally:
        os.close(descriptor)
