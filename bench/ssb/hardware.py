"""Describes the machine on which a benchmark ran."""
from __future__ import annotations

import os
import platform
import re
from pathlib import Path
from typing import Dict


def _first(pattern: str, path: str) -> str:
    try:
        found = re.search(pattern, Path(path).read_text(), re.MULTILINE)
    except OSError:
        return ""
    return found.group(1).strip() if found else ""


def _vector_level() -> str:
    flags = set(_first(r"^flags\s*:(.*)$", "/proc/cpuinfo").split())
    for level, needed in (("AVX-512", "avx512bw"), ("AVX2", "avx2"), ("SSE4.2", "sse4_2")):
        if needed in flags:
            return level
    return "NEON" if platform.machine() in ("aarch64", "arm64") else ""


def describe() -> Dict[str, object]:
    kilobytes = _first(r"^MemTotal:\s*(\d+)", "/proc/meminfo")
    return {
        "cpu": _first(r"^model name\s*:(.*)$", "/proc/cpuinfo") or platform.processor() or platform.machine(),
        "vector_level": _vector_level(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gb": round(int(kilobytes) / 1024 / 1024, 1) if kilobytes else None,
        "virtual_machine": "hypervisor" in _first(r"^flags\s*:(.*)$", "/proc/cpuinfo").split(),
        "kernel": re.match(r"[\d.]*\d", platform.release()).group(),  # without the builder's suffix
        "os": _first(r'^PRETTY_NAME="?([^"\n]*)', "/etc/os-release"),
        "python": platform.python_version(),
    }


def summary(machine: Dict[str, object]) -> str:
    kind = " (virtual machine)" if machine["virtual_machine"] else ""
    return (
        f"{machine['cpu']}, {machine['cores']} cores{kind}, {machine['vector_level']}, "
        f"{machine['memory_gb']} GB memory, {machine['os']}, Linux {machine['kernel']}"
    )
