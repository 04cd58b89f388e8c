"""Private PostgreSQL clusters for the differential test: a UNIX socket in a folder of their own, and nothing else."""

import os
import pathlib
import pwd
import shutil
import subprocess
import tempfile


def shared_memory_type(keeps_columns):
    """Memory of mmap is not taken for the column cache. Containers often have a /dev/shm of 64 MB."""
    if not keeps_columns:
        return "mmap"
    space = os.statvfs("/dev/shm") if os.path.isdir("/dev/shm") else None
    return "posix" if space is not None and space.f_blocks * space.f_frsize >= 1 << 30 else "sysv"


class Cluster:
    """One data folder; start() may be called again with another environment for the server."""

    def __init__(self, bindir, folder, user, keeps_columns=False):
        self.bindir, self.user, self.keeps_columns = pathlib.Path(bindir), user, keeps_columns
        self.folder = pathlib.Path(folder)
        self.data, self.log = self.folder / "data", self.folder / "start.log"
        # A socket's path holds 107 bytes at most.
        self.socket = pathlib.Path(tempfile.mkdtemp(prefix="strom-diff-", dir="/tmp"))
        self.running = False
        self._pg_ctl = (self.bindir / "pg_ctl", "-D", self.data, "-s", "-w", "-t", "60")

    def as_user(self, *command, **options):
        if os.geteuid() == 0:
            group = pwd.getpwnam(self.user).pw_gid  # nobody's has another name
            command = ("setpriv", f"--reuid={self.user}", f"--regid={group}", "--clear-groups") + command
        return subprocess.run([str(c) for c in command], cwd="/", stdin=subprocess.DEVNULL, check=True, **options)

    def make_folder(self, path):
        """A folder for files of the server, within the cluster's own."""
        path.mkdir()
        if os.geteuid() == 0:
            shutil.chown(path, self.user, pwd.getpwnam(self.user).pw_gid)

    def create(self, options=()):
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        if os.geteuid() == 0:
            entry = pwd.getpwnam(self.user)
            os.chown(self.folder, entry.pw_uid, entry.pw_gid)
            os.chown(self.socket, entry.pw_uid, entry.pw_gid)
        self.as_user(
            self.bindir / "initdb",
            "-D",
            self.data,
            "-U",
            "postgres",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "-N",
            "--locale=C.UTF-8",  # Debian's default, where no language is set
            *options,
            stdout=subprocess.DEVNULL,
        )
        with open(self.data / "postgresql.conf", "a", encoding="ascii") as conf:
            conf.write(
                f"listen_addresses = ''\nunix_socket_directories = '{self.socket}'\nport = 55999\n"
                "fsync = off\nautovacuum = off\nshared_buffers = 64MB\nmax_connections = 20\n"
                f"timezone = 'UTC'\ndynamic_shared_memory_type = {shared_memory_type(self.keeps_columns)}\nlog_min_messages = warning\n"
                "log_error_verbosity = verbose\nmax_parallel_workers_per_gather = 0\n"
                "log_min_error_statement = panic\nsession_preload_libraries = 'pg_strom'\n"
            )

    def configure(self, *lines):
        with open(self.data / "postgresql.conf", "a", encoding="ascii") as conf:
            conf.write("".join(line + "\n" for line in lines))

    def start(self, environment):
        self.stop()
        assignments = [f"{name}={value}" for name, value in environment.items()]
        with open(self.log, "ab") as log:
            self.as_user(
                "env",
                *assignments,
                *self._pg_ctl,
                "-c",
                "-l",
                self.data / "server.log",
                "start",
                stdout=log,
                stderr=log,
            )
        self.running = True

    def last_signals(self):
        """What the server's log says about processes that were killed."""
        lines = (self.data / "server.log").read_text(errors="replace").splitlines()
        return [line for line in lines if "terminated by signal" in line or "PANIC" in line][-3:]

    def stop(self, mode="immediate"):
        if self.running:
            self.as_user(*self._pg_ctl, "-m", mode, "stop", stdout=subprocess.DEVNULL)
        self.running = False

    def remove(self):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.rmtree(self.socket, ignore_errors=True)

    def conninfo(self, database):
        return f"host={self.socket} port=55999 user=postgres dbname={database}"
