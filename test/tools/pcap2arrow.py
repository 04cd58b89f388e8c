#!/usr/bin/env python3
"""pcap2arrow: capture files of all kinds into Arrow files. The packets are random, with fields that the test knows; dpkt
takes them apart, too."""
import ctypes
import datetime
import gzip
import mmap
import os
import signal
import subprocess
from time import sleep

import dpkt
import pyarrow as pa

import packets as p
from checks import done, equal, folder, ok, program, run, start, wait_until

OUT = folder("pcap2arrow")
BEGIN = 1_700_000_000 * 10**9
ALL = ",".join(p.HEADERS)
r = p.random_source(1)


def read(path):
    with pa.ipc.open_file(str(path)) as file:
        return file.read_all()


def metadata(path):
    with pa.ipc.open_file(str(path)) as file:
        return {k.decode(): v.decode() for k, v in (file.schema.metadata or {}).items()}


def convert(data, *options, name="in.pcap"):
    """The table that becomes of a file's bytes."""
    (OUT / name).write_bytes(data)
    status, out, err = run("pcap2arrow", OUT / name, "-o", OUT / "out.arrow", "-f", *options)
    if not ok(status == 0, f"{name} {options}", err):
        return None
    return read(OUT / "out.arrow")


def time_of(nanoseconds):
    return datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=nanoseconds // 1000)


def same(table, rows, times, what):
    """Each column of the table has the values of `rows`."""
    if table is None or not equal(table.num_rows, len(rows), f"{what}: packets"):
        return
    for name in table.column_names:
        found = table.column(name).to_pylist()
        wanted = [time_of(t) for t in times] if name == "timestamp" else [row.get(name) for row in rows]
        if found != wanted:
            at = next(i for i, (a, b) in enumerate(zip(found, wanted)) if a != b)
            ok(False, f"{what}: {name}", f"packet {at}", f"found:  {found[at]!r}", f"wanted: {wanted[at]!r}", rows[at])
            return
    ok(True, what)


def sample(count, link=p.ETHERNET, **options):
    made = [p.random_packet(r, link, **options) for _ in range(count)]
    times = [BEGIN + i * 1_234_567 for i in range(count)]
    return [data for data, _ in made], [row for _, row in made], times


# The columns, with their types.
frames, rows, times = sample(2000)
timed = list(zip(times, frames))
table = convert(p.pcap(timed), "-p", ALL)
equal(table.column_names, p.NAMES, "names of all columns")
same(table, rows, times, "random packets")
types = {"timestamp": pa.timestamp("us"), "dst_mac": pa.binary(6), "src_addr": pa.binary(4), "src_addr6": pa.binary(16),
         "tos": pa.uint8(), "ip_length": pa.uint16(), "flow_label": pa.uint32(), "seq_nr": pa.uint32(), "payload": pa.binary(),
         "tcp_options": pa.binary(), "protocol": pa.uint8(), "tcp_flags": pa.uint16()}
for name, wanted in types.items():
    equal(table.schema.field(name).type, wanted, f"type of {name}")
for name, wanted in (("dst_mac", b"pg_catalog.macaddr"), ("src_addr", b"pg_catalog.inet"), ("dst_addr6", b"pg_catalog.inet")):
    equal(table.schema.field(name).metadata, {b"pg_type": wanted}, f"{name} comes back as its type")
equal(metadata(OUT / "out.arrow"), {"pcap.packets": "2000", "pcap.bytes": str(sum(map(len, frames)))}, "counts in the footer")

# The default, and fewer headers: what is not taken apart is payload.
table = convert(p.pcap(timed))
wanted = [n for n in p.NAMES if n not in ("traffic_class", "flow_label", "hop_limit", "src_addr6", "dst_addr6", "ip6_options")]
equal(table.column_names, wanted, "columns by default: TCP, UDP and ICMP over IPv4")
six = next(i for i, row in enumerate(rows) if row["ether_type"] == p.IPV6)
at = frames[six].index(b"\x86\xdd") + 2
equal(table.column("payload")[six].as_py(), frames[six][at:], "IPv6 as payload")
equal(convert(p.pcap(timed), "-p", "udp4", "--no-payload").column_names,
      ["timestamp", "dst_mac", "src_mac", "ether_type", "tos", "ip_length", "identifier", "fragment", "ttl", "ip_checksum",
       "src_addr", "dst_addr", "ip_options", "protocol", "src_port", "dst_port", "udp_length", "udp_checksum"], "-p udp4")
table = convert(p.pcap(timed), "-p", "ipv4")
equal(table.column_names[-2:], ["protocol", "payload"], "-p ipv4")
tcp = next(i for i, row in enumerate(rows) if row["seq_nr"] is not None and row["ether_type"] == p.IPV4)
ok(table.column("payload")[tcp].as_py().endswith(rows[tcp]["payload"]), "TCP is payload with -p ipv4")

# Forms of pcap files.
for options in ({"order": ">"}, {"nano": True}, {"nano": True, "order": ">"}, {"patched": True}, {"snap": 96}):
    same(convert(p.pcap(timed, **options), "-p", ALL), rows, times, f"pcap {options}")
table = convert(p.pcap([(BEGIN + 123_456_789, frames[0])], nano=True), "--nanoseconds")
equal(table.column("timestamp").cast(pa.int64()).to_pylist(), [BEGIN + 123_456_789], "--nanoseconds")

# Link types.
for link in (p.RAW, p.NULL, p.LOOP, p.PPP, p.SLL, p.SLL2):
    data, facts, when = sample(200, link)
    same(convert(p.pcap(list(zip(when, data)), link=link), "-p", ALL), facts, when, f"link type {link}")
table = convert(p.pcap(timed, link=147), "-v")
equal(table.column("payload").to_pylist(), frames, "an unknown link type keeps the bytes")
equal(metadata(OUT / "out.arrow")["pcap.malformed.unknown_link_type"], "2000", "and is counted")
equal(metadata(OUT / "out.arrow").get("pcap.unknown_link_type.147"), "2000", "and named in the metadata")
(OUT / "links.pcapng").write_bytes(p.section() + p.interface(147) + p.interface(p.ETHERNET) + p.interface(105) + p.interface(65000) +
                                   b"".join(p.enhanced(b"abcdef", 1, i) for i in (0, 1, 2, 2, 3)))
for options, rest in (((), "all of their bytes are payload"), (("--no-payload",), "only their times are written"),
                      (("--flows",), "they are in no flow"), (("-t", "3", "--chunk-size=64k"), "all of their bytes are payload")):
    status, _, err = run("pcap2arrow", OUT / "links.pcapng", "-o", OUT / "out.arrow", "-f", *options)
    told = [f"pcap2arrow: warning: {count} packets of link type {name} are not taken apart: {rest}"
            for count, name in ((2, "105 (IEEE802_11)"), (1, "147"), (1, "65000"))]
    equal((status, err.splitlines()), (0, told),
          f"unknown link types are told {options}")

# pcapng: sections of both byte orders, interfaces with resolutions of their own, blocks that mean nothing to us.
parts, all_rows, all_times, ids = [], [], [], []
for order in "<><":
    parts += [p.section(order), p.interface(order=order, name="eth0"), p.interface(resolution=9, order=order),
              p.block(10, p.struct.pack(order + "II", 0x544C534B, 4) + b"key ", order),
              p.interface(resolution=0x80 | 10, offset=1000, order=order), p.block(0x0BAD, b"\1\2\3\4", order)]
    for i, (time, data, row) in enumerate(zip(times[:300], frames, rows)):
        which = i % 4
        if which == 0:
            time = time // 1000 * 1000
            parts.append(p.enhanced(data, time // 1000, 0, order, options=p.option(2, b"\1\0\0\0", order)))
        elif which == 1:
            parts.append(p.enhanced(data, time, 1, order))
        elif which == 2:
            ticks = (time - 1000 * 10**9) * 1024 // 10**9
            time = ticks * 10**9 // 1024 + 1000 * 10**9
            parts.append(p.enhanced(data, ticks, 2, order))
        else:
            time = time // 1000 * 1000
            parts.append(p.old_packet(data, time // 1000, 0, order))
        all_rows.append(row)
        all_times.append(time)
        ids.append([0, 1, 2, 0][which])
    parts.append(p.block(5, p.struct.pack(order + "III", 0, 0, 0) + p.option(5, p.struct.pack(order + "Q", 7), order), order))
table = convert(b"".join(parts), "-p", ALL, "--interface-id", name="in.pcapng")
equal(table.column("interface_id").to_pylist(), ids, "pcapng: interface_id")
same(table.drop_columns("interface_id"), all_rows, all_times, "pcapng")
equal(metadata(OUT / "out.arrow")["pcap.dropped"], "21", "packets that were dropped, by the interfaces' statistics")
table = convert(p.section() + p.interface() + p.simple(frames[0]) + p.simple(frames[1]), "-p", ALL)
equal(table.column("payload").to_pylist(), [rows[0]["payload"], rows[1]["payload"]], "pcapng: simple packets")
table = convert(p.section() + p.interface(snap=60) + p.simple(frames[0]), "-p", "ipv4")
ok(len(table.column("payload")[0].as_py()) < 60, "pcapng: simple packets are cut at the snap length")

# Several files, threads, compressed ones, standard input: the same rows in the same order.
for i in range(4):
    (OUT / f"part{i}.pcap").write_bytes(p.pcap(timed[i * 500:(i + 1) * 500], order="<>"[i % 2], nano=i >= 2))
parts = [OUT / f"part{i}.pcap" for i in range(4)]
for options in (["-t", "1"], ["-t", "3", "--chunk-size=64k"], ["--pcap-threads=8", "--chunk-size=64k", "-C", "lz4"],
                ["-n", "2", "-C", "zstd"]):
    status, out, err = run("pcap2arrow", *parts, "-o", OUT / "out.arrow", "-f", "-p", ALL, *options)
    ok(status == 0, f"several files {options}", err)
    same(read(OUT / "out.arrow"), rows, times, f"several files {options}")
whole = p.pcap(timed)
for name, data in (("x.gz", gzip.compress(whole)), ("x.zst", pa.compress(whole, "zstd", asbytes=True)),
                   ("x", pa.compress(whole, "lz4", asbytes=True)),
                   ("two.gz", gzip.compress(whole[:1000]) + gzip.compress(whole[1000:]))):
    same(convert(data, "-p", ALL, "--chunk-size=64k", "-t", "2", name=name), rows, times, f"compressed: {name}")
for data in (whole, gzip.compress(whole)):
    result = subprocess.run([program("pcap2arrow"), "-", "-o", "-", "-p", ALL, "--chunk-size=100k"], input=data,
                            capture_output=True)
    ok(result.returncode == 0, "standard input", result.stderr)
    same(pa.ipc.open_stream(result.stdout).read_all(), rows, times, "from standard input to standard output")

# A file that is being written, and a pipe: they end at a signal, with what has come.
growing = OUT / "growing.pcap"
growing.write_bytes(whole[:1000])
process = start("pcap2arrow", "--follow", growing, "-o", OUT / "out.arrow", "-f", "-p", ALL)
for at in range(1000, len(whole), 200_000):
    sleep(0.05)
    with open(growing, "ab") as file:
        file.write(whole[at:at + 200_000])
sleep(0.5)
process.send_signal(signal.SIGINT)
_, err = process.communicate(timeout=60)
equal((process.returncode, err), (0, ""), "--follow ends at a signal")
same(read(OUT / "out.arrow"), rows, times, "--follow")
for options in ([], ["-C", "zstd"]):
    process = start("pcap2arrow", "-", "-o", OUT / "out.arrow", "-f", "-p", ALL, *options, stdin=subprocess.PIPE)
    process.stdin.buffer.write(whole)
    process.stdin.buffer.flush()
    sleep(0.5)
    process.send_signal(signal.SIGTERM)
    wait_until(lambda: process.poll() is not None, 60)
    equal(process.returncode, 0, "a pipe that stays open")
    same(read(OUT / "out.arrow"), rows, times, "a pipe until a signal")
    process.stdin.close()
(OUT / "hours").mkdir(exist_ok=True)
hourly = [(BEGIN + i * 60 * 10**9, data) for i, data in enumerate(frames[:600])]
(OUT / "in.pcap").write_bytes(p.pcap(hourly))
for options in (["-t", "1"], ["-t", "4", "--chunk-size=64k"]):
    for path in (OUT / "hours").iterdir():
        path.unlink()
    status, _, err = run("pcap2arrow", OUT / "in.pcap", "-o", OUT / "hours" / "%d_%H%M.arrow", "--limit-time=1h", "-p", ALL, *options, env={"TZ": "Asia/Tokyo"})
    ok(status == 0, "--limit-time", err)
    files = sorted((OUT / "hours").iterdir())
    equal(len(files), 11, "a file for each hour")
    same(pa.concat_tables([read(f) for f in files]), rows[:600], [t for t, _ in hourly], "files by time")
    ok(all(f.name.endswith("00.arrow") for f in files[1:]), "which begin with the hour", files)

# Statistics, for Arrow_Fdw to leave out record batches.
convert(whole, "--stats=timestamp,src_port", "--chunk-size=200k", "-t", "2")
with pa.ipc.open_file(str(OUT / "out.arrow")) as file:
    lows = file.schema.field("timestamp").metadata[b"min_values"].decode().split(",")
    equal(len(lows), file.num_record_batches, "statistics of each batch")
    equal([int(low) for low in lows],
          [file.get_batch(i).column("timestamp")[0].cast(pa.int64()).as_py() for i in range(file.num_record_batches)],
          "the first time of each batch")
for names, message in (("payload", "can have no statistics"), ("nothing", "there is no column")):
    status, _, err = run("pcap2arrow", OUT / "in.pcap", "-o", OUT / "no.arrow", f"--stats={names}")
    ok(status == 1 and message in err and not (OUT / "no.arrow").exists(), f"--stats={names}", err)

# dpkt takes the same packets apart.
table = convert(whole, "-p", ALL).to_pylist()
for data, row in zip(frames, table):
    frame = dpkt.ethernet.Ethernet(data)
    ip = frame.data
    if isinstance(ip, dpkt.ip.IP) and not ip.offset and not isinstance(ip.data, bytes):
        found = (row["src_addr"], row["dst_addr"], row["protocol"], row["ttl"], row["identifier"], row["ip_length"])
        if not equal(found, (ip.src, ip.dst, ip.p, ip.ttl, ip.id, ip.len), "as dpkt: IPv4"):
            break
        if isinstance(ip.data, dpkt.tcp.TCP):
            tcp = ip.data
            found = (row["src_port"], row["dst_port"], row["seq_nr"], row["ack_nr"], row["window_sz"], row["tcp_options"] or b"",
                     row["payload"])
            if not equal(found, (tcp.sport, tcp.dport, tcp.seq, tcp.ack, tcp.win, bytes(tcp.opts), tcp.data), "as dpkt: TCP"):
                break
        if isinstance(ip.data, dpkt.udp.UDP):
            equal((row["src_port"], row["dst_port"], row["udp_length"]), (ip.data.sport, ip.data.dport, ip.data.ulen), "as dpkt: UDP")

# Malformed packets: NULLs, and a count by reason.
row = {}
tcp_packet = b"\2" * 12 + b"\x08\x00" + p.ipv4(p.random_source(3), row, p.TCP, p.transport(p.random_source(3), "tcp", row, b"data"), 0)
ip_at = 14
head = ip_at + (tcp_packet[ip_at] & 15) * 4


def changed(at, value, data=tcp_packet):
    return data[:at] + bytes([value]) + data[at + 1:]


cases = {
    "link_header_cut": tcp_packet[:13], "ip_header_cut": tcp_packet[:ip_at + 19], "ip_version_mismatch": changed(ip_at, 0x65),
    "ip_header_too_short": changed(ip_at, 0x44), "tcp_header_cut": tcp_packet[:head + 19],
    "tcp_header_too_short": changed(head + 12, 0x40), "ip_length_wrong": changed(ip_at + 3, 4, changed(ip_at + 2, 0)),
}
for reason, data in cases.items():
    table = convert(p.pcap([(BEGIN, data)]))
    equal(table.num_rows, 1, f"{reason}: one row")
    equal(metadata(OUT / "out.arrow").get(f"pcap.malformed.{reason}"), "1", f"{reason}: counted")
    is_cut_tcp = reason.startswith(("tcp", "ip_length"))
    equal(table.column("src_addr")[0].as_py(), row["src_addr"] if is_cut_tcp else None, f"{reason}: IP")
for size in range(len(tcp_packet)):
    if not ok(convert(p.pcap([(BEGIN, tcp_packet[:size])])).num_rows == 1, f"a packet of {size} bytes"):
        break

# Files that end early, damaged ones, others.
for size in range(len(whole) - 1, len(whole) - 40, -3):
    (OUT / "cut.pcap").write_bytes(whole[:size])
    status, _, err = run("pcap2arrow", OUT / "cut.pcap", "-o", OUT / "out.arrow", "-f")
    if not ok(status == 0 and "ends in the middle of a packet" in err and 1998 <= read(OUT / "out.arrow").num_rows <= 1999,
              f"a file cut at {size}", err):
        break
    equal(metadata(OUT / "out.arrow").get("pcap.incomplete_files"), "1", "which the footer says")
damage = bytearray(whole)
at = 24 + sum(16 + len(data) for data in frames[:1000])
damage[at + 8:at + 12] = b"\xff\xff\xff\x7f"
(OUT / "bad.pcap").write_bytes(damage)
(OUT / "no.arrow").unlink(missing_ok=True)
for thread_count in ("1", "4"):
    status, _, err = run("pcap2arrow", OUT / "bad.pcap", "-o", OUT / "no.arrow", "-t", thread_count, "--chunk-size=64k")
    ok(status == 1 and "looks corrupted" in err and f"at byte {at}, behind 1000 packets" in err, "damage names its place", err)
    ok(not (OUT / "no.arrow").exists(), "and leaves no file")
table = convert(bytes(damage), "--damaged=keep", "-p", ALL, "--chunk-size=64k", name="bad.pcap")
same(table, rows[:1000], times[:1000], "--damaged=keep")
pcapng = p.section() + p.interface() + b"".join(p.enhanced(data, 1) for data in frames[:100])
for at in r.sample(range(len(pcapng)), 300):
    (OUT / "flip.pcapng").write_bytes(changed(at, r.randrange(256), pcapng))
    status, _, err = run("pcap2arrow", OUT / "flip.pcapng", "-o", OUT / "out.arrow", "-f")
    if not ok(status in (0, 1) and "Sanitizer" not in err, f"a byte changed at {at}", status, err):
        break
for data in (b"", b"\xd4\xc3", b"PK\3\4zip", b"hello world, this is text"):
    (OUT / "other").write_bytes(data)
    status, _, err = run("pcap2arrow", OUT / "other", "-o", OUT / "no.arrow")
    ok(status == 1 and "is neither PCAP nor PCAPNG" in err, f"{data!r} is refused", err)
table = convert(whole[:24])
equal(table.num_rows, 0, "a file without packets")

# Options that contradict each other, and names of files.
for options, message in ((["-p", "tcp5"], "no protocol"), (["-o", "%x.arrow"], "means nothing"), (["-o", "-", "-l", "1g"], "need files"),
                         (["-l", "1k"], "is less than"), (["-o", "-", "--stats"], "stream"), (["--fanout=hash"], "--fanout is for captures"),
                         (["--direction=both"], "--direction is for captures"), (["--ring-size=64m"], "--ring-size is for captures"),
                         (["--flow-idle=60s"], "--flow-idle needs --flows"), (["--flow-active=5m"], "--flow-active needs --flows"),
                         (["--flow-table=9"], "--flow-table needs --flows"), (["--flows", "-o", "%q.arrow"], "go to one file"),
                         (["-o", "%q.arrow", "--parallel-write=2"], "exclude each other"),
                         (["--page-cache", "--direct-io"], "exclude each other")):
    status, _, err = run("pcap2arrow", OUT / "in.pcap", *options)
    ok(status == 2 and message in err, f"usage {options}", status, err)
status, _, err = run("pcap2arrow")
ok(status == 2 and "no file to read" in err, "nothing to do", err)
(OUT / "in.pcap").write_bytes(whole)
status, out, err = run("pcap2arrow", OUT / "in.pcap", "-o", OUT / "%i_%Y%m%d_%H%M%S_%q_%%.arrow", "-t", "1", env={"TZ": "UTC"})
ok(status == 0 and (OUT / "in_20231114_221320_0_%.arrow").exists(), "a name from a pattern", err, sorted(OUT.iterdir()))
status, _, err = run("pcap2arrow", OUT / "in.pcap", "-o", OUT / "in_20231114_221320_0_%%.arrow", "-t", "1")
ok(status == 1 and "exists" in err, "nothing is overwritten without -f", err)
status, out, err = run("pcap2arrow", OUT / "in.pcap", "-o", OUT / "many.arrow", "--limit-packets=300", "--chunk-size=64k", "-p", ALL)
ok(status == 0, "--limit-packets", err)
files = [OUT / "many.arrow"] + [OUT / f"many-{i}.arrow" for i in range(1, 200) if (OUT / f"many-{i}.arrow").exists()]
ok(len(files) >= 7 and all(0 < read(f).num_rows <= 300 for f in files), "files of at most 300 packets", [read(f).num_rows for f in files])
same(pa.concat_tables([read(f) for f in files]).unify_dictionaries(), rows, times, "which have all packets in order")
status, out, err = run("pcap2arrow", OUT / "in.pcap", "-o", OUT / "q%q.arrow", "--chunk-size=64k", "-p", ALL, "-t", "3")
found = sorted(row["seq_nr"] or 0 for q in range(3) for row in read(OUT / f"q{q}.arrow").to_pylist())
equal(found, sorted(row["seq_nr"] or 0 for row in rows), "a file for each queue")
for options in ([], ["-f"]):
    status, out, err = run("pcap2arrow", OUT / "in.pcap", "-o", OUT / "wide.arrow", "--parallel-write=3", "--chunk-size=64k", "-p", ALL,
                           "-t", "4", "-v", *options)
    files = sorted(OUT.glob("wide*.arrow"))
    equal([f.name for f in files], ["wide-1.arrow", "wide-2.arrow", "wide.arrow"], f"--parallel-write {options}: files")
    ok(status == 0 and "and 2 other files" in out and f"{len(rows)} packets" in out, f"--parallel-write {options} counts them", out, err)
    found = sorted(row["seq_nr"] or 0 for f in files for row in read(f).to_pylist())
    equal(found == sorted(row["seq_nr"] or 0 for row in rows), True, f"--parallel-write {options}: each packet once")

# Large files go past the page cache, where the file system can do that, unless they are to stay in it.


def cached_share(path):
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ, flags=mmap.MAP_SHARED) as memory:
        size = len(memory)
        pages = (ctypes.c_ubyte * -(-size // mmap.PAGESIZE))()
        address = pa.py_buffer(memory).address
        if ctypes.CDLL(None, use_errno=True).mincore(ctypes.c_void_p(address), ctypes.c_size_t(size), pages) != 0:
            raise OSError(ctypes.get_errno(), "mincore")
        return sum(page & 1 for page in pages) / len(pages)


def takes_direct_writes(path):
    try:
        os.close(os.open(path, os.O_RDWR | os.O_DIRECT))
        return True
    except OSError:
        return False


long = p.random_packet(r, kind="udp4", size=1400)[0]
(OUT / "large.pcap").write_bytes(p.pcap([(BEGIN + i, long) for i in range(80_000)]))
shares = {}
for option in ("--page-cache", "--direct-io", "--verbose"):
    status, out, err = run("pcap2arrow", OUT / "large.pcap", "-o", OUT / "large.arrow", "-f", "-t", "2", "--chunk-size=8m", option)
    ok(status == 0 and (OUT / "large.arrow").stat().st_size > 96 << 20, f"a large file {option}", err)
    shares[option] = cached_share(OUT / "large.arrow")
    equal(read(OUT / "large.arrow").num_rows, 80_000, f"a large file {option}: packets")
equal(shares["--page-cache"], 1, "--page-cache keeps the file in memory")
if takes_direct_writes(OUT / "large.arrow"):
    ok(shares["--direct-io"] < 0.5 and shares["--verbose"] < 0.5, "else most of it is not", shares)

# A conversion that fails leaves whole files only: those that were complete before.
(OUT / "rot").mkdir()
(OUT / "cut.pcap").write_bytes(whole + b"\xff" * 64)
status, out, err = run("pcap2arrow", OUT / "cut.pcap", "-o", OUT / "rot" / "one.arrow", "-p", ALL)
ok(status == 1 and "remain" not in err and not list((OUT / "rot").iterdir()), "a file that is not complete does not stay", err, list((OUT / "rot").iterdir()))
for threads in ("1", "3"):
    status, out, err = run("pcap2arrow", OUT / "cut.pcap", "-o", OUT / "rot" / "r.arrow", "--limit-packets=300", "-p", ALL, "-t", threads)
    files = [f for f in [OUT / "rot" / "r.arrow"] + [OUT / "rot" / f"r-{i}.arrow" for i in range(1, 99)] if f.exists()]
    equal(len(files), len(list((OUT / "rot").iterdir())), "nothing else is there")
    told = f"{len(files)} files were complete before the error, and remain" if len(files) > 1 else "1 file was complete before the error, and remains"
    ok(status == 1 and len(files) > 0 and told in err, f"files that were complete are told, {threads} threads", err, files)
    found = sum(read(f).num_rows for f in files)
    same(pa.concat_tables([read(f) for f in files]).unify_dictionaries(), rows[:found], times[:found], "and have the first packets in order")
    for f in files:
        f.unlink()
small = p.pcap([(BEGIN + i, b"\2" * 14) for i in range(200_000)])
(OUT / "small.pcap").write_bytes(small)
process = start("pcap2arrow", OUT / "small.pcap", "-o", OUT / "rot" / "s.arrow", "--limit-packets=50", "-t", "1")
wait_until(lambda: (OUT / "rot" / "s-1.arrow").exists())
process.send_signal(signal.SIGTERM)
_, err = process.communicate(timeout=60)
found = list((OUT / "rot").iterdir())
ok(process.returncode == 128 + signal.SIGTERM and len(found) >= 2 and all(read(f).num_rows == 50 for f in found),
   "a signal leaves what was complete", process.returncode, err, len(found))

done()
