"""libstromkv by ctypes, as its tests use it. Used by strom_kv.py, strom_kv_messages.py and strom_kv_tcp.py."""
import ctypes

from checks import BUILD_DIR, equal

library = ctypes.CDLL(BUILD_DIR / "src/kv/libstromkv.so")
library.stromkv_session_error.restype = ctypes.c_char_p


class Key(ctypes.Structure):
    _fields_ = (("data", ctypes.c_char_p), ("bytes", ctypes.c_size_t))


class Row(ctypes.Structure):
    _fields_ = (("status", ctypes.c_int), ("key", Key), ("data", ctypes.c_void_p), ("bytes", ctypes.c_size_t), ("generation", ctypes.c_uint32), ("form", ctypes.c_uint32))


class Field(ctypes.Structure):
    _fields_ = (("data", ctypes.c_void_p), ("bytes", ctypes.c_size_t))


def fields_of(call, owner, count, row):
    """The stored values of a row; None for NULL."""
    fields = (Field * count)()
    equal(call(owner, ctypes.byref(row), fields), 0, "a row is taken apart")
    return [None if field.data is None else ctypes.string_at(field.data, field.bytes) for field in fields]
