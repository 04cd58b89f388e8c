"""Packets with known fields, and capture files of them, for the tests of pcap2arrow."""
import random
import struct

ETHERNET, RAW, NULL, LOOP, PPP, SLL, SLL2 = 1, 101, 0, 108, 9, 113, 276
IPV4, IPV6, ARP = 0x0800, 0x86DD, 0x0806
TCP, UDP, ICMP, ICMP6 = 6, 17, 1, 58
HEADERS = ("tcp4", "udp4", "icmp4", "tcp6", "udp6", "icmp6")

NAMES = ["timestamp", "dst_mac", "src_mac", "ether_type", "tos", "ip_length", "identifier", "fragment", "ttl", "ip_checksum",
         "src_addr", "dst_addr", "ip_options", "traffic_class", "flow_label", "hop_limit", "src_addr6", "dst_addr6",
         "ip6_options", "protocol", "src_port", "dst_port", "seq_nr", "ack_nr", "tcp_flags", "window_sz", "tcp_checksum",
         "urgent_ptr", "tcp_options", "udp_length", "udp_checksum", "icmp_type", "icmp_code", "icmp_checksum", "payload"]


def number(random_, bits):
    return random_.getrandbits(bits)


def transport(r, kind, row, payload):
    """Bytes of a TCP, UDP or ICMP message; sets its fields in `row`."""
    row["payload"] = payload
    if kind == "tcp":
        options = r.choice([b"", b"\x02\x04\x05\xb4", b"\x01\x01\x08\x0a" + r.randbytes(8), r.randbytes(40)])
        row.update(src_port=number(r, 16), dst_port=number(r, 16), seq_nr=number(r, 32), ack_nr=number(r, 32),
                   tcp_flags=number(r, 12), window_sz=number(r, 16), tcp_checksum=number(r, 16), urgent_ptr=number(r, 16),
                   tcp_options=options or None)
        offset = (5 + len(options) // 4) << 12
        return struct.pack(">HHIIHHHH", row["src_port"], row["dst_port"], row["seq_nr"], row["ack_nr"],
                           offset | row["tcp_flags"], row["window_sz"], row["tcp_checksum"], row["urgent_ptr"]) + options + payload
    if kind == "udp":
        row.update(src_port=number(r, 16), dst_port=number(r, 16), udp_length=8 + len(payload), udp_checksum=number(r, 16))
        return struct.pack(">HHHH", row["src_port"], row["dst_port"], row["udp_length"], row["udp_checksum"]) + payload
    row.update(icmp_type=number(r, 8), icmp_code=number(r, 8), icmp_checksum=number(r, 16))
    return struct.pack(">BBH", row["icmp_type"], row["icmp_code"], row["icmp_checksum"]) + payload


def ipv4(r, row, protocol, body, fragment=None):
    options = r.choice([b"", b"", b"", b"\x94\x04\x00\x00", r.randbytes(40)])
    if fragment is None:
        fragment = r.choice([0, 0x4000, 0x2000])
    row.update(tos=number(r, 8), ip_length=20 + len(options) + len(body), identifier=number(r, 16), fragment=fragment,
               ttl=number(r, 8), ip_checksum=number(r, 16), src_addr=r.randbytes(4), dst_addr=r.randbytes(4),
               ip_options=options or None, protocol=protocol)
    return struct.pack(">BBHHHBBH", 0x45 + len(options) // 4, row["tos"], row["ip_length"], row["identifier"], fragment,
                       row["ttl"], protocol, row["ip_checksum"]) + row["src_addr"] + row["dst_addr"] + options + body


def ipv6(r, row, protocol, body):
    chain, kinds = b"", r.choice([[], [], [], [0], [60, 43], [51], [44], [0, 43, 44, 51, 60, 135]])
    for i, kind in enumerate(kinds):
        after = kinds[i + 1] if i + 1 < len(kinds) else protocol
        if kind == 44:
            chain += struct.pack(">BBHI", after, 0, 1, number(r, 32))  # the first fragment
        elif kind == 51:
            size = r.randrange(0, 4)
            chain += bytes([after, size]) + r.randbytes((size + 2) * 4 - 2)
        else:
            size = r.randrange(0, 3)
            chain += bytes([after, size]) + r.randbytes((size + 1) * 8 - 2)
    row.update(traffic_class=number(r, 8), flow_label=number(r, 20), hop_limit=number(r, 8), src_addr6=r.randbytes(16),
               dst_addr6=r.randbytes(16), ip6_options=chain or None, protocol=protocol)
    first = kinds[0] if kinds else protocol
    return struct.pack(">IHBB", 6 << 28 | row["traffic_class"] << 20 | row["flow_label"], len(chain) + len(body), first,
                       row["hop_limit"]) + row["src_addr6"] + row["dst_addr6"] + chain + body


def network(r, row, kind=None, size=None):
    """(ether type, bytes) of a random packet; `kind` is one of HEADERS."""
    kind = kind or r.choice(HEADERS)
    payload = r.randbytes(r.choice([0, 1, 7, 64, 500, 1400]) if size is None else size)
    name, version = kind[:-1], kind[-1]
    protocol = {"tcp": TCP, "udp": UDP, "icmp": ICMP if version == "4" else ICMP6}[name]
    body = transport(r, name, row, payload)
    row["ether_type"] = IPV4 if version == "4" else IPV6
    return row["ether_type"], ipv4(r, row, protocol, body) if version == "4" else ipv6(r, row, protocol, body)


def framed(r, row, link, ether_type, body):
    """The link layer before `body`."""
    if link == ETHERNET:
        row.update(dst_mac=r.randbytes(6), src_mac=r.randbytes(6))
        tags = r.choice([b"", b"", b"", b"\x81\x00" + r.randbytes(2), b"\x88\xa8\x00\x05\x81\x00\x00\x07"])
        frame = row["dst_mac"] + row["src_mac"] + tags + struct.pack(">H", ether_type) + body
        return frame.ljust(60, b"\0")  # the network card's padding, which is no payload
    if link == SLL:
        return struct.pack(">HHH8sH", 0, 1, 6, r.randbytes(8), ether_type) + body
    if link == SLL2:
        return struct.pack(">HHIHBB8s", ether_type, 0, 2, 1, 0, 6, r.randbytes(8)) + body
    if link == NULL:
        return struct.pack(r.choice("<>") + "I", 2 if ether_type == IPV4 else r.choice([10, 24, 28, 30])) + body
    if link == LOOP:
        return struct.pack(">I", 2 if ether_type == IPV4 else 24) + body
    if link == PPP:
        return r.choice([b"", b"\xff\x03"]) + struct.pack(">H", 0x21 if ether_type == IPV4 else 0x57) + body
    return body


def random_packet(r, link=ETHERNET, kind=None, size=None):
    """(bytes, what pcap2arrow makes of them)"""
    row = dict.fromkeys(NAMES)
    ether_type, body = network(r, row, kind, size)
    return framed(r, row, link, ether_type, body), row


def pcap(packets, order="<", nano=False, link=ETHERNET, patched=False, snap=262144):
    """A pcap file. `packets`: (time in nanoseconds, bytes), or also the length on the wire."""
    magic = 0xA1B2CD34 if patched else 0xA1B23C4D if nano else 0xA1B2C3D4
    out = [struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, snap, link)]
    for time, data, *length in packets:
        fraction = time % 10**9 if nano else time % 10**9 // 1000
        out.append(struct.pack(order + "IIII", time // 10**9, fraction, len(data), length[0] if length else len(data)))
        if patched:
            out.append(struct.pack(order + "IHBB", 1, 8, 0, 0))
        out.append(data)
    return b"".join(out)


def block(kind, body, order="<"):
    body += b"\0" * (-len(body) % 4)
    size = struct.pack(order + "I", 12 + len(body))
    return struct.pack(order + "I", kind) + size + body + size


def option(code, data, order="<"):
    return struct.pack(order + "HH", code, len(data)) + data + b"\0" * (-len(data) % 4)


def section(order="<"):
    return block(0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1) + option(4, b"test", order) + option(0, b""),
                 order)


def interface(link=ETHERNET, resolution=None, offset=None, name=None, order="<", snap=0):
    options = b""
    if name:
        options += option(2, name.encode(), order)
    if resolution is not None:
        options += option(9, bytes([resolution]), order)
    if offset is not None:
        options += option(14, struct.pack(order + "q", offset), order)
    return block(1, struct.pack(order + "HHI", link, 0, snap) + options + (option(0, b"", order) if options else b""), order)


def enhanced(data, ticks, interface_id=0, order="<", length=None, options=b""):
    body = struct.pack(order + "IIIII", interface_id, ticks >> 32, ticks & 0xFFFFFFFF, len(data), length or len(data))
    return block(6, body + data + b"\0" * (-len(data) % 4) + options, order)


def simple(data, order="<"):
    return block(3, struct.pack(order + "I", len(data)) + data, order)


def old_packet(data, ticks, interface_id=0, order="<"):
    body = struct.pack(order + "HHIIII", interface_id, 0, ticks >> 32, ticks & 0xFFFFFFFF, len(data), len(data))
    return block(2, body + data, order)


def random_source(seed):
    return random.Random(seed)
