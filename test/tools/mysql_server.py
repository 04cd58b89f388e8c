"""A MariaDB server of the tests' own, or the MySQL server that `./strom test --mysql` has started."""
import os
import pathlib
import shutil
import subprocess
import time

from checks import folder


class Server:
    """Started by the constructor; `sql()` runs statements as root."""

    def __init__(self, name):
        self.is_mysql = "STROM_MYSQL_SOCKET" in os.environ
        self.process = None
        self.port = int(os.environ.get("STROM_MYSQL_PORT", 0))
        if self.is_mysql:
            self.socket = os.environ["STROM_MYSQL_SOCKET"]
            return
        self.base = folder(name)
        self.data = self.base / "data"
        self.socket = str(self.base / "s.sock")
        self.port = 20000 + os.getpid() % 10000
        self.become = []
        if os.geteuid() == 0:
            self.become = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]
            shutil.chown(self.base, "nobody", "nogroup")
        subprocess.run([*self.become, "mariadb-install-db", "--no-defaults", f"--datadir={self.data}", "--skip-test-db",
                        "--auth-root-authentication-method=normal"], check=True, capture_output=True)
        self.start()

    def start(self, *options):
        log = open(self.base / "log", "ab")
        self.process = subprocess.Popen(
            [*self.become, shutil.which("mariadbd") or "/usr/sbin/mariadbd", "--no-defaults", f"--datadir={self.data}",
             f"--socket={self.socket}", f"--port={self.port}", "--bind-address=127.0.0.1", "--skip-log-bin",
             f"--pid-file={self.data}/pid", "--innodb-flush-log-at-trx-commit=0", "--max-allowed-packet=1G",
             "--log-warnings=0", *options],
            stdout=log, stderr=log)
        for _ in range(200):
            if self.run("SELECT 1").returncode == 0:
                return
            time.sleep(0.05)
        raise RuntimeError((self.base / "log").read_text()[-2000:])

    def run(self, sql, *options):
        return subprocess.run(["mariadb", "--no-defaults", "-S", self.socket, "-u", "root", "--batch", "--raw", "-N",
                               "--default-character-set=utf8mb4", "--max-allowed-packet=1G", *options],
                              input=sql if isinstance(sql, bytes) else sql.encode(), capture_output=True)

    def sql(self, sql, *options):
        result = self.run(sql, *options)
        if result.returncode != 0:
            raise RuntimeError(result.stderr.decode())
        return result.stdout.decode()

    def stop(self):
        if self.process is not None:
            self.process.terminate()
            self.process.wait(30)

    def kill(self):
        pid = pathlib.Path(self.data / "pid").read_text().strip()
        subprocess.run(["kill", "-9", pid], check=True)
        self.process.wait(30)
