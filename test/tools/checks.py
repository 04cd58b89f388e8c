"""What the tests of the command-line tools share: counted checks, running a tool, folders. The server is the tests' own,
as in test/tap/server.py."""
import contextlib
import os
import pathlib
import signal
import subprocess
import sys

import pyarrow.ipc as ipc

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "tap"))

from server import BUILD_DIR, folder, fresh_database, psql, query, wait_until  # noqa: E402,F401

_passed = 0
_failed = 0


def ok(condition, name, *remarks):
    global _passed, _failed
    if condition:
        _passed += 1
        return True
    _failed += 1
    print("not ok - " + name, flush=True)
    for remark in remarks:
        print("    " + str(remark)[:1000].replace("\n", "\n    "), flush=True)
    return False


def equal(found, wanted, name):
    return ok(found == wanted, name, f"found:  {found!r}", f"wanted: {wanted!r}")


def raises(action, kind, text, name):
    """`action` raises an error of that kind, which says `text`."""
    try:
        action()
    except kind as error:
        ok(text in str(error), name, error)
    else:
        ok(False, name, "no error")


def done():
    print(f"{_passed} passed, {_failed} failed", flush=True)
    sys.exit(1 if _failed else 0)


def write_batches(path, batches, schema=None):
    """An Arrow file; `schema` where there are no batches."""
    with ipc.new_file(path, batches[0].schema if batches else schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return path


def program(name):
    """Path of a tool in the build folder."""
    for path in (BUILD_DIR / "tools" / name / name, BUILD_DIR / "test" / "unit" / "tools" / name):
        if path.exists():
            return path
    raise RuntimeError(f"{name} is not built in {BUILD_DIR}")


def run(name, *arguments, env=None, timeout=120, binary=False, **options):
    """(exit status, standard output, standard error) of a tool."""
    result = subprocess.run([program(name), *map(str, arguments)], capture_output=True, timeout=timeout,
                            env={**os.environ, **(env or {})}, **options)
    out = result.stdout if binary else result.stdout.decode("utf-8", "replace")
    return result.returncode, out, result.stderr.decode("utf-8", "replace")


def start(name, *arguments, **options):
    """A tool that runs beside the test. Signals are as in a terminal, even if the tests run in the background."""
    return subprocess.Popen([program(name), *map(str, arguments)], text=True, **{"stderr": subprocess.PIPE, **options},
                            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))


@contextlib.contextmanager
def small_disk(path, size):
    """A new folder on a disk of its own. As root only."""
    path.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", path], check=True)
    try:
        yield path
    finally:
        subprocess.run(["umount", path], check=True)


def fill(path):
    """Writes a file until its disk is full."""
    try:
        with open(path, "wb", buffering=0) as file:
            while file.write(bytes(4096)):
                pass
    except OSError as error:
        ok("No space" in str(error), "the disk is full")


def leftovers(path):
    """Temporary files of a folder."""
    return sorted(p.name for p in pathlib.Path(path).iterdir() if p.name.endswith(".tmp"))


def writes_into(process, path):
    """Whether a process has a file of a folder open for writing, with a name or without one."""
    files = pathlib.Path(f"/proc/{process.pid}")
    try:
        for fd in os.listdir(files / "fd"):
            mode = (files / "fdinfo" / fd).read_text().split("flags:")[1].split()[0]
            if int(mode, 8) & 3 and os.readlink(files / "fd" / fd).startswith(f"{path}/"):
                return True
    except FileNotFoundError:  # a descriptor was closed, or the process has ended
        pass
    return False
