"""Store tables of a test, and statements that have to wait. Used by store_sessions.py and store_commits.py."""
import os
import threading

import psycopg

from server import folder, fresh_database, query, wait_until


class StoreTables:
    """A database of its own, and a folder for the tables' files."""

    def __init__(self, name):
        self.folder, self.database = folder(name), fresh_database(f"strom_{name}")
        os.chmod(self.folder, 0o777)

    def make(self, name, columns, **options):
        options = {"max_num_rows": 1000, "primary_key": "id", **options}
        rest = "".join(f", {key} '{value}'" for key, value in options.items() if value is not None)
        query(f"""CREATE FOREIGN TABLE {name} ({columns}) SERVER gstore_fdw
                  OPTIONS (base_file '{self.folder}/{name}.base', redo_log_file '{self.folder}/{name}.redo'{rest})""", self.database)

    def connect(self, level="READ COMMITTED"):
        session = psycopg.connect(dbname=self.database, autocommit=True)
        session.execute(f"SET default_transaction_isolation = '{level}'")
        return session


class Background:
    """A statement that another session runs, and that may have to wait."""

    def __init__(self, session, statement):
        self.rows = self.state = self.error = None
        self._thread = threading.Thread(target=self._run, args=(session, statement))
        self._thread.start()
        self._pid, self._database = session.info.backend_pid, session.info.dbname

    def _run(self, session, statement):
        try:
            cursor = session.execute(statement)
            self.rows = cursor.fetchall() if cursor.description else cursor.rowcount
        except psycopg.Error as error:
            self.state, self.error = error.sqlstate or "connection lost", str(error)

    def waits(self):
        return wait_until(lambda: query(f"SELECT wait_event_type FROM pg_stat_activity WHERE pid = {self._pid}", self._database) == "Lock")

    def runs(self):
        return self._thread.is_alive()

    def end(self):
        self._thread.join(120)
        return self.state or self.rows
