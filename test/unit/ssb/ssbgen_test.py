"""The command line of ssbgen: files, streams, exit codes. Called by ctest with the program's path as its argument."""
from __future__ import annotations

import os
import signal
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = sys.argv.pop(1)
TABLES = ("lineorder", "date1", "customer", "supplier", "part")


def ssbgen(*options: str) -> subprocess.CompletedProcess:
    return subprocess.run([PROGRAM, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)


class SsbgenTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def generate(self, name: str, *options: str) -> Path:
        done = ssbgen("--scale", "0.01", "--batch-rows", "5000", "--out", str(self.folder / name), *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.folder / name

    def test_threads_do_not_change_a_byte(self):
        one, many = self.generate("one", "--threads", "1"), self.generate("many", "--threads", "7")
        self.assertEqual(sorted(path.name for path in one.iterdir()), sorted(f"{table}.arrow" for table in TABLES))
        for table in TABLES:
            content = (one / f"{table}.arrow").read_bytes()
            self.assertEqual(content[:6], b"ARROW1")
            self.assertEqual(content, (many / f"{table}.arrow").read_bytes(), table)

    def test_overwrites_only_by_force(self):
        folder = self.generate("data", "--tables", "supplier", "--seed", "1")
        before = (folder / "supplier.arrow").read_bytes()
        options = ("--scale", "0.01", "--out", str(folder), "--tables", "part,supplier", "--seed", "2")
        refused = ssbgen(*options)
        self.assertEqual(refused.returncode, 1)
        self.assertIn(b"exists", refused.stderr)
        self.assertEqual((folder / "supplier.arrow").read_bytes(), before)
        self.assertFalse((folder / "part.arrow").exists())
        self.assertEqual(ssbgen(*options, "-f").returncode, 0)
        self.assertNotEqual((folder / "supplier.arrow").read_bytes(), before)

    def test_copy_stream_is_whole(self):
        stream = ssbgen("--scale", "0.01", "--format", "copy", "--tables", "lineorder", "--batch-rows", "5000").stdout
        self.assertEqual(stream[:19], b"PGCOPY\n\xff\r\n\0" + bytes(8))
        at, rows = 19, 0
        while (fields := struct.unpack_from(">h", stream, at)[0]) != -1:
            self.assertEqual(fields, 17)
            at += 2
            for _ in range(fields):
                at += 4 + struct.unpack_from(">i", stream, at)[0]
            rows += 1
        self.assertEqual(at + 2, len(stream))
        self.assertTrue(58000 < rows < 62000, rows)

    def test_usage_errors(self):
        out = str(self.folder / "none")
        for options in (
            (), ("--out", out, "--scale", "0"), ("--out", out, "--scale", "-1"), ("--out", out, "--tables", "orders"),
            ("--out", out, "--threads", "0"), ("--format", "copy"), ("--format", "copy", "--tables", "part,date1"),
            ("--format", "copy", "--tables", "part", "--out", out), ("--format", "csv", "--out", out),
        ):  # fmt: skip
            done = ssbgen(*options)
            self.assertEqual(done.returncode, 2, options)
            self.assertTrue(done.stderr, options)
        self.assertFalse((self.folder / "none").exists())

    def test_unknown_option_names_the_nearest(self):
        done = ssbgen("--thread", "3")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr.decode().strip(), "ssbgen: unknown option --thread; did you mean --threads?")

    def test_output_that_cannot_be_made(self):
        (self.folder / "file").write_text("in the way")
        done = ssbgen("--scale", "0.01", "--out", str(self.folder / "file" / "below"))
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"cannot create", done.stderr)

    def writes_to_folder(self, pid):
        """Also to a file that has no name yet."""
        for link in Path(f"/proc/{pid}/fd").iterdir():
            try:
                if os.readlink(link).startswith(str(self.folder)):
                    return True
            except FileNotFoundError:  # closed meanwhile
                pass
        return False

    def test_interrupt_leaves_no_file(self):
        command = [PROGRAM, "--scale", "50", "--threads", "1", "--batch-rows", "20000", "--out", str(self.folder)]
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as running:
            while not self.writes_to_folder(running.pid):
                self.assertIsNone(running.poll())
            running.send_signal(signal.SIGINT)
            self.assertEqual(running.wait(timeout=60), 130)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_closed_pipe_ends_it_silently(self):
        command = [PROGRAM, "--scale", "1", "--format", "copy", "--tables", "lineorder"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
            running.stdout.read(100)
            running.stdout.close()
            self.assertEqual(running.stderr.read(), b"")
            self.assertEqual(running.wait(timeout=60), -signal.SIGPIPE)


if __name__ == "__main__":
    unittest.main()
