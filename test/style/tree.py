"""The files that the gates look at, and what a gate reports."""
import dataclasses
import pathlib
import subprocess

CPP = (".cpp", ".hpp", ".h", ".cu", ".cuh")


@dataclasses.dataclass(frozen=True)
class Violation:
    """What a gate found. `subject` names it in exceptions.txt; `value` is what a limit is compared with."""
    gate: str
    subject: str
    text: str
    value: int = 1


class Tree:
    """A checkout: the files that git tracks or would track. Without git, all files outside of ignored folders."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.has_git = (self.root / ".git").exists()
        self._paths = self._from_git() if self.has_git else self._from_disk()

    def _from_git(self):
        listed = self.git("ls-files", "--cached", "--others", "--exclude-standard")
        return sorted(path for path in set(listed.splitlines()) if (self.root / path).is_file())

    def _from_disk(self):
        found = []
        for path in self.root.rglob("*"):
            name = path.relative_to(self.root).as_posix()
            if path.is_file() and not name.startswith(("build", ".strom/", "results/")) and "__pycache__" not in name:
                found.append(name)
        return sorted(found)

    def git(self, *arguments):
        done = subprocess.run(["git", "-C", self.root, *arguments], capture_output=True, text=True, errors="replace",
                              check=True)
        return done.stdout

    def base(self):
        """The commit since which commits and changed lines are looked at."""
        return self.read("test/style/base.txt").strip()

    def has_commit(self, name):
        """Whether it is in the history of what is checked out."""
        return self.has_git and subprocess.run(["git", "-C", self.root, "merge-base", "--is-ancestor", name, "HEAD"],
                                               capture_output=True).returncode == 0

    def paths(self, *suffixes, below=()):
        """Paths that end in one of the suffixes (all, without suffixes) and lie in one of the folders `below`."""
        return [path for path in self._paths if (not suffixes or path.endswith(suffixes))
                and (not below or path.startswith(tuple(folder + "/" for folder in below)))]

    def read(self, path):
        return (self.root / path).read_text(encoding="utf-8", errors="replace")

    def sources(self):
        """C++ and CUDA sources, without what was recorded or generated."""
        return [path for path in self.paths(*CPP, below=("src", "tools", "test", "bench")) if "/data/" not in path]

    def scripts(self):
        """Shell scripts, by their names or their first lines."""
        return [path for path in self.paths() if path.endswith(".sh") or
                ("." not in path.rsplit("/", 1)[-1] or path == ".ci/run") and self._is_bash(path)]

    def _is_bash(self, path):
        with open(self.root / path, "rb") as file:
            return file.readline().startswith((b"#!/bin/bash", b"#!/bin/sh"))
