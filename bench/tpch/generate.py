"""The tables of TPC-H after its specification (revision 3, clause 4.2), as pyarrow tables: same sizes, value ranges and
dependencies between columns as dbgen's, other random numbers, and comments made of the specification's words in a simpler
grammar. The same scale gives the same rows. Called by run.py."""
from __future__ import annotations

from typing import Callable, Dict

import numpy as np
import pyarrow as pa

DATA_VERSION = 2  # 1 had no foreign keys
DAY0 = np.datetime64("1992-01-01")
LAST_ORDER = 2405  # days from DAY0 to 1998-08-02
TODAY = int((np.datetime64("1995-06-17") - DAY0).astype(int))

REGIONS = ("AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST")
NATIONS = (
    ("ALGERIA", 0), ("ARGENTINA", 1), ("BRAZIL", 1), ("CANADA", 1), ("EGYPT", 4), ("ETHIOPIA", 0), ("FRANCE", 3),
    ("GERMANY", 3), ("INDIA", 2), ("INDONESIA", 2), ("IRAN", 4), ("IRAQ", 4), ("JAPAN", 2), ("JORDAN", 4), ("KENYA", 0),
    ("MOROCCO", 0), ("MOZAMBIQUE", 0), ("PERU", 1), ("CHINA", 2), ("ROMANIA", 3), ("SAUDI ARABIA", 4), ("VIETNAM", 2),
    ("RUSSIA", 3), ("UNITED KINGDOM", 3), ("UNITED STATES", 1),
)  # fmt: skip
SEGMENTS = ("AUTOMOBILE", "BUILDING", "FURNITURE", "MACHINERY", "HOUSEHOLD")
PRIORITIES = ("1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW")
INSTRUCTIONS = ("DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN")
MODES = ("REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB")
TYPES = (("STANDARD", "SMALL", "MEDIUM", "LARGE", "ECONOMY", "PROMO"),
         ("ANODIZED", "BURNISHED", "PLATED", "POLISHED", "BRUSHED"), ("TIN", "NICKEL", "BRASS", "STEEL", "COPPER"))  # fmt: skip
CONTAINERS = (("SM", "LG", "MED", "JUMBO", "WRAP"), ("CASE", "BOX", "BAG", "JAR", "PKG", "PACK", "CAN", "DRUM"))
COLOURS = (
    "almond antique aquamarine azure beige bisque black blanched blue blush brown burlywood burnished chartreuse chiffon "
    "chocolate coral cornflower cornsilk cream cyan dark deep dim dodger drab firebrick floral forest frosted gainsboro "
    "ghost goldenrod green grey honeydew hot indian ivory khaki lace lavender lawn lemon light lime linen magenta maroon "
    "medium metallic midnight mint misty moccasin navajo navy olive orange orchid pale papaya peach peru pink plum powder "
    "puff purple red rose rosy royal saddle salmon sandy seashell sienna sky slate smoke snow spring steel tan thistle "
    "tomato turquoise violet wheat white yellow"
).split()
WORDS = (
    "foxes ideas theodolites pinto beans instructions dependencies excuses platelets asymptotes courts dolphins sleep wake "
    "are cajole haggle nag use boost affix detect integrate furious sly careful blithe quick fluffy slow quiet ruthless "
    "thin close dogged daring bold final express pending special requests packages accounts deposits unusual regular about "
    "above according to across after against along"
).split()


class Rows:
    """Random columns of `count` rows; each column has a stream of its own."""

    def __init__(self, table: str, count: int):
        self.table, self.count, self.column = table, count, 0

    def _random(self) -> np.random.Generator:
        self.column += 1
        return np.random.default_rng([sum(self.table.encode()) + 1000 * len(self.table), self.column])

    def integers(self, low: int, high: int) -> np.ndarray:
        """Both bounds included."""
        return self._random().integers(low, high + 1, self.count)

    def of(self, words) -> pa.Array:
        return choose(words, self.integers(0, len(words) - 1))

    def text(self, words: int) -> pa.Array:
        """Comments: as many words, one of some thousand phrases."""
        random = self._random()
        phrases = [" ".join(WORDS[i] for i in random.integers(0, len(WORDS), words)) for _ in range(4096)]
        return choose(phrases, random.integers(0, len(phrases), self.count))


def choose(words, indexes) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(indexes, pa.int32()), pa.array(list(words))).dictionary_decode()


def texts(values) -> pa.Array:
    return pa.array(values, pa.utf8())


def cents(values: np.ndarray) -> pa.Array:
    """decimal(15,2) from whole cents."""
    low = values.astype(np.int64)
    words = np.empty((len(low), 2), np.int64)
    words[:, 0], words[:, 1] = low, low >> 63
    return pa.Array.from_buffers(pa.decimal128(15, 2), len(low), [None, pa.py_buffer(words.tobytes())])


def days(values: np.ndarray) -> pa.Array:
    return pa.array(DAY0 + values.astype("timedelta64[D]"), pa.date32())


def numbered(prefix: str, numbers: np.ndarray) -> pa.Array:
    return texts([f"{prefix}#{n:09d}" for n in numbers])


def phones(nations: np.ndarray, rows: Rows) -> pa.Array:
    a, b, c = rows.integers(100, 999), rows.integers(100, 999), rows.integers(1000, 9999)
    return texts([f"{n + 10}-{x}-{y}-{z}" for n, x, y, z in zip(nations, a, b, c)])


def retail_price(part: np.ndarray) -> np.ndarray:
    return 90000 + (part // 10) % 20001 + 100 * (part % 1000)


def supplier_of(part: np.ndarray, which: np.ndarray, suppliers: int) -> np.ndarray:
    """The which-th (0 to 3) of a part's suppliers."""
    return (part + which * (suppliers // 4 + (part - 1) // suppliers)) % suppliers + 1


def sizes(scale: float) -> Dict[str, int]:
    return {"supplier": max(40, round(10_000 * scale)), "part": max(200, round(200_000 * scale)),
            "customer": max(150, round(150_000 * scale)), "orders": max(1500, round(1_500_000 * scale))}  # fmt: skip


def region(scale: float) -> pa.Table:
    rows = Rows("region", 5)
    return pa.table({"r_regionkey": pa.array(range(5), pa.int32()), "r_name": texts(REGIONS), "r_comment": rows.text(8)})


def nation(scale: float) -> pa.Table:
    rows = Rows("nation", 25)
    return pa.table({"n_nationkey": pa.array(range(25), pa.int32()), "n_name": texts([n for n, _ in NATIONS]),
                     "n_regionkey": pa.array([r for _, r in NATIONS], pa.int32()), "n_comment": rows.text(8)})  # fmt: skip


def supplier(scale: float) -> pa.Table:
    count = sizes(scale)["supplier"]
    rows, keys = Rows("supplier", count), np.arange(1, count + 1)
    nations = rows.integers(0, 24)
    comments = rows.text(7).to_pylist()
    for i in range(count):  # 5 of 10,000 complain, and 5 recommend
        if i % 2000 in (77, 1077):
            comments[i] = "even Customer ideas " + ("Complaints" if i % 2000 == 77 else "Recommends") + " sleep"
    return pa.table({
        "s_suppkey": pa.array(keys, pa.int32()), "s_name": numbered("Supplier", keys), "s_address": rows.text(3),
        "s_nationkey": pa.array(nations, pa.int32()), "s_phone": phones(nations, rows),
        "s_acctbal": cents(rows.integers(-99999, 999999)), "s_comment": texts(comments),
    })  # fmt: skip


def part(scale: float) -> pa.Table:
    count = sizes(scale)["part"]
    rows, keys = Rows("part", count), np.arange(1, count + 1)
    chosen = [rows.integers(0, len(COLOURS) - 1) for _ in range(5)]
    maker = rows.integers(1, 5)
    brand = maker * 10 + rows.integers(1, 5)
    kinds = [" ".join((a, b, c)) for a in TYPES[0] for b in TYPES[1] for c in TYPES[2]]
    containers = [f"{a} {b}" for a in CONTAINERS[0] for b in CONTAINERS[1]]
    return pa.table({
        "p_partkey": pa.array(keys, pa.int32()),
        "p_name": texts([" ".join(COLOURS[i] for i in row) for row in zip(*chosen)]),
        "p_mfgr": texts([f"Manufacturer#{m}" for m in maker]), "p_brand": texts([f"Brand#{b}" for b in brand]),
        "p_type": rows.of(kinds), "p_size": pa.array(rows.integers(1, 50), pa.int32()), "p_container": rows.of(containers),
        "p_retailprice": cents(retail_price(keys)), "p_comment": rows.text(3),
    })  # fmt: skip


def partsupp(scale: float) -> pa.Table:
    size = sizes(scale)
    keys = np.repeat(np.arange(1, size["part"] + 1), 4)
    rows = Rows("partsupp", len(keys))
    suppliers = supplier_of(keys, np.tile(np.arange(4), size["part"]), size["supplier"])
    return pa.table({
        "ps_partkey": pa.array(keys, pa.int32()), "ps_suppkey": pa.array(suppliers, pa.int32()),
        "ps_availqty": pa.array(rows.integers(1, 9999), pa.int32()), "ps_supplycost": cents(rows.integers(100, 100000)),
        "ps_comment": rows.text(15),
    })  # fmt: skip


def customer(scale: float) -> pa.Table:
    count = sizes(scale)["customer"]
    rows, keys = Rows("customer", count), np.arange(1, count + 1)
    nations = rows.integers(0, 24)
    return pa.table({
        "c_custkey": pa.array(keys, pa.int32()), "c_name": numbered("Customer", keys), "c_address": rows.text(3),
        "c_nationkey": pa.array(nations, pa.int32()), "c_phone": phones(nations, rows),
        "c_acctbal": cents(rows.integers(-99999, 999999)), "c_mktsegment": rows.of(SEGMENTS), "c_comment": rows.text(9),
    })  # fmt: skip


def orders_and_lines(scale: float) -> Dict[str, pa.Table]:
    """Together, since an order's total and status are its lines'."""
    size = sizes(scale)
    count = size["orders"]
    rows, number = Rows("orders", count), np.arange(count)
    keys = number // 8 * 32 + number % 8 + 1  # 8 of every 32 keys are used
    ordered = rows.integers(0, LAST_ORDER)
    buyer = rows.integers(0, size["customer"] * 2 // 3 - 1)
    buyer = buyer // 2 * 3 + buyer % 2 + 1  # a third of the customers never orders
    lines_of = rows.integers(1, 7)
    first = np.concatenate(([0], np.cumsum(lines_of)[:-1]))
    of = np.repeat(number, lines_of)
    lines = Rows("lineitem", len(of))
    parts = lines.integers(1, size["part"])
    quantity, discount, tax = lines.integers(1, 50), lines.integers(0, 10), lines.integers(0, 8)
    price = quantity * retail_price(parts)
    shipped = ordered[of] + lines.integers(1, 121)
    committed = ordered[of] + lines.integers(30, 90)
    received = shipped + lines.integers(1, 30)
    open_lines = np.add.reduceat((shipped > TODAY).astype(int), first)
    status = np.where(open_lines == 0, 0, np.where(open_lines == lines_of, 1, 2))
    returned = np.where(received <= TODAY, lines.integers(0, 1), 2)
    total = np.add.reduceat(price * (100 - discount) * (100 + tax) // 10000, first)
    comments = rows.text(7).to_pylist()
    for i in range(17, count, 97):
        comments[i] = "bold special packages wake requests"
    orders = pa.table({
        "o_orderkey": pa.array(keys, pa.int64()), "o_custkey": pa.array(buyer, pa.int32()),
        "o_orderstatus": choose("FOP", status), "o_totalprice": cents(total), "o_orderdate": days(ordered),
        "o_orderpriority": rows.of(PRIORITIES),
        "o_clerk": numbered("Clerk", rows.integers(1, max(1, round(1000 * scale)))),
        "o_shippriority": pa.array(np.zeros(count), pa.int32()), "o_comment": texts(comments),
    })  # fmt: skip
    lineitem = pa.table({
        "l_orderkey": pa.array(keys[of], pa.int64()), "l_partkey": pa.array(parts, pa.int32()),
        "l_suppkey": pa.array(supplier_of(parts, lines.integers(0, 3), size["supplier"]), pa.int32()),
        "l_linenumber": pa.array(np.arange(len(of)) - first[of] + 1, pa.int32()), "l_quantity": cents(quantity * 100),
        "l_extendedprice": cents(price), "l_discount": cents(discount), "l_tax": cents(tax),
        "l_returnflag": choose("RAN", returned), "l_linestatus": choose("FO", (shipped > TODAY).astype(int)),
        "l_shipdate": days(shipped), "l_commitdate": days(committed), "l_receiptdate": days(received),
        "l_shipinstruct": lines.of(INSTRUCTIONS), "l_shipmode": lines.of(MODES), "l_comment": lines.text(4),
    })  # fmt: skip
    return {"orders": orders, "lineitem": lineitem}


_SINGLE: Dict[str, Callable[[float], pa.Table]] = {
    function.__name__: function for function in (region, nation, supplier, part, partsupp, customer)
}
TABLES = (*_SINGLE, "orders", "lineitem")
KEYS = {"region": "r_regionkey", "nation": "n_nationkey", "supplier": "s_suppkey", "part": "p_partkey",
        "partsupp": "ps_partkey, ps_suppkey", "customer": "c_custkey", "orders": "o_orderkey",
        "lineitem": "l_orderkey, l_linenumber"}  # fmt: skip
REFERENCES = (("nation", "n_regionkey", "region"), ("supplier", "s_nationkey", "nation"), ("customer", "c_nationkey", "nation"),
              ("partsupp", "ps_partkey", "part"), ("partsupp", "ps_suppkey", "supplier"), ("orders", "o_custkey", "customer"),
              ("lineitem", "l_orderkey", "orders"), ("lineitem", "l_partkey, l_suppkey", "partsupp"))  # fmt: skip


def generate(scale: float) -> Dict[str, pa.Table]:
    return {**{name: make(scale) for name, make in _SINGLE.items()}, **orders_and_lines(scale)}
