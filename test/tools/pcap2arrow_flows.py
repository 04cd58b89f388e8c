#!/usr/bin/env python3
"""pcap2arrow --flows: the flows of random packets against those that Python adds up."""
import pyarrow as pa

import packets as p
from checks import done, equal, folder, ok, run

OUT = folder("pcap2arrow_flows")
BEGIN = 1_700_000_000 * 10**9
SECOND = 10**9
r = p.random_source(5)


def metadata(path):
    with pa.ipc.open_file(str(path)) as file:
        return {k.decode(): v.decode() for k, v in (file.schema.metadata or {}).items()}


def convert(packets, *options):
    (OUT / "in.pcap").write_bytes(p.pcap(packets, nano=True))
    status, _, err = run("pcap2arrow", OUT / "in.pcap", "-o", OUT / "out.arrow", "-f", "--flows", "--nanoseconds", *options)
    ok(status == 0, f"{options}", err)
    with pa.ipc.open_file(str(OUT / "out.arrow")) as file:
        return file.read_all()


def added_up(packets, rows, idle, active):
    """Flows as tuples in the order of the columns."""
    open_flows, out = {}, []
    for (time, data), row in zip(packets, rows):
        if row["protocol"] is None:
            continue
        ports = (row["src_port"], row["dst_port"])
        if row["protocol"] in (p.TCP, p.UDP) and ports[0] is None:
            ports = (0, 0)
        key = (row["protocol"], row["src_addr"], row["dst_addr"], row["src_addr6"], row["dst_addr6"], *ports)
        flow = open_flows.get(key)
        if flow is not None and (time - flow[1] > idle or time - flow[0] > active):
            out.append((key, flow))
            flow = None
        if flow is None:
            flow = open_flows[key] = [time, time, 0, 0, 0]
        flow[0], flow[1] = min(flow[0], time), max(flow[1], time)
        flow[2] += 1
        flow[3] += len(data)
        flow[4] |= row["tcp_flags"] or 0
    out += open_flows.items()
    return sorted(((f[0], f[1], *key, f[2], f[3], f[4] if key[0] == p.TCP else None) for key, f in out), key=repr)


def found(table):
    rows = table.set_column(0, "first_seen", table.column("first_seen").cast(pa.int64()))
    rows = rows.set_column(1, "last_seen", rows.column("last_seen").cast(pa.int64()))
    return sorted((tuple(row.values()) for row in rows.to_pylist()), key=repr)


# Forty flows, whose packets come at random times.
pool = [p.random_packet(r, kind=p.HEADERS[i % 6], size=r.randrange(100)) for i in range(40)]
packets, rows, time = [], [], BEGIN
for _ in range(5000):
    data, row = r.choice(pool[:r.choice([2, 10, 40])])
    time += r.choice([1000, 10**6, SECOND // 10, 3 * SECOND])
    packets.append((time, data))
    rows.append(row)
everything = ["first_seen", "last_seen", "protocol", "src_addr", "dst_addr", "src_addr6", "dst_addr6", "src_port", "dst_port", "packets",
              "bytes", "tcp_flags"]
for idle, active in ((60, 1800), (5, 1800), (1, 10), (100_000, 100_000)):
    wanted = added_up(packets, rows, idle * SECOND, active * SECOND)
    for options in (["-t", "1"], ["-t", "4", "--chunk-size=64k"]):
        table = convert(packets, f"--flow-idle={idle}s", f"--flow-active={active}s", *options)
        equal(table.column_names, everything, "columns of flows")
        equal(len(found(table)), len(wanted), f"{idle} {active} {options}: number of flows")
        equal(found(table) == wanted, True, f"{idle} {active} {options}: flows")
        equal(metadata(OUT / "out.arrow")["pcap.packets"], str(len(packets)), "packets of the flows")
ok(len(added_up(packets, rows, SECOND, 10 * SECOND)) > 1000, "many flows")

# Too many flows at once: some end early, nothing is lost.
many = [(BEGIN + i, p.random_packet(r, kind="udp4", size=1)[0]) for i in range(3000)]
for limit in (1, 7, 100):
    table = convert(many + many, f"--flow-table={limit}")
    equal(sum(table.column("packets").to_pylist()), 6000, f"--flow-table={limit}: all packets are there")
    equal(sum(table.column("bytes").to_pylist()), 2 * sum(len(data) for _, data in many), f"--flow-table={limit}: all bytes")
equal(convert([]).num_rows, 0, "no packets, no flows")
for options, message in ((["--no-payload"], "not for --flows"), (["--limit-time=1h"], "one file"), (["--flow-idle=x"], "no time")):
    status, _, err = run("pcap2arrow", OUT / "in.pcap", "--flows", *options)
    ok(status == 2 and message in err, f"{options}", err)

done()
