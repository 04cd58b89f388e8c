#!/usr/bin/env python3
"""What the planner and the service do with GPUs: measurements when the service starts and their file; the choice of a device
and what EXPLAIN says of it; several devices, and those that are near a query's files; kernels that are told to stop, and
kernels that do not end. On devices of test/modules/host_device.cpp, with a server of its own."""

import json
import os
import re
import signal
import threading
import time

import psycopg
import pyarrow as pa
import pyarrow.ipc as ipc

from gpu_server import Cluster, device_session, readable_module, service_processes
from server import TEST_DIR, done, equal, folder, ok, state_of, wait_until

ROWS = 200_000
DEVICES = 3
BATCHES, BATCH_ROWS, MORSELS = 30, 60_000, 4  # of a file; morsels of a batch
SETTLED = 2.2  # seconds after which a file's times tell it from later states
COUNT = "SELECT count(*) FROM heap WHERE n = 1"
GROUPS = "SELECT k, count(*), sum(n) FROM heap GROUP BY k ORDER BY k"
JOIN = "SELECT d.name, count(*) FROM heap h JOIN dim d ON d.id = h.k GROUP BY 1 ORDER BY 1"
# Each row meets all others of its key: minutes.
LONG = "SELECT count(*) FROM heap a JOIN heap b ON a.k = b.k WHERE a.n + b.n = 12345678"
CHEAP_GPU = "SET pg_strom.gpu_setup_cost = 0; SET pg_strom.gpu_tuple_cost = 0.0000001; SET pg_strom.gpu_operator_cost = 0"

module = readable_module("strom_host_device.so")
hang = TEST_DIR / "gpu_devices_hang"
hang.unlink(missing_ok=True)
places = folder("gpu_devices_files")


def connect(server, device="auto", **settings):
    costs = {"cpu_tuple_cost": "0.0001", "cpu_operator_cost": "0.00002", "cpu_threads": "3"}
    return device_session(server, device, **{**costs, **settings})


def explain(session, query, options="COSTS"):
    return [line.strip() for (line,) in session.execute(f"EXPLAIN ({options}) {query}").fetchall()]


def lines_with(lines, start):
    return [line for line in lines if line.startswith(start)]


def devices_of(session, query):
    """Of the executed plan."""
    return lines_with(explain(session, query, "ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF"), "Device:")


def nodes_of(session, query):
    return re.findall(r"Custom Scan \((\w+)\)", "\n".join(explain(session, query, "COSTS OFF")))


def columns_of(session, query):
    """Bytes of columns that were cached, and that were copied."""
    text = json.dumps(session.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {query}").fetchone()[0])
    return [sum(int(n) for n in re.findall(rf'"GPU Columns {what}": (\d+)', text)) for what in ("Kept", "Copied")]


def write_file(path):
    path.parent.mkdir(parents=True)
    rows = range(BATCHES * BATCH_ROWS)
    table = pa.table({"region": [path.parent.name] * len(rows), "i": pa.array([i % 40 for i in rows], pa.int32()), "n": pa.array(rows, pa.int64())})
    with pa.OSFile(str(path), "wb") as sink, ipc.new_file(sink, table.schema) as writer:
        for batch in table.to_batches(max_chunksize=BATCH_ROWS):
            writer.write_batch(batch)


def answers(session):
    return [session.execute(query).fetchall() for query in (COUNT, GROUPS, JOIN)]


def gpus(session):
    return session.execute("SELECT device, address, copy_in > 0, setup_us > 0, scan_ns > 0 FROM pgstrom.gpu_devices ORDER BY 1").fetchall()


def is_served(session, process=None):
    """By another service than that process."""
    try:
        return bool(gpus(session)) and process not in service_processes(module)
    except psycopg.Error:
        return False


server = Cluster(os.environ["STROM_PG_BINDIR"], TEST_DIR / "gpu_devices_cluster", os.environ["STROM_SERVER_USER"])
server.create()
server.configure("shared_preload_libraries = 'pg_strom'", "pg_strom.gpu_launch_timeout = 2000")
ENVIRONMENT = {"STROM_DEVICE_MODULE": str(module), "STROM_HOST_DEVICES": str(DEVICES), "STROM_DEVICE_MORSEL_ROWS": "16384",
               "STROM_HOST_DEVICE_HANG": str(hang)}
measured = server.data / "pg_stat_tmp/pg_strom.gpu"
try:
    # Without a service nothing is said of devices.
    server.start({})
    cpu = connect(server)
    cpu.execute(f"""
        CREATE EXTENSION pg_strom;
        CREATE TABLE heap AS SELECT i AS id, i % 100 AS k, i % 1000 AS n FROM generate_series(1, {ROWS}) i;
        CREATE TABLE dim AS SELECT i AS id, 'n' || i AS name FROM generate_series(1, 120) i;""")
    cpu.execute("VACUUM ANALYZE heap")
    cpu.execute("ANALYZE dim")
    plain = explain(cpu, JOIN)
    equal((lines_with(plain, "Device"), nodes_of(cpu, COUNT)), ([], ["CpuPreAgg"]), "without a service plans say nothing of GPUs")
    wanted = answers(cpu)
    cpu.close()
    server.stop()
    ok(not measured.exists(), "and nothing is measured")

    # Measurements.
    server.start(ENVIRONMENT)
    cpu = connect(server, "cpu")
    ok(wait_until(lambda: is_served(cpu), 20), "the service is there")
    addresses = [f"ffff:{i:02x}:00.0" for i in range(DEVICES)]
    equal(gpus(cpu), [(i, addresses[i], True, True, True) for i in range(DEVICES)], "its devices are shown with what was measured")
    text = measured.read_bytes()
    ok(text.startswith(b"pg_strom GPU calibration 1\nmilliseconds "), "the file of it")
    ok(float(text.split(b"\n")[1].split()[1]) < 20_000, "measuring has an end", text[:80])
    equal(explain(cpu, JOIN), plain, "pg_strom.device = cpu: plans are those without a service")

    def restarted(change):
        """The file after a restart of the service with `change` made to it."""
        (process,) = service_processes(module)
        os.kill(process, signal.SIGSTOP)
        change()
        os.kill(process, signal.SIGKILL)
        wait_until(lambda: is_served(cpu, process), 20)
        return measured.read_bytes()

    equal(restarted(lambda: None), text, "a service that starts again does not measure again")
    again = restarted(lambda: measured.write_bytes(text[:-20]))
    ok(again != text[:-20] and again.endswith(b"\n") and b"\nchecksum " in again, "unless the file is damaged")
    stale = again.replace(b"architecture cpu", b"architecture gpu")
    ok(b"architecture gpu" not in restarted(lambda: measured.write_bytes(stale)), "or of another device")
    ok(restarted(measured.unlink).startswith(b"pg_strom GPU"), "or gone")

    # The planner's choice.
    auto = connect(server)
    auto.execute(CHEAP_GPU)
    equal(nodes_of(auto, "SELECT id FROM heap WHERE n = 1"), ["GpuScan"], "GpuScan")
    equal(nodes_of(auto, COUNT), ["GpuPreAgg"], "GpuPreAgg")
    equal(nodes_of(auto, "SELECT h.id FROM heap h JOIN dim d ON d.id = h.k WHERE d.name = 'n7'"), ["GpuJoin"], "GpuJoin")
    equal(nodes_of(auto, GROUPS), ["GpuAgg", "GpuPreAgg"], "GpuAgg")
    (choice,) = lines_with(explain(auto, COUNT), "Device Choice:")
    ok(choice.startswith("Device Choice: GPU (cost on CPU: "), "and why", choice)
    ok(lines_with(explain(auto, COUNT), "GPU Scan Quals:"), "labels are those of the device")
    cost = auto.execute("EXPLAIN (FORMAT JSON) " + COUNT).fetchall()[0][0][0]["Plan"]["Plans"][0]
    ok(cost["Device Choice"] == "GPU" and cost["GPU Cost"] < cost["CPU Cost"], "in JSON as numbers", cost)
    equal(answers(auto), wanted, "the CPU's answers")
    ok("GPU" in devices_of(auto, COUNT)[0], "from a GPU")
    auto.execute("SET pg_strom.gpu_setup_cost = 1000000")
    (choice,) = lines_with(explain(auto, COUNT), "Device Choice:")
    ok(choice.startswith("Device Choice: CPU (cost on CPU: "), "why not", choice)
    ok("CPU" in devices_of(auto, COUNT)[0] and nodes_of(auto, COUNT) == ["CpuPreAgg"], "and it is the CPU")
    auto.execute("RESET pg_strom.gpu_setup_cost; RESET pg_strom.gpu_tuple_cost; RESET pg_strom.gpu_operator_cost")
    ok(len(lines_with(explain(auto, COUNT), "Device Choice:")) == 1, "by measurements alone there is a choice, too")
    equal(answers(auto), wanted, "whatever it is, the answers are right")
    gpu = connect(server, "gpu")
    (choice,) = lines_with(explain(gpu, COUNT), "Device Choice:")
    ok(choice.startswith("Device Choice: GPU"), "pg_strom.device = gpu is a choice", choice)
    equal(answers(gpu), wanted, "with the CPU's answers")
    auto.execute(CHEAP_GPU)
    auto.execute("PREPARE counted AS " + COUNT)
    auto.execute("SET plan_cache_mode = force_generic_plan")
    equal(auto.execute("EXECUTE counted").fetchall(), wanted[0], "a prepared statement")
    auto.execute("SET pg_strom.device = cpu")
    equal(auto.execute("EXECUTE counted").fetchall(), wanted[0], "whose device is switched off runs on the CPU")
    auto.execute("SET pg_strom.device = auto")

    # Several devices.
    # On a busy machine a thread may find nothing left to do.
    all_devices = ["Device: " + ", ".join(f"GPU{i} (memory of its own (cpu))" for i in range(DEVICES))]
    ok(wait_until(lambda: devices_of(auto, GROUPS) == all_devices, 60), "threads of a query are spread")
    one = connect(server, "gpu", cpu_threads="1")
    others = [connect(server, "gpu", cpu_threads="1") for _ in range(DEVICES - 1)]
    for session in (one, *others):
        equal(session.execute(COUNT).fetchall(), wanted[0], "a session of one thread")
    rows = cpu.execute("SELECT pid, count(DISTINCT device) FILTER (WHERE tasks > 0) FROM pgstrom.gpu_sessions GROUP BY 1").fetchall()
    ok(all((session.info.backend_pid, 1) in rows for session in (one, *others)), "has one device", rows)
    taken = cpu.execute("SELECT count(DISTINCT device) FROM pgstrom.gpu_sessions").fetchone()
    equal(taken, (DEVICES,), "sessions are spread over the devices")
    sums = cpu.execute("SELECT sum(tasks) > 0, count(*) FROM pgstrom.gpu_devices WHERE tasks > 0").fetchall()
    equal(sums, [(True, DEVICES)], "all of them have worked")
    for session in (one, *others):
        session.close()

    # What a device keeps, no other does: morsels go to the same one in every query.
    for name in ("north", "south"):
        write_file(places / name / "part.arrow")
    time.sleep(SETTLED)
    cpu.execute(f"""
        CREATE TABLE parts (region text, i int, n int8) PARTITION BY LIST (region);
        CREATE FOREIGN TABLE north PARTITION OF parts FOR VALUES IN ('north') SERVER arrow_fdw OPTIONS (file '{places}/north/part.arrow');
        CREATE FOREIGN TABLE south PARTITION OF parts FOR VALUES IN ('south') SERVER arrow_fdw OPTIONS (file '{places}/south/part.arrow')""")
    spread = connect(server, "gpu")
    north = "SELECT i, count(*), sum(n) FROM north GROUP BY i ORDER BY i"
    both = "SELECT i, count(*), sum(n) FROM parts GROUP BY i ORDER BY i"
    wanted_north, wanted_both = (cpu.execute(query).fetchall() for query in (north, both))
    pieces = lambda file: cpu.execute("SELECT coalesce(sum(pieces), 0)::int8 FROM pgstrom.gpu_cache_info WHERE file LIKE %s",
                                      (f"%/{file}/part.arrow",)).fetchone()[0]
    most = 2 * BATCHES * MORSELS

    def is_kept(query, files=1):
        """Whether most morsels have gone to the device that has their columns: threads that start late lose some to others."""
        return columns_of(spread, query)[0] > files * BATCHES * BATCH_ROWS * (4 + 8) / 2

    equal(spread.execute(north).fetchall(), wanted_north, "answers of several devices that keep columns")
    ok(wait_until(lambda: spread.execute(north) and pieces("north") >= most, 30), "each column is kept", pieces("north"))
    ok(wait_until(lambda: is_kept(north), 30), "and found where it is", columns_of(spread, north))
    ok(wait_until(lambda: len(devices_of(spread, north)[0].split(", ")) == DEVICES, 60), "by all devices", devices_of(spread, north))
    equal(pieces("north"), most, "of which no two keep the same")
    equal(spread.execute(north).fetchall(), wanted_north, "with the same answers")

    # Cached columns need no copy: with rates of a slow link a query goes to the GPU once its columns are cached.
    def set_rates(**rates):
        """In the file of measurements, of all devices."""
        text = measured.read_text()
        for name, value in rates.items():
            text = re.sub(rf"^{name} .*$", f"{name} {value}", text, flags=re.M)
        text = text[:text.rindex("checksum ")]
        checksum = 0xcbf29ce484222325
        for byte in text.encode():
            checksum = (checksum ^ byte) * 0x100000001b3 % 2**64
        measured.with_suffix(".new").write_text(f"{text}checksum {checksum}\n")
        measured.with_suffix(".new").chmod(0o644)
        measured.with_suffix(".new").rename(measured)

    def choice(session, query):
        return lines_with(explain(session, query), "Device Choice:")[0]

    other = north.replace("north", "south")
    before = measured.read_bytes()
    set_rates(copy_in=1e6, copy_out=1e9, stage=1e12, setup_us=1, scan_cpu_ns=100, scan_device_ns=0.001, group_cpu_ns=100, group_device_ns=0.001)
    chooses = connect(server)
    ok(wait_until(lambda: "kept there: " in choice(chooses, north), 60), "planning knows what is kept", choice(chooses, north))
    ok(choice(chooses, north).startswith("Device Choice: GPU (cost on CPU: "), "so that the query goes there", choice(chooses, north))
    ok(choice(chooses, other).startswith("Device Choice: CPU"), "another does not", choice(chooses, other))
    equal(chooses.execute(north).fetchall(), wanted_north, "the same answers from there")
    plan = json.dumps(chooses.execute("EXPLAIN (FORMAT JSON) " + north).fetchone()[0])
    ok(int(re.search(r'"GPU Bytes Kept": (\d+)', plan)[1]) > BATCHES * BATCH_ROWS * 8, "in JSON as a number", plan)
    chooses.execute("SET pg_strom.enable_gpu_cache = off")
    ok(choice(chooses, north).startswith("Device Choice: CPU"), "not with pg_strom.enable_gpu_cache = off")
    chooses.execute("RESET pg_strom.enable_gpu_cache")
    chooses.execute("SELECT pgstrom.gpu_cache_reset()")
    ok(wait_until(lambda: choice(chooses, north).startswith("Device Choice: CPU") and "kept" not in choice(chooses, north), 60),
       "without them it stays on the CPU", choice(chooses, north))
    spread.execute(north)
    ok(wait_until(lambda: spread.execute(north) and choice(chooses, north).startswith("Device Choice: GPU"), 60), "and goes again once they are kept",
       choice(chooses, north))
    (process,) = service_processes(module)
    os.kill(process, signal.SIGSTOP)
    time.sleep(1.1)
    begin = time.monotonic()
    stopped = choice(chooses, north)
    ok(stopped.startswith("Device Choice: CPU") and time.monotonic() - begin < 5, "a service that does not answer holds nobody up", stopped,
       time.monotonic() - begin)
    os.kill(process, signal.SIGCONT)
    chooses.close()
    measured.write_bytes(before)

    # Partitions near several devices.
    server.configure(f"pg_strom.manual_optimal_gpus = '{places}/north=gpu0,{places}/south=gpu2'")
    cpu.execute("SELECT pg_reload_conf()")
    ok(wait_until(lambda: cpu.execute("SHOW pg_strom.manual_optimal_gpus").fetchone() != ("",)), "a reload")
    spread.execute("SELECT pgstrom.gpu_cache_reset()")
    spread.close()
    spread = connect(server, "gpu")
    name = "GPU{} (memory of its own (cpu))".format
    equal(devices_of(spread, north), [f"Device: {name(0)}"], "a partition alone runs on the device near its file")
    ok(wait_until(lambda: devices_of(spread, both) == [f"Device: {name(0)}, {name(2)}"], 60), "all of them on those near theirs",
       devices_of(spread, both))
    equal(spread.execute(both).fetchall(), wanted_both, "with the CPU's answers")
    ok(wait_until(lambda: spread.execute(both) and (pieces("north"), pieces("south")) == (most, most), 30), "which keep their columns",
       pieces("north"), pieces("south"))
    ok(wait_until(lambda: is_kept(both, 2), 30), "and find them", columns_of(spread, both))
    spread.close()

    server.configure(f"pg_strom.manual_optimal_gpus = '{server.data}=gpu2'")
    cpu.execute("SELECT pg_reload_conf()")
    ok(wait_until(lambda: cpu.execute("SHOW pg_strom.manual_optimal_gpus").fetchone() == (f"{server.data}=gpu2",)), "a reload")
    near = connect(server)
    near.execute(CHEAP_GPU)
    equal(devices_of(near, GROUPS), ["Device: GPU2 (memory of its own (cpu))"], "manual_optimal_gpus: a folder's GPUs alone")
    equal(state_of(lambda: cpu.execute("ALTER SYSTEM SET pg_strom.manual_optimal_gpus = 'nvme0=2'")), "22023", "a wrong list is an error")
    near.close()

    # Kernels are told to stop.
    auto.execute("SET pg_strom.device = gpu")
    pid = auto.info.backend_pid
    seconds = []
    for _ in range(3):
        ends = []
        thread = threading.Thread(target=lambda: ends.append((state_of(lambda: auto.execute(LONG)), time.monotonic())))
        thread.start()
        ok(wait_until(lambda: cpu.execute("SELECT FROM pgstrom.gpu_sessions WHERE pid = %s AND running > 0", (pid,)).fetchall(), 30),
           "a long query runs")
        time.sleep(0.3)
        begin = time.monotonic()
        cpu.execute("SELECT pg_cancel_backend(%s)", (pid,))
        thread.join()
        seconds.append(ends[0][1] - begin)
        equal(ends[0][0], "57014", "it is cancelled")
        ok(wait_until(lambda: not cpu.execute("SELECT FROM pgstrom.gpu_sessions WHERE running > 0").fetchall(), 5), "also on the device")
    # The machine may keep one of the cancels waiting, where others use it.
    ok(min(seconds) < 1 and max(seconds) < 10, "within a moment", seconds)
    equal(answers(auto), wanted, "the session goes on")

    # Kernels that do not end.
    (process,) = service_processes(module)
    hang.touch()
    begin = time.monotonic()
    equal(state_of(lambda: auto.execute(COUNT)), "58000", "a kernel that hangs is an error of its query")
    ok(1 < time.monotonic() - begin < 12, "after pg_strom.gpu_launch_timeout", time.monotonic() - begin)
    hang.unlink()
    ok(wait_until(lambda: is_served(cpu, process), 15), "the service starts anew")
    equal(answers(auto), wanted, "and the session goes on")
    equal(cpu.execute("SELECT 1").fetchall(), [(1,)], "the server was not restarted")

    # Which devices.
    for session in (cpu, auto, gpu):
        session.close()
    server.stop()
    server.configure("pg_strom.cuda_visible_devices = '2'")
    server.start(ENVIRONMENT)
    cpu = connect(server, "cpu")
    ok(wait_until(lambda: is_served(cpu), 20), "the service is there")
    equal(gpus(cpu), [(0, addresses[2], True, True, True)], "cuda_visible_devices chooses")
    cpu.close()
finally:
    hang.unlink(missing_ok=True)
    server.remove()
done()
