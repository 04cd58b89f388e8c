"""libstromkv by ctypes: the structures and functions of stromkv.h."""
from __future__ import annotations

import ctypes
import ctypes.util
import os
import re
from typing import Any, Optional

from .errors import BY_STATUS, StoreError

OK, NOT_FOUND, MOVED = 0, 1, 2
NULL, STORED, TEXT = 0, 1, 2

_ERROR_BYTES = 1024


class Key(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("bytes", ctypes.c_size_t)]


class Row(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("key", Key), ("data", ctypes.c_void_p), ("bytes", ctypes.c_size_t),
                ("generation", ctypes.c_uint32), ("form", ctypes.c_uint32)]


class Value(ctypes.Structure):
    _fields_ = [("form", ctypes.c_int), ("data", ctypes.c_char_p), ("bytes", ctypes.c_size_t)]


class Column(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("type", ctypes.c_char_p), ("type_id", ctypes.c_uint32),
                ("width", ctypes.c_uint32)]


class ReaderStatistics(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("gets", "bucket_reads", "record_reads", "retries")]


class ServerStatistics(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("rows", "clients", "operations", "groups", "failures")]


_library: Optional[Any] = None


def library() -> Any:
    """The library, from STROMKV_LIBRARY or where the system finds it."""
    global _library
    if _library is None:
        _library = _load()
    return _library


def _load() -> Any:
    path = os.environ.get("STROMKV_LIBRARY") or ctypes.util.find_library("stromkv") or "libstromkv.so.0"
    try:
        loaded = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError("libstromkv is not found. It is installed with pg_strom; set STROMKV_LIBRARY to the path of "
                          f"libstromkv.so where the system does not look ({error})") from error
    loaded.stromkv_status_text.restype = ctypes.c_char_p
    loaded.stromkv_session_error.restype = ctypes.c_char_p
    for name in ("stromkv_column_count", "stromkv_key_column", "stromkv_session_column_count", "stromkv_session_key_column"):
        getattr(loaded, name).restype = ctypes.c_size_t
    for name in ("stromkv_column_at", "stromkv_session_column_at"):
        getattr(loaded, name).restype = ctypes.POINTER(Column)
        getattr(loaded, name).argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    loaded.stromkv_row_count.restype = ctypes.c_uint64
    loaded.stromkv_get_many.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
    loaded.stromkv_session_get_many.argtypes = loaded.stromkv_get_many.argtypes
    return loaded


def failure(status: int, message: str = "") -> StoreError:
    """The error for a status. `message`: the server's message, followed by its SQLSTATE in brackets."""
    said = message or library().stromkv_status_text(status).decode()
    found = re.fullmatch(r"(.*) \(([0-9A-Z]{5})\)", said, re.DOTALL)
    text, state = found.groups() if found else (said, "")
    return BY_STATUS.get(status, StoreError)(text, status, state)


def opened(name: str, *arguments: Any) -> ctypes.c_void_p:
    """Calls a function of the library whose last arguments are a pointer to its result and a buffer for errors."""
    made, error = ctypes.c_void_p(), ctypes.create_string_buffer(_ERROR_BYTES)
    status = getattr(library(), name)(*arguments, ctypes.byref(made), error, ctypes.c_size_t(_ERROR_BYTES))
    if status != OK:
        raise failure(status, error.value.decode(errors="replace"))
    return made
