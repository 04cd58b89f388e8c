"""The seeds' command lines, as they stand there. run_command() puts the test's folders and database in the place of
theirs: $HOME of the author, /dev/shm, those in /opt, and the databases postgres and ssbm."""
import os
import re
import shlex
import subprocess

from checks import program

# pg2arrow, statistics.
SORTED = "pg2arrow -d postgres -o /dev/shm/flineorder_sort.arrow -t lineorder_sort --stat=lo_orderdate --progress"
# pg2arrow of a query, and in parallel.
YEAR = """pg2arrow -d ssbm -o /opt/arrow/f_lineorder_1996.arrow --progress \\
 -c 'SELECT * FROM lineorder WHERE lo_orderdate BETWEEN 19960101 AND 19961231'"""
PARALLEL = "pg2arrow -d ssbm -o /opt/arrow/f_lineorder_para.arrow --progress -t lineorder -n 4"
# The old rows of a table.
OLD = """pg2arrow -d ssbm -o /opt/arrow/mytable_2023.arrow \\
 -c "SELECT * FROM my_table WHERE ymd >= '2023-01-01' AND ymd < '2024-01-01'\""""
# Joins by the client.
INNER = "./pg2arrow -d postgres -t t_a --inner-join 'SELECT b1,b2,b3,b4 FROM t_b WHERE $(id) = id' -o /tmp/test1.arrow"
OUTER = "./pg2arrow -d postgres -t t_a --outer-join 'SELECT b1,b2,b3,b4 FROM t_b WHERE $(id) = id' -o /tmp/test2.arrow"
# Appending, interrupted.
FIRST = 'pg2arrow -d postgres -c "SELECT * FROM t0 LIMIT 100" -o /dev/shm/monu.arrow'
APPEND = 'pg2arrow -d postgres -c "SELECT * FROM t0" --append /dev/shm/monu.arrow'
DUMP_WRITTEN = "./utils/pg2arrow --dump /dev/shm/ft.arrow"
# Updates of the memory store by pgbench, for fewer seconds than the author's 15; rows are a hundredth of the author's.
UPDATES = """UPDATE fpoints SET ts = now(),
                   x = random() * 100.0,
                   y = random() * 100.0
             WHERE dev_id = (select (random() * 250000)::int * 48 + :client_id)
"""
PGBENCH = "pgbench -n -f mytest.sql -c 48 -j 48 -T 3 postgres"
# MySQL.
MYSQL_HELP = "mysql2arrow --help"
MYSQL = "mysql2arrow -d mysql -u root -t t1 -o /dev/shm/hoge.arrow"
MYSQL_DUMP = "mysql2arrow --dump /dev/shm/hoge.arrow"


class Places:
    """Where the seeds' folders are in this run."""

    def __init__(self, base, database):
        self.database = database
        self.folders = {}
        self.fewer = {}  # texts that make fewer rows
        for name in ("/dev/shm", "/opt/arrow", "/opt/pgdata12", "/opt/pmem", "/opt/nvme", "/tmp"):
            path = base / name.strip("/").replace("/", "_")
            path.mkdir(exist_ok=True)
            os.chmod(path, 0o777)  # the server writes there, too
            self.folders[name] = str(path)

    def path(self, text):
        """`text` with this run's folders."""
        # All in one pass, since this run's folders may themselves be below /tmp or /dev/shm.
        for many, few in self.fewer.items():
            text = text.replace(many, few)
        return re.sub(rf"(?<![\w.])({'|'.join(self.folders)})(?=/)", lambda found: self.folders[found[0]], text)

    def arguments(self, command):
        words = shlex.split(self.path(command).replace("\\\n", " "))
        words[0] = str(program(os.path.basename(words[0])))
        is_postgres = words[0].endswith("pg2arrow")
        return [self.database if is_postgres and before == "-d" else word for before, word in zip([""] + words, words)]


def start_command(places, command, *more):
    return subprocess.Popen(places.arguments(command) + list(more), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def run_command(places, command, *more):
    """(exit status, standard output, standard error)."""
    process = start_command(places, command, *more)
    out, err = process.communicate(timeout=300)
    return process.returncode, out, err
