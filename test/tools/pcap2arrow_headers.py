#!/usr/bin/env python3
"""pcap2arrow: headers that are taken apart by option: VLAN, MPLS, ARP, SCTP, tunnels; lists of options; what applications
say, as dpkt makes and reads it."""
import struct

import dpkt
import pyarrow as pa

import packets as p
from checks import done, equal, folder, ok, run

OUT = folder("pcap2arrow_headers")
BEGIN = 1_700_000_000 * 10**9
r = p.random_source(4)


def metadata(path):
    with pa.ipc.open_file(str(path)) as file:
        return {k.decode(): v.decode() for k, v in (file.schema.metadata or {}).items()}


def convert(frames, *options):
    (OUT / "in.pcap").write_bytes(p.pcap([(BEGIN + i, frame) for i, frame in enumerate(frames)]))
    status, _, err = run("pcap2arrow", OUT / "in.pcap", "-o", OUT / "out.arrow", "-f", *options)
    ok(status == 0, f"{options}", err)
    with pa.ipc.open_file(str(OUT / "out.arrow")) as file:
        return file.read_all()


def ethernet(ether_type, body, tags=b""):
    return b"\2\0\0\0\0\1\2\0\0\0\0\2" + tags + struct.pack(">H", ether_type) + body


def ipv4(protocol, body, source=b"\x0a\0\0\1", target=b"\x0a\0\0\2"):
    return struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(body), 1, 0, 64, protocol, 0) + source + target + body


def ipv6(protocol, body):
    return struct.pack(">IHBB", 6 << 28, len(body), protocol, 64) + b"\xfd" + bytes(14) + b"\1" + b"\xfd" + bytes(14) + b"\2" + body


def udp(target, body, source=4000):
    return struct.pack(">HHHH", source, target, 8 + len(body), 0) + body


def tcp(target, body, source=4000, options=b""):
    return struct.pack(">HHIIHHHH", source, target, 1, 2, (5 + len(options) // 4) << 12 | 0x18, 512, 0, 0) + options + body


# VLAN tags, the outermost first; MPLS labels, and IP behind them.
tags = b"\x88\xa8\x60\x05\x81\x00\x00\x07"
frames = [ethernet(p.IPV4, ipv4(p.UDP, udp(9, b"x")), tags), ethernet(p.IPV4, ipv4(p.UDP, udp(9, b"x"))), ethernet(p.IPV4, b"", b"\x81\x00\x0f\xff")]
table = convert(frames, "-p", "default,vlan")
equal(table.column("vlan_ids").to_pylist(), [[5, 7], None, [4095]], "vlan_ids")
equal(table.column("vlan_priorities").to_pylist(), [[3, 0], None, [0]], "vlan_priorities")
equal(table.column("dst_port").to_pylist(), [9, 9, None], "what is behind the tags")
labels = struct.pack(">II", 16 << 12 | 64, 1048575 << 12 | 1 << 8 | 64)
frames = [ethernet(0x8847, labels + ipv4(p.UDP, udp(9, b"four"))), ethernet(0x8848, labels + ipv6(p.UDP, udp(10, b"six"))),
          ethernet(0x8847, labels[:4]), ethernet(0x8847, labels + b"\0\0\0\0other")]
table = convert(frames, "-p", "udp4,udp6,mpls")
equal(table.column("mpls_labels").to_pylist(), [[16, 1048575], [16, 1048575], [16], [16, 1048575]], "mpls_labels")
equal(table.column("dst_port").to_pylist(), [9, 10, None, None], "what is behind the labels")
equal(table.column("payload").to_pylist(), [b"four", b"six", b"", b"\0\0\0\0other"], "payload behind the labels")
equal(metadata(OUT / "out.arrow").get("pcap.malformed.mpls_labels_cut"), "1", "labels that do not end")

# ARP and SCTP.
arp = struct.pack(">HHBBH", 1, 0x800, 6, 4, 2) + b"\2\0\0\0\0\5" + b"\x0a\0\0\5" + b"\2\0\0\0\0\6" + b"\x0a\0\0\6"
table = convert([ethernet(p.ARP, arp + bytes(18)), ethernet(p.ARP, arp[:20])], "-p", "arp")
equal(table.slice(0, 1).select([n for n in table.column_names if n.startswith("arp") or n == "payload"]).to_pylist(),
      [{"arp_operation": 2, "arp_sender_mac": b"\2\0\0\0\0\5", "arp_sender_addr": b"\x0a\0\0\5",
        "arp_target_mac": b"\2\0\0\0\0\6", "arp_target_addr": b"\x0a\0\0\6", "payload": b""}], "ARP")
equal(table.column("arp_operation").to_pylist(), [2, None], "ARP that is cut")
chunks = struct.pack(">BBH", 3, 0, 16) + bytes(12) + struct.pack(">BBH", 0, 3, 21) + bytes(17) + b"\0\0\0" + struct.pack(">BBH", 1, 0, 0)
sctp = struct.pack(">HHII", 2905, 2906, 0x01020304, 0x05060708) + chunks
table = convert([ethernet(p.IPV4, ipv4(132, sctp)), ethernet(p.IPV6, ipv6(132, sctp)), ethernet(p.IPV4, ipv4(132, sctp[:11]))],
                "-p", "sctp4,sctp6")
equal(table.select(["src_port", "dst_port", "sctp_tag", "sctp_checksum", "sctp_chunks"]).to_pylist(),
      [{"src_port": 2905, "dst_port": 2906, "sctp_tag": 0x01020304, "sctp_checksum": 0x05060708, "sctp_chunks": [3, 0, 1]}] * 2 +
      [dict.fromkeys(["src_port", "dst_port", "sctp_tag", "sctp_checksum", "sctp_chunks"])], "SCTP")

# Tunnels: the outer headers, the tunnel, the inner headers.
inner4 = ipv4(p.TCP, tcp(443, b"in"), b"\xac\x10\0\1", b"\xac\x10\0\2")
inner6 = ipv6(p.UDP, udp(53, b"in six"))
frame = b"\6" * 6 + b"\4" * 6 + b"\x08\x00" + inner4
cases = [
    ("gre", None, ipv4(47, struct.pack(">HH", 0, 0x800) + inner4)),
    ("gre", 77, ipv4(47, struct.pack(">HHIII", 0xB000, 0x800, 0, 77, 5) + inner4)),
    ("gre", None, ipv4(47, struct.pack(">HH", 0, 0x6558) + frame)),
    ("gre", None, ipv4(47, struct.pack(">HH", 0, 0x86dd) + inner6)),
    ("ip", None, ipv4(4, inner4)),
    ("ip", None, ipv4(41, inner6)),
    ("vxlan", 0xabcdef, ipv4(p.UDP, udp(4789, struct.pack(">II", 8 << 24, 0xabcdef << 8) + frame))),
    ("geneve", 0x123456, ipv4(p.UDP, udp(6081, struct.pack(">BBHI", 2, 0, 0x6558, 0x123456 << 8) + bytes(8) + frame))),
    ("geneve", 5, ipv4(p.UDP, udp(6081, struct.pack(">BBHI", 0, 0, 0x800, 5 << 8) + inner4))),
    (None, None, ipv4(p.TCP, tcp(80, b"plain"))),
]
table = convert([ethernet(p.IPV4, body) for _, _, body in cases], "-p", "tcp4,udp4,tcp6,udp6,tunnels")
equal(table.column("tunnel_type").to_pylist(), [kind for kind, _, _ in cases], "tunnel_type")
equal(table.column("tunnel_id").to_pylist(), [number for _, number, _ in cases], "tunnel_id")
for row, (kind, _, body) in zip(table.to_pylist(), cases):
    equal(row["src_addr"], b"\x0a\0\0\1", f"{kind}: outer address")
    if kind is None:
        equal((row["inner_src_addr"], row["inner_dst_port"], row["dst_port"], row["payload"]), (None, None, 80, b"plain"), "no tunnel")
    elif inner6 in body:
        equal((row["inner_protocol"], row["inner_dst_port"], row["inner_src_addr6"][:1], row["payload"]), (p.UDP, 53, b"\xfd", b"in six"), f"{kind}: IPv6 inside")
    else:
        equal((row["inner_src_addr"], row["inner_dst_port"], row["inner_tcp_flags"], row["payload"]),
              (b"\xac\x10\0\1", 443, 0x18, b"in"), f"{kind}: IPv4 inside")
    equal(row["inner_src_mac"], b"\4" * 6 if frame in body else None, f"{kind}: Ethernet inside")
table = convert([ethernet(p.IPV4, body) for _, _, body in cases])
ok("tunnel_type" not in table.column_names and table.column("dst_port").to_pylist()[6] == 4789, "without the option a tunnel is payload")
for size in range(14, len(ethernet(p.IPV4, cases[7][2]))):
    cut = convert([ethernet(p.IPV4, cases[7][2])[:size]], "-p", "all")
    if not ok(cut is not None and cut.num_rows == 1, f"a tunnel cut at {size}"):
        break

# Options as lists.
options = b"\x02\x04\x05\xb4\x01\x03\x03\x07\x04\x02\x00\x00"
six = struct.pack(">IHBB", 6 << 28, 16 + 20, 60, 64) + bytes(32) + b"\x2b\0abcdef" + b"\x06\0ghijkl" + tcp(80, b"")
table = convert([ethernet(p.IPV4, ipv4(p.TCP, tcp(80, b"", options=options))), ethernet(p.IPV6, six)],
                "-p", "tcp4,tcp6", "--composite-options")
equal(table.schema.field("tcp_options").type, pa.list_(pa.struct([("opt_code", pa.uint8()), ("opt_data", pa.binary())])).value_type and
      pa.list_(pa.field("item", pa.struct([("opt_code", pa.uint8()), ("opt_data", pa.binary())]))), "type of options")
equal(table.column("tcp_options").to_pylist(), [[{"opt_code": 2, "opt_data": b"\x05\xb4"}, {"opt_code": 3, "opt_data": b"\x07"},
                                                 {"opt_code": 4, "opt_data": b""}], None], "options of TCP")
equal(table.column("ip6_options").to_pylist(), [None, [{"opt_code": 60, "opt_data": b"abcdef"}, {"opt_code": 43, "opt_data": b"ghijkl"}]],
      "headers of IPv6")
equal(table.column("ip_options").to_pylist(), [None, None], "options of IPv4")

# Applications, whose messages dpkt makes.
question = dpkt.dns.DNS(id=7, qd=[dpkt.dns.DNS.Q(name="www.example.org", type=dpkt.dns.DNS_AAAA)])
answer = dpkt.dns.DNS(id=7, op=0x8180, qd=[dpkt.dns.DNS.Q(name="www.example.org")],
                      an=[dpkt.dns.DNS.RR(name="www.example.org", type=dpkt.dns.DNS_A, ip=b"\x5d\xb8\xd8\x22", ttl=60),
                          dpkt.dns.DNS.RR(name="www.example.org", type=dpkt.dns.DNS_AAAA, ip6=b"\x20\x01\x0d\xb8" + bytes(11) + b"\1", ttl=60)])
request = bytes(dpkt.http.Request(method="GET", uri="/index.html", headers={"host": "www.example.org"}))
name = b"secure.example.org"
server = struct.pack(">HBH", len(name) + 3, 0, len(name)) + name
extensions = struct.pack(">HH", 0, len(server)) + server
hello = b"\x03\x03" + bytes(32) + b"\0" + b"\0\2\x13\x01" + b"\1\0" + struct.pack(">H", len(extensions)) + extensions
hello = b"\1" + struct.pack(">I", len(hello))[1:] + hello
record = b"\x16\x03\x01" + struct.pack(">H", len(hello)) + hello
dns_over_tcp = struct.pack(">H", len(bytes(answer))) + bytes(answer)
frames = [ethernet(p.IPV4, ipv4(p.UDP, udp(53, bytes(question)))), ethernet(p.IPV4, ipv4(p.UDP, udp(4000, bytes(answer), 53))),
          ethernet(p.IPV6, ipv6(p.TCP, tcp(4000, dns_over_tcp, 53))), ethernet(p.IPV4, ipv4(p.TCP, tcp(80, request))),
          ethernet(p.IPV4, ipv4(p.TCP, tcp(443, record))), ethernet(p.IPV4, ipv4(p.UDP, udp(53, b"no dns")))]
table = convert(frames, "-p", "dns,tls,http")
equal(dpkt.ssl.TLSRecord(record).type, 22, "dpkt reads the hello, too")
equal(table.column("dns_name").to_pylist(), ["www.example.org"] * 3 + [None] * 3, "dns_name")
equal(table.column("dns_type").to_pylist(), [28, 1, 1, None, None, None], "dns_type")
equal(table.column("dns_response").to_pylist(), [False, True, True, None, None, None], "dns_response")
equal(table.column("dns_rcode").to_pylist(), [None, 0, 0, None, None, None], "dns_rcode")
equal(table.column("dns_addresses").to_pylist(), [None] + [["93.184.216.34", "2001:db8::1"]] * 2 + [None] * 3, "dns_addresses")
equal(table.column("http_line").to_pylist(), [None] * 3 + ["GET /index.html HTTP/1.0"] + [None] * 2, "http_line")
equal(table.column("http_host").to_pylist(), [None] * 3 + ["www.example.org"] + [None] * 2, "http_host")
equal(table.column("tls_sni").to_pylist(), [None] * 4 + ["secure.example.org", None], "tls_sni")
equal(table.column("tls_version").to_pylist(), [None] * 4 + [0x0303, None], "tls_version")

# All columns at once, of many random packets: the usual ones are as without the others.
made = [p.random_packet(r) for _ in range(1000)]
frames = [data for data, _ in made]
usual, all_columns = convert(frames, "-p", ",".join(p.HEADERS)), convert(frames, "-p", "all")
for name in p.NAMES:
    equal(all_columns.column(name).equals(usual.column(name)), True, f"{name} beside all columns")

done()
