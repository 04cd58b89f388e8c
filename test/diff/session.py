"""Two sessions on the same tables, one with the engine and one without, and what they answer."""

import json
import re
import select
import time

from psycopg import OperationalError, pq

HANG = 100  # seconds without an answer; statement_timeout is below
ENGINE_NODES = ("CpuScan", "CpuJoin", "CpuPreAgg", "CpuRelay")
ON_GPU = "on a GPU"
JOIN_KIND = re.compile(r"[CG]PU (Left Outer|Right Outer|Full Outer|Right Semi|Right Anti|Semi|Anti) Join Quals")


class Answer:
    """What a statement gave: rows of texts (bytes or None) with the columns' type OIDs, or an SQLSTATE and message."""

    def __init__(self, rows=None, types=(), state=None, message=None):
        self.rows, self.types, self.state, self.message = rows, list(types), state, message

    def is_error(self):
        return self.state is not None

    def __str__(self):
        return f"ERROR {self.state}: {self.message}" if self.is_error() else f"{len(self.rows)} rows"


class ConnectionLost(Exception):
    """The server closed the connection: most likely it crashed."""


class Session:
    def __init__(self, conninfo, settings):
        self.conninfo, self.settings = conninfo, settings
        self.connection = None
        self.connect()

    def connect(self):
        self.connection = pq.PGconn.connect(self.conninfo.encode())
        if self.connection.status != pq.ConnStatus.OK:
            raise ConnectionLost(self.connection.error_message.decode())
        for name, value in self.settings.items():
            self.run(f"SET {name} = {value}")

    def close(self):
        self.connection.finish()

    def run(self, statement):
        """Runs one statement; an Answer."""
        try:
            result = self.wait_for(statement)
        except OperationalError as error:
            raise ConnectionLost(f"{error} on: {statement}") from error
        if self.connection.status == pq.ConnStatus.BAD:
            raise ConnectionLost(f"the connection broke on: {statement}")
        if result.status in (pq.ExecStatus.FATAL_ERROR, pq.ExecStatus.BAD_RESPONSE):
            field = result.error_field
            return Answer(
                state=(field(pq.DiagnosticField.SQLSTATE) or b"?").decode(),
                message=(field(pq.DiagnosticField.MESSAGE_PRIMARY) or b"").decode(errors="replace"),
            )
        columns = range(result.nfields)
        rows = [tuple(result.get_value(i, j) for j in columns) for i in range(result.ntuples)]
        return Answer(rows, [result.ftype(j) for j in columns])

    def wait_for(self, statement):
        self.connection.send_query(statement.encode())
        deadline = time.monotonic() + HANG
        while self.connection.is_busy():
            select.select([self.connection.socket], [], [], 1)
            self.connection.consume_input()
            if time.monotonic() > deadline:
                raise ConnectionLost(f"no answer within {HANG} s, in spite of statement_timeout: {statement}")
        result = self.connection.get_result()
        while self.connection.get_result() is not None:
            pass
        return result

    def must(self, statement):
        answer = self.run(statement)
        if answer.is_error():
            raise RuntimeError(f"{answer}\n{statement}")
        return answer

    def fallback_rows(self, statement):
        """(rows that PostgreSQL decided inside an engine node, rows of the result)."""
        plan = json.loads(self.must("EXPLAIN (ANALYZE, FORMAT JSON) " + statement).rows[0][0])[0]["Plan"]
        count, plans = 0, [plan]
        while plans:
            node = plans.pop()
            count += node.get("Rechecked", 0)
            plans += node.get("Plans", [])
        return count, plan["Actual Rows"]

    def engine_nodes(self, statement):
        """Names of the engine's nodes in the statement's plan ("Top Rows" where only the first are wanted) and kinds of
        their joins, and what the planner refused with its reasons. Nodes of a GPU have the names of those of the CPU,
        and "on a GPU" beside them."""
        answer = self.run("EXPLAIN (FORMAT JSON) " + statement)
        if answer.is_error():
            return [], []
        nodes, refused = [], []

        def visit(plan):
            provider = plan.get("Custom Plan Provider", "")
            name = provider.replace("Gpu", "Cpu")
            if name in ENGINE_NODES:
                nodes.extend([ON_GPU] * (name != provider))
                nodes.append("Top Rows" if "Top Rows" in plan else name)
                nodes.extend(["Brin Quals"] * ("Brin Quals" in plan))
                sources = [plan] + [value for value in plan.values() if isinstance(value, dict)]
                nodes.extend("Partitions" for source in sources if "Partitions" in source)
                kinds = [JOIN_KIND.match(label) for label in plan]
                nodes.extend(kind.group(1) + " join" for kind in kinds if kind)
            reasons = plan.get("Not Offloaded", [])
            refused.extend(reasons if isinstance(reasons, list) else [reasons])
            for child in plan.get("Plans", []):
                visit(child)

        visit(json.loads(answer.rows[0][0])[0]["Plan"])
        return nodes, refused
