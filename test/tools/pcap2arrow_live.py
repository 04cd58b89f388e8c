#!/usr/bin/env python3
"""pcap2arrow -i: captures in a network namespace of the test's own, where packets go from one end of a virtual cable to
the other."""
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time

import pyarrow as pa

import packets as p
from cable import capabilities, enter_namespace, ip, make_cable
from checks import done, equal, folder, ok, program, run, start, wait_until

enter_namespace()
OUT = folder("pcap2arrow_live")
ALL = ",".join(p.HEADERS)
r = p.random_source(2)


make_cable()
wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
wire.bind(("left", 0))


def read(path):
    with pa.ipc.open_file(str(path)) as file:
        return file.read_all()


def metadata(path):
    with pa.ipc.open_file(str(path)) as file:
        return {k.decode(): v.decode() for k, v in (file.schema.metadata or {}).items()}


def is_capturing(process, count=1, others=0):
    """Its sockets take packets: they have a protocol, and no more the filter of one instruction, which takes nothing. `others`: of
    other processes, which are counted with them."""
    lines = open(f"/proc/{process.pid}/net/packet").read().splitlines()[1:]
    if sum(line.split()[3] == "0003" and line.split()[5] == "1" for line in lines) < count + others:
        return False
    sockets = subprocess.run(["ss", "-0bpnH"], capture_output=True, text=True, check=True).stdout
    own = [text for text in re.split(r"\n(?=\S)", sockets) if f"pid={process.pid}," in text]
    return len(own) >= count and not any("bpf filter (1):" in text for text in own)


def capture(*options, name="out.arrow", interface="right", count=1):
    process = start("pcap2arrow", "-i", interface, "-o", OUT / name, "-f", "-p", ALL, *options, stdout=subprocess.DEVNULL)
    wait_until(lambda: process.poll() is not None or is_capturing(process, count))
    time.sleep(0.05)
    return process


def ended(process, status=0, number=None):
    """Its standard error, after a signal if one is given."""
    if number is not None:
        process.send_signal(number)
    _, err = process.communicate(timeout=60)
    ok(process.returncode == status, f"ends with {status}", process.args, process.returncode, err)
    return err


def send(frames):
    for frame in frames:
        wire.send(frame)


def sample(count, **options):
    made = [p.random_packet(r, **options) for _ in range(count)]
    return [data for data, _ in made], [row for _, row in made]


def same(table, rows, what):
    """All columns but the time."""
    if not equal(table.num_rows, len(rows), f"{what}: packets"):
        return
    for name in table.column_names[1:]:
        equal(table.column(name).to_pylist() == [row.get(name) for row in rows], True, f"{what}: {name}")


def untagged(count, **options):
    """Packets without VLAN tags, which the kernel takes out."""
    frames, rows = [], []
    while len(frames) < count:
        data, row = p.random_packet(r, **options)
        if data[12:14] in (b"\x08\x00", b"\x86\xdd"):
            frames.append(data)
            rows.append(row)
    return frames, rows


# What is sent is captured, in order, until a signal.
frames, rows = sample(3000)
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    process = capture("-v", "--stats=timestamp")
    begin = time.time()
    send(frames)
    time.sleep(0.2)
    err = ended(process, number=number)
    ok("3000 packets captured, 0 dropped by the kernel" in err, "counts at the end", err)
    table = read(OUT / "out.arrow")
    same(table, rows, f"a capture until {number.name}")
    times = table.column("timestamp").cast(pa.int64()).to_pylist()
    ok(begin - 1 <= times[0] / 1e6 <= times[-1] / 1e6 <= time.time() + 1 and times == sorted(times), "times of the kernel")
    equal(metadata(OUT / "out.arrow").get("pcap.interface"), "right", "the interface's name")
process = capture("-c", "100")
send(frames[:500])
ended(process)
same(read(OUT / "out.arrow"), rows[:100], "-c")
begin = time.time()
ended(capture("--duration=1s"))
ok(0.9 < time.time() - begin < 5 and read(OUT / "out.arrow").num_rows == 0, "--duration, and a file without packets")

# Capabilities are gone from all threads when packets are taken: all of a user, and of root but those to write files.
TO_WRITE = 0b1111  # CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER
for options in ((), ("--progress",), ("-t", "2", "--progress=json", "-s", "1")):
    process = capture(*options, count=2 if "-t" in options else 1)
    kept = capabilities(process)
    ok(len(kept) >= 4 and all(bits & ~TO_WRITE == 0 for bits in kept), f"threads of root keep what writes files {options}", list(map(hex, kept)))
    ended(process, number=signal.SIGINT)
    with tempfile.TemporaryDirectory() as open_folder:
        os.chmod(open_folder, 0o755)
        copied = shutil.copy(program("pcap2arrow"), open_folder)
        raw = ["setpriv", "--inh-caps=-all,+net_raw", "--ambient-caps=+net_raw"]
        has_users = "4294967295" in open("/proc/self/uid_map").read()
        if has_users:  # else all are root here
            raw += ["--reuid=65534", "--clear-groups"]
        process = subprocess.Popen([*raw, copied, "-i", "right", "-o", "-", *options], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        wait_until(lambda: process.poll() is not None or is_capturing(process, 2 if "-t" in options else 1))
        time.sleep(0.05)
        kept = capabilities(process)
        ok(len(kept) >= 4 and all(bits & ~(0 if has_users else TO_WRITE) == 0 for bits in kept), f"threads of a user have none {options}", list(map(hex, kept)))
        ended(process, number=signal.SIGINT)
result = subprocess.run(["unshare", "-U", program("pcap2arrow"), "-i", "lo", "-o", OUT / "no.arrow"], capture_output=True, text=True)
ok(result.returncode == 1 and "CAP_NET_RAW" in result.stderr, "without privileges it says which one", result.stderr)

# Filters, the snap length, VLAN tags.
process = capture("-r", "udp", "--snap=60")
mixed, mixed_rows = untagged(1000)
send(mixed)
time.sleep(0.2)
ended(process, number=signal.SIGINT)
table = read(OUT / "out.arrow")
wanted = [row for row in mixed_rows if row["udp_length"] is not None and not row["ip6_options"]]
ok(table.num_rows >= len(wanted) > 0 and set(table.column("protocol").to_pylist()) <= {p.UDP, 44}, "-r udp", table.num_rows, len(wanted))
ok(max(map(len, table.column("payload").to_pylist())) <= 60 - 14 - 20 - 8, "--snap")
tagged = b"\2" * 12 + b"\x81\x00\x00\x07" + frames[0][12:]
process = capture("-r", "vlan 7")
send([tagged, frames[1], tagged])
time.sleep(0.2)
ended(process, number=signal.SIGINT)
equal(read(OUT / "out.arrow").num_rows, 2, "a filter for VLAN tags")
process = capture("-p", "ipv4,vlan")
send([b"\2" * 12 + b"\x81\x00\xa0\x07" + frames[0][12:], untagged(1)[0][0]])
time.sleep(0.2)
ended(process, number=signal.SIGINT)
table = read(OUT / "out.arrow")
equal([[list_[0] if list_ else list_ for list_ in table.column(name).to_pylist()] for name in ("vlan_ids", "vlan_priorities")],
      [[7, None], [5, None]], "tags that the kernel has taken out")
for arguments, status, message in ((["-i", "right", "-r", "tcp porc 5"], 2, "filter"), (["-i", "nothing"], 1, "no interface"),
                                   (["-i", "right", "x.pcap"], 2, "no file to read"), (["x.pcap", "-s", "1"], 2, "is for captures"),
                                   (["-i", "right", "--limit-time=1y"], 2, "no time such as")):
    code, _, err = run("pcap2arrow", *arguments, "-o", OUT / "no.arrow")
    ok(code == status and message in err and not (OUT / "no.arrow").exists(), f"{arguments}", code, err)

# Several threads: every packet once.
plain, plain_rows = untagged(4000, kind="udp4", size=20)
for mode in ("hash", "lb", "cpu", "rollover"):
    process = capture("-t", "3", f"--fanout={mode}", count=3)
    send(plain)
    time.sleep(0.2)
    ended(process, number=signal.SIGINT)
    found = sorted((row["src_addr"], row["identifier"], row["payload"]) for row in read(OUT / "out.arrow").to_pylist())
    equal(found == sorted((row["src_addr"], row["identifier"], row["payload"]) for row in plain_rows), True, f"--fanout={mode}")
process = capture("-t", "2", name="q%q.arrow", count=2)
send(plain)
time.sleep(0.2)
ended(process, number=signal.SIGINT)
counts = [read(OUT / f"q{q}.arrow").num_rows for q in range(2)]
ok(sum(counts) == len(plain) and min(counts) > 0, "a file for each thread", counts)

process = capture("-t", "4", "--parallel-write=2", "-v", name="wide.arrow", count=4)
send(plain)
time.sleep(0.2)
ended(process, number=signal.SIGINT)
found = sorted((row["src_addr"], row["identifier"], row["payload"]) for name in ("wide.arrow", "wide-1.arrow") for row in read(OUT / name).to_pylist())
equal(found == sorted((row["src_addr"], row["identifier"], row["payload"]) for row in plain_rows), True, "--parallel-write has each packet once")
ok(not (OUT / "wide-2.arrow").exists(), "--parallel-write=2 writes two files")


# The promiscuous mode lasts as long as the capture; times of a network card need one that has them.
def promiscuity():
    shown = subprocess.run(["ip", "-d", "link", "show", "right"], capture_output=True, text=True, check=True).stdout
    return int(re.search(r"promiscuity (\d+)", shown).group(1))


for options, wanted in (([], 0), (["--promiscuous"], 1), (["--promiscuous", "-t", "2"], 2)):
    process = capture(*options, count=2 if "-t" in options else 1)
    equal(promiscuity(), wanted, f"promiscuity during a capture {options}")
    ended(process, number=signal.SIGINT)
    equal(promiscuity(), 0, f"and after it {options}")
code, _, err = run("pcap2arrow", "-i", "lo", "--hardware-time", "--duration=1s", "-o", OUT / "no.arrow")
ok(code == 1 and 'could not turn on hardware timestamps of "lo"' in err and "network card that has them" in err and
   not (OUT / "no.arrow").exists(), "the loopback interface has no hardware timestamps", code, err)

# Flows instead of packets.
process = capture("--flows", "-t", "2", count=2)
for _ in range(3):
    send(plain[:500])
time.sleep(0.2)
ended(process, number=signal.SIGINT)
table = read(OUT / "out.arrow")
equal((table.num_rows, set(table.column("packets").to_pylist())), (500, {3}), "--flows")
equal(metadata(OUT / "out.arrow")["pcap.packets"], "1500", "packets of flows are counted")
process = capture("--flows", "--flow-idle=1s", "--limit-time=1s", name="f%S.arrow")
send(plain[:10])
wait_until(lambda: any(read(f).num_rows > 0 for f in OUT.glob("f*.arrow")), 20)
ended(process, number=signal.SIGINT)
equal(sum(read(f).num_rows for f in OUT.glob("f*.arrow")), 10, "flows that are idle go to a file")

# Files one after the other: by packets, by time; names that are taken.
process = capture("--limit-packets=700", name="n.arrow")
send(frames)
time.sleep(0.2)
ended(process, number=signal.SIGINT)
names = ["n.arrow", "n-1.arrow", "n-2.arrow", "n-3.arrow", "n-4.arrow"]
equal([read(OUT / n).num_rows for n in names], [700] * 4 + [200], "--limit-packets")
same(pa.concat_tables([read(OUT / n) for n in names]), rows, "files by packets")
big = sample(1, size=1400, kind="tcp4")[0][0]
process = capture("--limit=64m", "--chunk-size=4m", name="size.arrow")
for _ in range(60_000):
    wire.send(big)
time.sleep(0.2)
ended(process, number=signal.SIGINT)
names = ["size.arrow", "size-1.arrow"]
sizes = [(OUT / n).stat().st_size for n in names]
ok(50 << 20 < sizes[0] <= 64 << 20 and not (OUT / "size-2.arrow").exists(), "--limit", sizes)
lost = sum(int(metadata(OUT / n).get("pcap.dropped", 0)) for n in names)
equal(sum(read(OUT / n).num_rows for n in names) + lost, 60_000, "files by size have all packets")
(OUT / "time").mkdir(exist_ok=True)
process = capture("--limit-time=1s", name="time/%H%M%S.arrow", count=1)
for i in range(6):
    send(frames[i * 500:(i + 1) * 500])
    time.sleep(0.5)
wait_until(lambda: len(list((OUT / "time").iterdir())) >= 2)
ended(process, number=signal.SIGINT)
files = sorted((OUT / "time").iterdir())
tables = [read(f) for f in files]
ok(3 <= len(files) <= 5, "--limit-time", files)
same(pa.concat_tables(tables), rows, "files by time")
for path, table in zip(files, tables):
    seconds = {t // 10**6 for t in table.column("timestamp").cast(pa.int64()).to_pylist()}
    ok(len(seconds) == 1 and time.strftime("%H%M%S", time.localtime(seconds.pop())) in path.name, f"{path.name} is of one second")
(OUT / "two").mkdir(exist_ok=True)
both = [start("pcap2arrow", "-i", "right", "-o", OUT / "two" / "x_%Y.arrow", "-c", "500") for _ in range(2)]
wait_until(lambda: all(is_capturing(process, others=1) for process in both))
time.sleep(0.1)
send(frames[:600])
for process in both:
    ended(process)
equal(sorted(f.name[6:] for f in (OUT / "two").iterdir()), ["-1.arrow", ".arrow"], "two captures with the same name")
equal([read(f).num_rows for f in (OUT / "two").iterdir()], [500, 500], "both files are whole")

# A second without packets ends a file, too.
process = capture("--limit-time=1s", name="idle%S.arrow")
send(frames[:300])
ok(wait_until(lambda: sum(read(f).num_rows for f in OUT.glob("idle*.arrow")) == 300, 20), "a file is whole when its time is over")
ok(process.poll() is None, "while the capture goes on")
ended(process, number=signal.SIGINT)

# Losses are told at once, and in the file.
process = capture("--ring-size=2m", "-s", "1")
process.send_signal(signal.SIGSTOP)
for _ in range(5000):
    wire.send(big)
process.send_signal(signal.SIGCONT)
time.sleep(2.5)
err = ended(process, number=signal.SIGINT)
ok("the kernel dropped" in err and "dropped by the kernel" in err, "losses are told", err)
ok("right: " in err and " written" in err, "-s tells what happens", err)
lost = int(metadata(OUT / "out.arrow")["pcap.dropped"])
equal(read(OUT / "out.arrow").num_rows + lost, 5000, "packets that were captured and dropped are those that were sent")

# What had arrived before the end was asked for is taken, in all blocks of the ring.
process = capture("-v")
process.send_signal(signal.SIGSTOP)
for _ in range(5000):
    wire.send(big)
process.send_signal(signal.SIGINT)
process.send_signal(signal.SIGCONT)
err = ended(process)
ok("5000 packets captured, 0 dropped by the kernel" in err, "packets that had arrived before the end", err)

# The loopback interface has each packet once; any has all interfaces.
process = capture("-r", "udp port 7777", interface="lo")
talk = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for i in range(100):
    talk.sendto(b"%d" % i, ("127.0.0.1", 7777))
time.sleep(0.2)
ended(process, number=signal.SIGINT)
equal(read(OUT / "out.arrow").column("payload").to_pylist(), [b"%d" % i for i in range(100)], "the loopback interface")
for interface in ("lo", "any"):
    for direction in ("in", "out", "both"):
        process = capture("-r", "udp port 7777", f"--direction={direction}", interface=interface)
        for i in range(6):
            talk.sendto(b"%d" % i, ("127.0.0.1", 7777))
        time.sleep(0.2)
        ended(process, number=signal.SIGINT)
        equal(read(OUT / "out.arrow").column("payload").to_pylist(), [b"%d" % i for i in range(6)], f"-i {interface} --direction={direction}")
process = capture("-r", "udp", "--interface-id", interface="any")
send(plain[:20])
time.sleep(0.2)
ended(process, number=signal.SIGINT)
equal(sorted(read(OUT / "out.arrow").column("interface_id").to_pylist()),
      sorted([socket.if_nametoindex("left"), socket.if_nametoindex("right")] * 20), "-i any has both ends of a cable")
process = capture("--direction=in", "--interface-id", "-r", "udp", interface="any")
for i in range(20):
    talk.sendto(b"%d" % i, ("127.0.0.1", 7777))
send(plain[:20])
time.sleep(0.2)
ended(process, number=signal.SIGINT)
table = read(OUT / "out.arrow")
ids = table.column("interface_id").to_pylist()
equal((ids.count(socket.if_nametoindex("lo")), ids.count(socket.if_nametoindex("right"))), (20, 20), "any")
ok(set(table.column("dst_mac").to_pylist()) == {None} and set(table.column("ether_type").to_pylist()) == {p.IPV4}, "without the link layer")
process = capture("--direction=out", interface="left")
back = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
back.bind(("right", 0))
for frame in plain[50:80]:
    back.send(frame)
send(plain[:50])
time.sleep(0.2)
ended(process, number=signal.SIGINT)
same(read(OUT / "out.arrow"), plain_rows[:50], "--direction=out")
process = capture("--direction=in", interface="left")
send(plain[:50])
for frame in plain[50:80]:
    back.send(frame)
time.sleep(0.2)
ended(process, number=signal.SIGINT)
same(read(OUT / "out.arrow"), plain_rows[50:80], "--direction=in")

# Folders that cannot be written to, files that exist, disks that are full.
code, _, err = run("pcap2arrow", "-i", "right", "-o", "/proc/%H.arrow")
ok(code == 1 and "could not" in err, "a folder where nothing can be written", err)
code, _, err = run("pcap2arrow", "-i", "right", "-o", OUT / "out.arrow")
ok(code == 1 and "exists" in err, "a file that exists", err)
small = OUT / "small"
small.mkdir(exist_ok=True)
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", small], check=True)
for options in ([], ["-C", "lz4"], ["-t", "2"]):
    process = capture("--chunk-size=4m", *options, name="small/x.arrow", count=2 if "-t" in options else 1)
    frame = sample(1, size=1400, kind="tcp4")[0][0][:-1000]
    sent = 0
    while process.poll() is None and sent < 100_000:
        for _ in range(500):
            wire.send(frame + r.randbytes(1000))
        sent += 500
    err = ended(process, 1)
    ok("No space left" in err and "could not be written" in err, "a full disk is an error", err)
    table = read(small / "x.arrow")
    ok(table.num_rows > 5000, f"and what was written before is a whole file {options}", table.num_rows)
    told = int(err.split(" captured packets could not be written")[0].split()[-1])
    ok(told > 0, "how many packets were lost is told", err)
    equal(int(metadata(small / "x.arrow").get("pcap.lost", 0)), told, f"and in the file {options}")
    captured = int(re.search(r"(\d+) packets captured", err).group(1)) if "packets captured" in err else None
    ok(captured in (None, table.num_rows + told), "written and lost packets are those that were captured", err)
    (small / "x.arrow").unlink()
subprocess.run(["umount", small], check=True)

# An interface that goes down comes back; one that vanishes does not.
process = capture()
send(frames[:100])
time.sleep(0.2)
ip("link", "set", "right", "down")
time.sleep(0.3)
ip("link", "set", "right", "up")
time.sleep(0.2)
send(frames[100:200])
time.sleep(0.2)
ok(process.poll() is None, "goes on after the interface was down")
# The kernel reports only that it goes down.
ip("link", "set", "right", "down")
time.sleep(0.3)
ip("link", "del", "right")
err = ended(process, 1)
ok("has vanished" in err, "an interface that vanishes is an error", err)
table = read(OUT / "out.arrow")
ok(table.num_rows == 200, "and what was captured is there", table.num_rows)

done()
