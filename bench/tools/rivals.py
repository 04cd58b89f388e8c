"""The programs that the tools are compared with: one contender in each process, so that memory and threads are its own.
Prints the seconds of the work as JSON, without the start of Python and its imports. Our tools fsync their output before
they end, so the rivals' file and its folder are synced as well; `sync_seconds` is that part of `seconds`. Called by
run.py:

    rivals.py CONTENDER THREADS SOURCE SQL_OR_FILE KEY OUTPUT"""
import json
import os
import sys
import time


def write_arrow(path, table):
    import pyarrow.ipc as ipc

    with ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)


def adbc(threads, source, query, key, output):
    import adbc_driver_postgresql.dbapi as dbapi
    import pyarrow.ipc as ipc

    begin = time.perf_counter()
    with dbapi.connect(source) as connection, connection.cursor() as cursor:
        cursor.execute(query)
        reader = cursor.fetch_record_batch()
        rows = 0
        with ipc.new_file(output, reader.schema) as writer:
            for batch in reader:
                writer.write_batch(batch)
                rows += batch.num_rows
    return time.perf_counter() - begin, rows


def connectorx(threads, source, query, key, output):
    import connectorx
    import pyarrow  # noqa: F401

    begin = time.perf_counter()
    more = {"partition_on": key, "partition_num": threads} if threads > 1 else {}
    table = connectorx.read_sql(source, query, return_type="arrow", **more)
    write_arrow(output, table)
    return time.perf_counter() - begin, table.num_rows


def pyarrow_csv(threads, source, path, key, output):
    import pyarrow as pa
    import pyarrow.csv as csv

    begin = time.perf_counter()
    reader = pa.ipc.open_file(pa.memory_map(path))
    rows = 0
    with csv.CSVWriter(output, reader.schema) as writer:
        for number in range(reader.num_record_batches):
            batch = reader.get_batch(number)
            writer.write_batch(batch)
            rows += batch.num_rows
    return time.perf_counter() - begin, rows


def duckdb_csv(threads, source, path, key, output):
    import duckdb
    import pyarrow as pa

    connection = duckdb.connect()
    connection.execute(f"SET threads = {threads}")
    begin = time.perf_counter()
    table = pa.ipc.open_file(pa.memory_map(path)).read_all()
    connection.register("t", table)
    connection.execute(f"COPY t TO '{output}' (FORMAT csv, HEADER)")
    return time.perf_counter() - begin, table.num_rows


def pyarrow_read(threads, source, path, key, output):
    import pyarrow as pa
    import pyarrow.csv as csv

    pa.set_cpu_count(threads)
    begin = time.perf_counter()
    table = csv.read_csv(path)
    write_arrow(output, table)
    return time.perf_counter() - begin, table.num_rows


def duckdb_read(threads, source, path, key, output):
    import duckdb

    connection = duckdb.connect()
    connection.execute(f"SET threads = {threads}")
    begin = time.perf_counter()
    found = connection.sql(f"SELECT * FROM read_csv('{path}')").arrow()
    table = found.read_all() if hasattr(found, "read_all") else found
    write_arrow(output, table)
    return time.perf_counter() - begin, table.num_rows


CONTENDERS = {"adbc": adbc, "connectorx": connectorx, "pyarrow_csv": pyarrow_csv, "duckdb_csv": duckdb_csv,
              "pyarrow_read": pyarrow_read, "duckdb_read": duckdb_read}


def sync(path):
    """Makes a file and its name durable on disk."""
    for name in (path, os.path.dirname(os.path.abspath(path))):
        descriptor = os.open(name, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


if __name__ == "__main__":
    name, thread_count, *rest = sys.argv[1:]
    seconds, row_count = CONTENDERS[name](int(thread_count), *rest)
    begin = time.perf_counter()
    sync(rest[-1])
    sync_seconds = time.perf_counter() - begin
    print(json.dumps({"seconds": seconds + sync_seconds, "sync_seconds": sync_seconds, "rows": row_count}))
