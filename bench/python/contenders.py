"""Ways of getting rows into Python: one contender in each process, so that memory and threads are its own. Prints its
measurements as JSON, without the start of Python and its imports. Called by run.py:

    contenders.py CONTENDER THREADS FORM SOURCE SQL_OR_FILTER COLUMNS

FORM is "arrow" (pyarrow.Table), "pandas" or "numpy" (an array for each column). COLUMNS are separated by commas; the
sums of the first column are compared."""
import json
import sys
import time
from pathlib import Path


def resident_mb(what):
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(what):
            return int(line.split()[1]) / 1024
    raise RuntimeError(what)


def as_form(table, form):
    """Converts a pyarrow.Table to `form`; the table is consumed."""
    if form == "pandas":
        return table.to_pandas(split_blocks=True, self_destruct=True)
    if form == "numpy":
        return {name: table[name].to_numpy() for name in table.column_names}
    return table


def strom(threads, form, source, query, columns):
    import numpy
    import pandas  # noqa: F401
    import strom as package

    with package.connect(source) as session:
        session.connection.execute(f"set max_parallel_workers_per_gather = {threads}")
        begin = begin_measuring()
        result = session.query(query)
        if form == "pandas":
            return begin, result.fetch_df()
        table = result.read_all()
        if result.is_shared:
            # Pages of shared memory are mapped into this process at the first read. This reads all of them.
            for column in table.columns:
                for chunk in column.chunks:
                    for buffer in chunk.buffers():
                        if buffer is not None:
                            numpy.frombuffer(buffer, "u1")[::PAGE].sum()
        return begin, as_form(table, form)


def adbc(threads, form, source, query, columns):
    import adbc_driver_postgresql.dbapi as dbapi
    import pandas  # noqa: F401

    with dbapi.connect(source) as connection, connection.cursor() as cursor:
        begin = begin_measuring()
        cursor.execute(query)
        return begin, as_form(cursor.fetch_arrow_table(), form)


def connectorx(threads, form, source, query, columns):
    import connectorx as package
    import pandas  # noqa: F401
    import pyarrow  # noqa: F401

    begin = begin_measuring()
    more = {"partition_on": "lo_orderkey", "partition_num": threads} if "lo_orderkey" in columns else {}
    if form == "pandas":
        return begin, package.read_sql(source, query, return_type="pandas", **more)
    return begin, as_form(package.read_sql(source, query, return_type="arrow", **more), form)


def psycopg(threads, form, source, query, columns):
    import pandas
    import psycopg as package
    import pyarrow

    with package.connect(source) as connection, connection.cursor("rows", binary=True) as cursor:
        begin = begin_measuring()
        cursor.execute(query)
        # A million rows at a time, because their Python objects take ten times the memory of their values.
        batches = []
        while rows := cursor.fetchmany(1_000_000):
            arrays = [pyarrow.array(values) for values in zip(*rows)]
            batches.append(pyarrow.RecordBatch.from_arrays(arrays, columns))
        table = pyarrow.Table.from_batches(batches)
        assert pandas
        return begin, as_form(table, form)


def duckdb(threads, form, source, query, columns):
    """DuckDB's scanner for PostgreSQL, if that extension of DuckDB is available."""
    import duckdb as package
    import pandas  # noqa: F401

    connection = package.connect()
    connection.execute(f"SET threads = {threads}")
    connection.execute("INSTALL postgres; LOAD postgres")
    connection.execute(f"ATTACH '{source}' AS server (TYPE postgres, READ_ONLY)")
    begin = begin_measuring()
    found = connection.sql(f"SELECT * FROM postgres_query('server', $${query}$$)")
    return begin, found.df() if form == "pandas" else as_form(found.to_arrow_table(), form)


# ---- Files

RANGES = {"lo_discount": (1, 3), "lo_quantity": (1, 24)}


def pyarrow(threads, form, source, filtered, columns):
    import pyarrow as pa
    import pyarrow.compute as compute
    import pyarrow.dataset as dataset

    pa.set_cpu_count(threads)
    begin = begin_measuring()
    if filtered:
        condition = None
        for name, (low, high) in RANGES.items():
            part = (compute.field(name) >= low) & (compute.field(name) <= high)
            condition = part if condition is None else condition & part
        return begin, as_form(dataset.dataset(source, format="ipc").to_table(columns, condition), form)
    with pa.OSFile(source) as file:
        first = pa.ipc.open_file(file)
        fields = [first.schema.get_field_index(name) for name in columns]
        reader = pa.ipc.open_file(file, options=pa.ipc.IpcReadOptions(included_fields=fields))
        return begin, as_form(reader.read_all(), form)


def polars(threads, form, source, filtered, columns):
    import polars as package

    begin = begin_measuring()
    if not filtered:
        return begin, package.read_ipc(open(source, 'rb'), columns=columns)
    frame = package.scan_ipc(source)
    for name, (low, high) in RANGES.items():
        frame = frame.filter(package.col(name).is_between(low, high))
    return begin, frame.select(columns).collect()


PAGE = 4096
CONTENDERS = {name: globals()[name] for name in ("strom", "adbc", "connectorx", "psycopg", "duckdb", "pyarrow", "polars")}


def begin_measuring():
    """The memory after pyarrow and pandas have loaded what they load at first use."""
    global before_mb
    import pyarrow as pa

    pa.table({"i": [1], "t": ["x"]}).to_pandas()
    before_mb = resident_mb("VmRSS:")
    return time.perf_counter()


def checked(found, column):
    """The number of rows and the sum of a column, for any form."""
    values = found[column]
    if hasattr(values, "combine_chunks"):
        import pyarrow.compute as compute

        return len(values), compute.sum(values).as_py()
    return len(values), int(values.sum())


if __name__ == "__main__":
    name, thread_count, wanted_form, where, what, names = sys.argv[1:]
    names = names.split(",")
    begin_s, result = CONTENDERS[name](int(thread_count), wanted_form, where, what, names)
    seconds = time.perf_counter() - begin_s
    peak_mb = resident_mb("VmHWM:")
    rows, checksum = checked(result, names[0])
    size = result.nbytes if hasattr(result, "nbytes") and wanted_form == "arrow" else 0
    print(json.dumps({"seconds": seconds, "rows": rows, "checksum": checksum, "before_mb": before_mb, "peak_mb": peak_mb,
                      "result_bytes": size}))
