"""Lowest and highest values of record batches, in the two forms of metadata that arrow_fdw reads (docs/dev/arrow.md)."""

import decimal
import math
import struct

import pyarrow as pa


def is_text(kind):
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or kind == pa.string_view()


def stored(values):
    """Values that are neither null nor NaN, as they are stored; None for types that have no statistics."""
    kind = values.type
    if is_text(kind):
        return [v.encode() for v in values.to_pylist() if v is not None]
    valid = [v.is_valid for v in values]
    if pa.types.is_decimal(kind):
        raw = values.buffers()[1].to_pybytes()
        at = lambda i: raw[16 * (i + values.offset) : 16 * (i + values.offset + 1)]
        return [int.from_bytes(at(i), "little", signed=True) for i, is_valid in enumerate(valid) if is_valid]
    if pa.types.is_date(kind) or pa.types.is_time(kind) or pa.types.is_timestamp(kind):
        values = values.view(pa.int32() if kind.bit_width == 32 else pa.int64())
    elif not pa.types.is_integer(kind) and not pa.types.is_floating(kind):
        return None
    return [v for v in values.to_pylist() if v is not None and not (isinstance(v, float) and math.isnan(v))]


def limits(values):
    present = stored(values)
    return (min(present), max(present)) if present else None


def as_bits(kind, value):
    if not pa.types.is_floating(kind):
        return str(value)
    form = ("<f", "<i") if kind.bit_width == 32 else ("<d", "<q")
    return str(struct.unpack(form[1], struct.pack(form[0], value))[0])


def as_text(kind, value):
    if is_text(kind):
        return value.split(b",")[0][:31]
    if pa.types.is_decimal(kind):
        return f"{decimal.Decimal(value).scaleb(-kind.scale, decimal.Context(prec=50)):f}".encode()
    return ("%g" % value if pa.types.is_floating(kind) else str(value)).encode()


def annotated(field, columns):
    """The field with the statistics of `columns`, its values in each record batch."""
    if is_text(field.type) or not columns or stored(columns[0]) is None:
        return field
    found = [limits(c) for c in columns]
    texts = [["null" if f is None else as_bits(field.type, f[side]) for f in found] for side in (0, 1)]
    return field.with_metadata({"min_values": ",".join(texts[0]), "max_values": ",".join(texts[1])})


def batch_metadata(batch):
    """Custom metadata of a record batch with the statistics of all of its columns."""
    metadata = {}
    for name, values in zip(batch.schema.names, batch.columns):
        if found := limits(values):
            metadata[f"min_max_stats.{name}"] = b",".join(as_text(values.type, v) for v in found)
    return metadata
