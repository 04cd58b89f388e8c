"""A double of CuPy for exports in the memory of test/modules/host_device.cpp: it opens handles as CUDA does, counted, and
its arrays refer to memory by address. It has what python/strom uses, and nothing else."""
import ctypes
import mmap
import os
import sys
import types

import numpy

_maps = {}  # handle: [mapping, how often it is opened]
_state = {"device": 0, "visible": True}


class _Runtime:
    @staticmethod
    def getDeviceCount():
        return 2

    @staticmethod
    def getDevice():
        return _state["device"]

    @staticmethod
    def setDevice(number):
        _state["device"] = number

    @staticmethod
    def deviceGetByPCIBusId(address):
        if not _state["visible"]:
            raise RuntimeError("cudaErrorInvalidDevice")
        return int(address.split(":")[1], 16)

    @staticmethod
    def ipcOpenMemHandle(handle, flags):
        if len(handle) != 64 or flags != 1:
            raise RuntimeError("cudaErrorInvalidValue")
        if handle not in _maps:
            descriptor = os.open(handle.rstrip(b"\0"), os.O_RDWR)
            _maps[handle] = [mmap.mmap(descriptor, 0), 0]
            os.close(descriptor)
        _maps[handle][1] += 1
        return ctypes.addressof(ctypes.c_char.from_buffer(_maps[handle][0]))

    @staticmethod
    def ipcCloseMemHandle(address):
        for handle, entry in list(_maps.items()):
            if ctypes.addressof(ctypes.c_char.from_buffer(entry[0])) == address:
                entry[1] -= 1
                if entry[1] == 0:
                    del _maps[handle]
                return
        raise RuntimeError("cudaErrorInvalidValue")


class _Device:
    def __init__(self, number):
        self.number = number

    def __enter__(self):
        self.before, _state["device"] = _state["device"], self.number

    def __exit__(self, *_):
        _state["device"] = self.before


class _UnownedMemory:
    def __init__(self, address, size, owner, device_id):
        self.address, self.size, self.owner, self.device_id = address, size, owner, device_id


class _MemoryPointer:
    def __init__(self, memory, offset):
        self.memory, self.offset = memory, offset


class _Array:
    """cupy.ndarray; numpy() copies it to the host."""

    def __init__(self, shape, dtype, memptr):
        self.shape, self.dtype, self.memptr = shape, numpy.dtype(dtype), memptr

    @property
    def __cuda_array_interface__(self):
        return {"shape": self.shape, "typestr": self.dtype.str, "data": (self.memptr.memory.address + self.memptr.offset, False), "version": 3}

    def numpy(self):
        size = int(numpy.prod(self.shape)) * self.dtype.itemsize
        memory = self.memptr.memory
        if self.memptr.offset + size > memory.size:
            raise RuntimeError("outside of the memory")
        return numpy.frombuffer(ctypes.string_at(memory.address + self.memptr.offset, size), self.dtype).reshape(self.shape)


def install():
    """`import cupy` finds the double from now on."""
    module = types.ModuleType("cupy")
    module.ndarray = _Array
    module.cuda = types.SimpleNamespace(runtime=_Runtime, Device=_Device, UnownedMemory=_UnownedMemory, MemoryPointer=_MemoryPointer)
    sys.modules["cupy"] = module


def hide_devices():
    _state["visible"] = False


def show_devices():
    _state["visible"] = True


def opened():
    """Memory that is opened now."""
    return len(_maps)
