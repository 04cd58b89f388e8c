#!/usr/bin/env python3
"""pcap2arrow --xdp: captures by AF_XDP from one end of a virtual cable, in generic and in the driver's mode: all packets in order, filters,
several queues, losses, an interface that vanishes, what is refused."""
import re
import signal
import socket
import subprocess
import time

import pyarrow as pa

import packets as p
from cable import capabilities, enter_namespace, ip, make_cable
from checks import done, equal, folder, ok, program, run, start, wait_until

enter_namespace()

OUT = folder("pcap2arrow_xdp")
OUT_FILE = OUT / "out.arrow"
ALL = ",".join(p.HEADERS)
r = p.random_source(3)
# Without the kernel's part, or the right to load programs into it, it says so.
make_cable()
status, out, err = run("pcap2arrow", "-i", "right", "--xdp", "--duration=1s", "-o", OUT_FILE, "-f")
if status != 0:
    ok(status == 1 and "by AF_XDP" in err, "says what is missing", err)
    done()
less = ["setpriv", "--bounding-set=-sys_admin,-bpf,-net_admin"]
result = subprocess.run([*less, program("pcap2arrow"), "-i", "right", "--xdp", "-o", OUT / "no.arrow"], capture_output=True, text=True)
ok(result.returncode == 1 and "CAP_NET_ADMIN and CAP_BPF" in result.stderr, "without privileges it says which ones", result.returncode, result.stderr)
for arguments, code, message in ((["-i", "any"], 2, "not any"), (["-i", "nothing"], 1, "no interface"),
                                 (["-i", "right", "-t", "3"], 1, "1 receive queues"),
                                 (["-i", "right", "--direction=out"], 2, "come in"), (["-i", "right", "--hardware-time"], 2, "--hardware-time"),
                                 (["-i", "right", "--fanout=lb"], 2, "--fanout does not go with --xdp"),
                                 (["-i", "right", "-r", "tcp porc 5"], 2, "filter")):
    status, out, err = run("pcap2arrow", *arguments, "--xdp", "-o", OUT / "no.arrow")
    ok(status == code and message in err and not (OUT / "no.arrow").exists(), f"{arguments}", status, err)

wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
wire.bind(("left", 0))


def has_program(interface="right"):
    return "prog/xdp" in subprocess.run(["ip", "link", "show", interface], capture_output=True, text=True).stdout


def capture(*options):
    with (OUT / "told").open("w") as told:
        process = start("pcap2arrow", "-i", "right", "-o", OUT_FILE, "-f", "-p", ALL, *options, stdout=subprocess.DEVNULL, stderr=told)
    wait_until(lambda: process.poll() is not None or has_program())
    return process


def ended(process, status=0, number=None):
    """What it said, after a signal if one is given."""
    if number is not None:
        process.send_signal(number)
    process.wait(timeout=60)
    told = (OUT / "told").read_text()
    ok(process.returncode == status, f"ends with {status}", process.args, process.returncode, told)
    return told


def counted():
    """Packets that were captured or dropped, as -s tells."""
    found = re.findall(r": (\d+) packets, \d+ bytes, (\d+) dropped", (OUT / "told").read_text())
    return sum(map(int, found[-1])) if found else 0


def table():
    with pa.ipc.open_file(str(OUT_FILE)) as file:
        return file.read_all()


def send(frames):
    for frame in frames:
        wire.send(frame)


made = [p.random_packet(r) for _ in range(3000)]
frames, rows = [data for data, _ in made], [row for _, row in made]
for mode in ("--xdp", "--xdp=driver"):
    process = capture(mode, "-v", "-c", str(len(frames)))
    if mode == "--xdp=driver" and process.poll() is not None and "works with any" in (OUT / "told").read_text():
        continue  # an older driver of such cables
    begin = time.time()
    send(frames)
    err = ended(process)
    ok(f"{len(frames)} packets captured, 0 dropped" in err, f"{mode}: counts at the end", err)
    found = table()
    for name in found.column_names[1:]:
        equal(found[name].to_pylist() == [row.get(name) for row in rows], True, f"{mode}: {name}")
    times = found["timestamp"].cast(pa.int64()).to_pylist()
    ok(begin - 1 <= times[0] / 1e6 <= times[-1] / 1e6 <= time.time() + 1 and times == sorted(times), f"{mode}: times")
    ok(not has_program(), f"{mode}: the program is gone")

# Only one program can have the interface. Capabilities are gone when packets are taken.
process = capture("--xdp", "-r", "udp and not vlan", "--snap=60", "-c", "50", "--progress")
status, out, err = run("pcap2arrow", "-i", "right", "--xdp", "-o", OUT / "no.arrow")
ok(status == 1 and "Another program" in err and not (OUT / "no.arrow").exists(), "a second capture by AF_XDP", status, err)
kept = capabilities(process)
ok(len(kept) >= 4 and not any(bits & (1 << 12 | 1 << 13 | 1 << 39) for bits in kept), "no thread has such capabilities any more", list(map(hex, kept)))


def without_tags(kind, count):
    found = []
    while len(found) < count:
        frame = p.random_packet(r, kind=kind, size=200)[0]
        if frame[12:14] == b"\x08\x00":
            found.append(frame)
    return found


# Filters and the snap length.
send([frame for pair in zip(without_tags("tcp4", 50), without_tags("udp4", 50)) for frame in pair])
ended(process)
found = table()
equal((found.num_rows, set(found["protocol"].to_pylist())), (50, {p.UDP}), "-r udp")
ok(max(map(len, found["payload"].to_pylist())) <= 60 - 14 - 20 - 8, "--snap")

# The promiscuous mode lasts as long as the capture.
for options, wanted in (((), 0), (("--promiscuous",), 1)):
    process = capture("--xdp", *options)
    shown = subprocess.run(["ip", "-d", "link", "show", "right"], capture_output=True, text=True, check=True).stdout
    ok(f"promiscuity {wanted} " in shown, f"promiscuity during a capture {options}", shown)
    ended(process, number=signal.SIGINT)

# What does not fit into the ring is counted.
process = capture("--xdp", "--ring-size=2m", "-s", "1")
process.send_signal(signal.SIGSTOP)
big = p.random_packet(r, size=1400, kind="tcp4")[0]
for _ in range(3000):
    wire.send(big)
process.send_signal(signal.SIGCONT)
wait_until(lambda: counted() == 3000)
err = ended(process, number=signal.SIGINT)
with pa.ipc.open_file(str(OUT_FILE)) as file:
    lost = int(file.schema.metadata[b"pcap.dropped"])
ok("the kernel dropped" in err, "losses are told", err)
equal(table().num_rows + lost, 3000, "packets that were captured and dropped are those that were sent")

# An interface that vanishes.
process = capture("--xdp", "-s", "1")
send(frames[:100])
wait_until(lambda: counted() == 100)
ip("link", "del", "right")
ok("has vanished" in ended(process, 1), "an interface that vanishes")
equal(table().num_rows, 100, "and what was captured is there")

# A thread for each of several queues.
make_cable("numrxqueues", "3", "numtxqueues", "3")
wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
wire.bind(("left", 0))
process = capture("--xdp", "-c", str(len(frames)))
send(frames)
ended(process)
wanted = sorted(str({name: row.get(name) for name in found.column_names[1:]}) for row in rows)
equal(sorted(map(str, table().drop_columns(["timestamp"]).to_pylist())) == wanted, True, "all packets of three queues")
done()
