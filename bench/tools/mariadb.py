"""A MariaDB server for the benchmark of mysql2arrow, in a folder of its own."""
from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import List

DATABASE = "bench"


class MariaDB:
    def __init__(self, home: Path, port: int):
        self.home, self.port, self.socket = home, port, home / "s.sock"
        self.become: List[str] = []
        home.mkdir(parents=True, exist_ok=True)
        if os.geteuid() == 0:
            self.become = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]
            shutil.chown(home, "nobody", "nogroup")
        if not (home / "data").exists():
            subprocess.run([*self.become, "mariadb-install-db", "--no-defaults", f"--datadir={home}/data", "--skip-test-db",
                            "--auth-root-authentication-method=normal"], check=True, capture_output=True)
        with open(home / "log", "ab") as log:
            self.process = subprocess.Popen(
                [*self.become, shutil.which("mariadbd") or "/usr/sbin/mariadbd", "--no-defaults", f"--datadir={home}/data",
                 f"--socket={self.socket}", f"--port={port}", "--bind-address=127.0.0.1", "--skip-log-bin",
                 "--innodb-buffer-pool-size=4G", "--innodb-flush-log-at-trx-commit=0", "--local-infile=1"],
                stdout=log, stderr=log)
        for _ in range(200):
            if self.client("select 1", database="").returncode == 0:
                break
            time.sleep(0.05)
        # Rivals connect by TCP, where root has no account.
        self.run(f"create database if not exists {DATABASE}; create user if not exists bench@'127.0.0.1';"
                 f"grant all on {DATABASE}.* to bench@'127.0.0.1'", database="")

    def client(self, sql: str, database: str = DATABASE) -> subprocess.CompletedProcess:
        command = ["mariadb", "--no-defaults", "--local-infile=1", "-S", str(self.socket), "-u", "root", "-N", "-B"]
        return subprocess.run(command + ([database] if database else []), input=sql, capture_output=True, text=True)

    def run(self, sql: str, database: str = DATABASE) -> str:
        result = self.client(sql, database)
        if result.returncode != 0:
            raise RuntimeError(f"MariaDB: {result.stderr}")
        return result.stdout

    @property
    def url(self) -> str:
        return f"mysql://bench@127.0.0.1:{self.port}/{DATABASE}"

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(60)
