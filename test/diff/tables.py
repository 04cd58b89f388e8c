"""Random tables: Arrow and Parquet files written by pyarrow, the foreign tables over them, and heap copies of some."""

import copy
import datetime
import os

import pyarrow as pa
import pyarrow.parquet as pq

from arrow_statistics import annotated, batch_metadata
from columns import MAKE_MOOD, Column, arrow_type, heap_column, layouts, quote, random_array, random_column
from file_columns import LAYOUTS, file_array, file_column, is_file_column
from partitions import inherited_ddl, partitioned_ddl

EDGE_SIZES = [0, 1, 7, 63, 64, 65, 1023, 1024, 1025, 2047, 2048, 2049]
LARGE_SIZES = [131071, 131072, 131073, 150000]


class Table:
    def __init__(self, name, columns, batches, files, heap=False):
        self.name, self.columns, self.heap = name, columns, heap
        self.batches, self.files = batches, files  # rows of each batch; how many files they are spread over
        self.layouts = []  # for each file, the layout of each column
        self.rows = sum(batches)
        self.parent = False  # an inheritance parent with one child for each file
        self.partitioned = False  # the heap copy is

    def describe(self):
        lines = [
            f"table {self.name}: {self.rows} rows in batches {shorten(self.batches)}, {self.files} files"
            + (", copied into a heap table" if self.heap else "")
            + (", inheritance children" if self.parent else "")
            + (", partitioned" if self.partitioned else "")
        ]
        for i, column in enumerate(self.columns):
            used = sorted({layout[i] for layout in self.layouts if i < len(layout)} or {"heap only"})
            lines.append(
                f"  {column.name} {column.declared}: {'/'.join(used)}, {column.domain}, "
                f"{column.nulls:.0%} null, pool of {len(column.pool)}"
            )
        return lines


def shorten(batches):
    if len(batches) <= 12:
        return str(batches)
    return f"[{', '.join(map(str, batches[:8]))}, … {len(batches)} batches]"


def random_batches(rng, role, small):
    """Rows of each record batch. role: fact (outermost, larger) or dimension."""
    if small:
        return [rng.choice([0, 1, 7, 31, 32, 33]) for _ in range(rng.randint(0, 4 if role == "fact" else 2))]
    shape = rng.random()
    if role == "dimension":
        if shape < 0.08:
            return rng.choice([[], [0], [0, 0]])
        if shape < 0.85:
            return [rng.choice([1, 2, 5, 20, 60, 150]) for _ in range(rng.choice([1, 1, 2]))]
        return [rng.choice([1023, 1024, 1025, 2100])]
    if shape < 0.04:
        return rng.choice([[], [0], [0, 0, 0]])
    if shape < 0.16:
        return [rng.choice(LARGE_SIZES)] + ([rng.choice(EDGE_SIZES)] if rng.random() < 0.5 else [])
    if shape < 0.28:
        return [rng.choice([0, 1, 2, 3, 10, 33]) for _ in range(rng.choice([20, 100, 300]))]
    if shape < 0.5:
        return [rng.choice(EDGE_SIZES) for _ in range(rng.randint(1, 6))]
    return [rng.choice([500, 1000, 1024, 3000]) for _ in range(rng.randint(1, 3))]


def random_table(rng, name, role, small=False):
    batches = random_batches(rng, role, small)
    keys = [
        random_column(rng, f"k{i}", base, "key")
        for i, base in enumerate(
            rng.sample(["int2", "int4", "int8"], 2)
            + rng.sample(["text", "bpchar", "date", "numeric", "varchar", "timestamp"], 2)
        )
    ]
    columns = keys + [random_column(rng, f"c{i}") for i in range(rng.randint(4, 12))]
    if sum(batches) > 20000:
        for column in columns:
            column.pool = [v if not isinstance(v, str) else v[:200] for v in column.pool]
    columns += [file_column(rng, f"f{i}") for i in range(rng.choice([0, 0, 1, 3]) if sum(batches) <= 20000 else 0)]
    table = Table(name, columns, batches, rng.choice([1, 1, 1, 2, 3]))
    table.heap = rng.random() < 0.4
    table.parent = not table.heap and table.files > 1 and rng.random() < 0.4
    table.partitioned = table.heap and rng.random() < 0.4
    mixed = rng.random() < 0.3
    first = [rng.choice(layouts_of(c)) for c in columns]
    table.layouts = [first] + [
        [rng.choice(layouts_of(c)) for c in columns] if mixed else first for _ in range(table.files - 1)
    ]
    return table


def layouts_of(column):
    return list(LAYOUTS[column.base]) if is_file_column(column) else layouts(column)


def type_of(column, layout):
    return LAYOUTS[column.base][layout] if is_file_column(column) else arrow_type(column, layout)


def array_of(rng, column, layout, rows):
    return (file_array if is_file_column(column) else random_array)(rng, column, layout, rows)


def with_dictionaries(rng, schema, arrays):
    """Some of the columns as indexes into one dictionary for all batches, which is what a file can have."""
    encodable = (pa.string(), pa.large_string(), pa.int32(), pa.int64(), pa.date32(), pa.float64(), pa.binary(), pa.binary(16))
    for i, field in enumerate(schema):
        if not arrays or field.type not in encodable or rng.random() >= 0.15:
            continue
        index = rng.choice([pa.int16(), pa.int32(), pa.uint32(), pa.int64()])
        whole = pa.chunked_array([batch[i] for batch in arrays]).combine_chunks().dictionary_encode()
        if len(whole.dictionary) >= 2**15:
            continue
        made = pa.DictionaryArray.from_arrays(whole.indices.cast(index), whole.dictionary)
        schema = schema.set(i, field.with_type(made.type))
        begin = 0
        for batch in arrays:
            size = len(batch[i])
            batch[i] = made.slice(begin, size)
            begin += size
    return schema, arrays


def parquet_has(kind):
    return not pa.types.is_interval(kind)


def write_parquet(rng, schema, arrays, path):
    """The batches as row groups of a Parquet file."""
    dictionaries = rng.choice([True, True, False, [schema.names[0]]])
    with pq.ParquetWriter(
        str(path),
        schema,
        compression=rng.choice(["snappy", "snappy", "zstd", "gzip", "lz4", "brotli", "none"]),
        use_dictionary=dictionaries,
        data_page_version=rng.choice(["1.0", "2.0"]),
        data_page_size=rng.choice([None, 100, 4096]),
        dictionary_pagesize_limit=rng.choice([None, 64, 1024]),
        write_batch_size=rng.choice([None, 16]),
        write_statistics=rng.random() < 0.8,
        write_page_checksum=rng.random() < 0.3,
        store_decimal_as_integer=rng.random() < 0.3,
    ) as writer:
        for batch in arrays:
            writer.write_batch(pa.RecordBatch.from_arrays(batch, schema=schema), row_group_size=max(len(batch[0]), 1))


def write_files(rng, table, folder, parquet=True):
    """Writes the table's files into `folder` (a Path), some in Parquet; their paths."""
    share = [table.batches[i :: table.files] for i in range(table.files)]
    paths = []
    for number, batches in enumerate(share):
        schema = pa.schema([(c.name, type_of(c, layout)) for c, layout in zip(table.columns, table.layouts[number])])
        is_parquet = rng.random() < 0.15 and parquet and all(map(parquet_has, schema.types))
        path = folder / f"{table.name}_{number}.{'parquet' if is_parquet else 'arrow'}"
        arrays = [
            [array_of(rng, c, layout, rows) for c, layout in zip(table.columns, table.layouts[number])]
            for rows in batches
        ]
        statistics = rng.choice(["none", "fields", "batches"])
        if statistics == "fields":
            schema = pa.schema([annotated(field, [batch[i] for batch in arrays]) for i, field in enumerate(schema)])
        metadata = [
            batch_metadata(pa.RecordBatch.from_arrays(batch, schema=schema)) if statistics == "batches" else None
            for batch in arrays
        ]
        schema, arrays = with_dictionaries(rng, schema, arrays)
        if is_parquet:
            write_parquet(rng, schema, arrays, path)
            os.chmod(path, 0o644)
            paths.append(path)
            continue
        options = pa.ipc.IpcWriteOptions(compression=rng.choice([None, None, None, "lz4", "zstd"]))
        make = rng.choice([pa.ipc.new_file, pa.ipc.new_file, pa.ipc.new_stream])
        with pa.OSFile(str(path), "wb") as sink, make(sink, schema, options=options) as writer:
            for batch, found in zip(arrays, metadata):
                writer.write_batch(pa.RecordBatch.from_arrays(batch, schema=schema), custom_metadata=found)
        os.chmod(path, 0o644)
        paths.append(path)
    return paths


def ddl(rng, table, paths):
    """Statements that create the table."""
    if table.parent:
        return [MAKE_MOOD] + inherited_ddl(rng, table, paths)
    virtual = ""
    if not table.heap and rng.random() < 0.5:
        paths, virtual = with_virtual_columns(rng, table, paths)
    columns = ", ".join(f"{c.name} {c.declared}" for c in table.columns)
    option = f"file '{paths[0]}'" if len(paths) == 1 else "files '" + ",".join(map(str, paths)) + "'"
    if not table.heap:
        return [MAKE_MOOD, f"CREATE FOREIGN TABLE {table.name} ({columns}) SERVER arrow_fdw OPTIONS ({option}{virtual})"]
    made = [MAKE_MOOD, f"CREATE FOREIGN TABLE {table.name}_file ({columns}) SERVER arrow_fdw OPTIONS ({option})"]
    made += partitioned_ddl(rng, table, paths) if table.partitioned else heap_ddl(rng, table)
    if rng.random() < 0.4:
        table.columns.append(table_oid())
    if rng.random() < 0.4:
        table.columns.append(row_place())
    return made


def with_virtual_columns(rng, table, paths):
    """Names of files get values, and the table columns of them; the new paths, and the option that goes with them."""
    number = Column("vn", "int8", "key", 0, declared="int8 OPTIONS (virtual 'n')")
    number.pool = [rng.choice([0, 1, 7, 42, 2**31, 2**62]) for _ in range(3)]
    word = Column("vt", "text", "key", 0, declared="text OPTIONS (virtual 't')")
    word.pool = rng.sample(["", "a", "A", "ab", "ß", "日本", "a%b", "x" * 40], 3)
    day = Column("vd", "date", "key", 0, declared="date OPTIONS (virtual 'day')")
    day.pool = [rng.choice([-800, 0, 19723]) for _ in range(2)]
    absent = Column("va", rng.choice(["int4", "float8"]), "key", 1)
    absent.declared += " OPTIONS (virtual 'absent')"
    renamed = []
    for path in paths:
        date = (datetime.date(1970, 1, 1) + datetime.timedelta(days=rng.choice(day.pool))).isoformat()
        parts = f"_n={rng.choice(number.pool)}_d={date}_t={rng.choice(word.pool)}"
        renamed.append(path.with_name(path.stem + parts + ".arrow"))
        path.rename(renamed[-1])
    chosen = rng.sample([number, word, day, absent], rng.randint(1, 4))
    table.columns += chosen
    return renamed, ", pattern '*_n=@{n}_d=${day}_t=${t}.arrow'"


def table_oid():
    """The system column, which needs no declaration."""
    column = Column("tableoid", "oid", "key", 0)
    column.pool = ["0", "16384", "4294967295"]
    return column


def row_place():
    """The system column of a row's place."""
    column = Column("ctid", "tid", "wild", 0)
    column.pool = ["(0,1)", "(0,7)", "(3,2)", "(4294967295,65535)"]
    return column


def free_numeric(rng, name):
    """The column's values with scales of their own; some are beyond what the engine holds."""
    odd = rng.choice(["'NaN'", "1e40", "1e-70", "'-Infinity'"])
    return rng.choice(
        [
            f"trim_scale({name})",
            f"CASE WHEN random() < 0.5 THEN trim_scale({name}) ELSE {name} END",
            f"CASE WHEN random() < 0.02 THEN {odd} ELSE trim_scale({name}) END",
            f"round({name}, floor(random() * 6)::int)",
        ]
    )


def heap_ddl(rng, table):
    """A heap copy: with dropped columns, dead and updated rows, pages that are all-visible or not, values out of line."""
    name = table.name
    free = [c for c in table.columns if c.base == "numeric" and rng.random() < 0.4]  # whose scale is each row's own
    parts = [f"{c.name} {'numeric' if c in free else c.declared}" for c in table.columns]
    junk = []
    for i in range(rng.choice([0, 0, 1, 2])):
        junk.append(f"j{i}")
        kind = rng.choice(["text DEFAULT 'dropped'", "int2 DEFAULT 1", "int8", "numeric DEFAULT 1.5"])
        parts.insert(rng.randint(0, len(parts)), f"j{i} {kind}")
    persistence = rng.choice(["", "", "", "UNLOGGED "])
    made = [f"CREATE {persistence}TABLE {name} ({', '.join(parts)})", f"SELECT setseed({rng.random():.4f})"]
    for column in table.columns:
        if column.base in ("text", "varchar", "numeric") and rng.random() < 0.15:
            storage = rng.choice(["EXTERNAL", "MAIN"] + ["PLAIN"] * (column.base == "numeric"))  # long text has to leave the page
            made.append(f"ALTER TABLE {name} ALTER {column.name} SET STORAGE {storage}")
    if rng.random() < 0.2:
        made.append(f"ALTER TABLE {name} SET (toast_tuple_target = 128)")
    names = ", ".join(c.name for c in table.columns)
    values = ", ".join(free_numeric(rng, c.name) if c in free else c.name for c in table.columns)
    indexes = brin_indexes(rng, table)
    order = f" ORDER BY {indexes[0][0].name}" if indexes else ""
    early, late = ([], indexes) if rng.random() < 0.7 else (indexes, [])  # early: what is inserted is not summarised
    made += [statement for _, statement in early]
    made.append(f"INSERT INTO {name} ({names}) SELECT {values} FROM {name}_file{order}")
    made += [f"ALTER TABLE {name} DROP COLUMN {column}" for column in junk]
    made += [statement for _, statement in late]
    made += [f"ANALYZE {name}"] if indexes else []  # PostgreSQL has to know that the table is in order
    some = rng.choice(table.columns).name
    made += add_heap_columns(rng, table)
    changes = [
        f"UPDATE {name} SET {some} = {some} WHERE random() < 0.3",
        f"DELETE FROM {name} WHERE random() < 0.2",
        f"VACUUM {name}",
        f"VACUUM FREEZE {name}",
        f"INSERT INTO {name} SELECT * FROM {name} WHERE random() < 0.1",
        f"ALTER TABLE {name} ADD COLUMN late int",
    ]
    made += rng.sample(changes, rng.randint(0, len(changes) - 1))
    if rng.random() < 0.3:
        late = rng.choice(table.columns)
        table.columns.append(late_column(rng, late))
        declared = "numeric" if late in free else late.declared
        made.append(f"ALTER TABLE {name} ADD COLUMN {table.columns[-1].name} {declared} DEFAULT {late.literal(rng)}")
        made.append(f"INSERT INTO {name} SELECT * FROM {name} WHERE random() < 0.1")
        made.append(f"UPDATE {name} SET {table.columns[-1].name} = {late.name} WHERE random() < 0.3")
    if rng.random() < 0.5:
        made += json_ddl(rng, table)
    if rng.random() < 0.5:
        made += array_ddl(rng, table)
    if rng.random() < 0.5:
        made.append(f"VACUUM {name}")  # its columns are cached between the queries of the round
    return made


ELEMENTS = ("bool", "int2", "int4", "int8", "float4", "float8", "date", "timestamp", "timestamptz", "text", "bpchar", "uuid", "time")


def array_ddl(rng, table):
    """A column with arrays of values of another one."""
    parts = [c for c in table.columns if c.base in ELEMENTS and "COLLATE" not in c.declared]
    if not parts:
        return []
    part = rng.choice(parts)
    column = Column("ar", "array", "tame", 0.1)
    column.element = part.base
    declared = "bpchar" if part.base == "bpchar" else part.declared
    table.columns.append(column)
    return [
        f"ALTER TABLE {table.name} ADD COLUMN ar {declared}[]",
        f"UPDATE {table.name} SET ar = CASE (random() * 5)::int WHEN 0 THEN NULL WHEN 1 THEN '{{}}' WHEN 2 THEN ARRAY[{part.name}] "
        f"ELSE ARRAY[{part.name}, NULL, {part.literal(rng)}]::{declared}[] END",
    ]


def json_ddl(rng, table):
    """A jsonb column made of others, some of them by nature strings; a part is not an object, some values are long."""
    parts = rng.sample(table.columns, min(len(table.columns), rng.randint(1, 6)))
    column = Column("js", "jsonb", "tame", 0)
    column.keys = [c.name for c in parts]
    pairs = "".join(f"'{c.name}', {c.name}, " for c in parts if c.base not in ("bytea",))
    column.pool = ["{}", "[1, 2]", '{"a": 1}', "null", '"x"', "1.50"]
    odd = rng.choice(["'[1, 2, \"a\"]'::jsonb", "'1.50'::jsonb", "NULL", "jsonb_build_array(1, NULL, 'k')", "'{}'::jsonb"])
    made = [
        f"ALTER TABLE {table.name} ADD COLUMN js jsonb",
        f"UPDATE {table.name} SET js = CASE WHEN random() < {rng.choice([0, 0.1])} THEN {odd} ELSE "
        f"jsonb_build_object({pairs}'list', jsonb_build_array({parts[0].name}, 'x', 1.0), 'o', '{{\"p\": 1}}'::jsonb) END",
    ]
    if rng.random() < 0.3:
        made.append(f"UPDATE {table.name} SET js = js || jsonb_build_object('pad', repeat('long ', 800)) WHERE random() < 0.2 AND jsonb_typeof(js) = 'object'")
    table.columns.append(column)
    return made


def late_column(rng, like):
    """A column with the values of another, which older rows have by default."""
    column = copy.copy(like)
    column.name, column.nulls, column.brin = "late_default", 0, False
    return column


MULTI = ("int2", "int4", "int8", "numeric", "float4", "float8", "date", "timestamp", "timestamptz")


def brin_indexes(rng, table):
    """(column, statement) of a few BRIN indexes: the first column may be the order of the table."""
    if rng.random() < 0.4:
        return []
    possible = [c for c in table.columns if c.base in MULTI + ("text", "bpchar") and c.domain != "wild"]
    made = []
    for column in rng.sample(possible, min(len(possible), rng.choice([1, 2, 3]))):
        classes = [""] * 3 + [f" {column.base}_bloom_ops"] + [f" {column.base}_minmax_multi_ops"] * 2 * (column.base in MULTI)
        column.brin = True
        made.append((column, f"CREATE INDEX ON {table.name} USING brin ({column.name}{rng.choice(classes)}) "
                             f"WITH (pages_per_range = {rng.choice([1, 1, 2, 5])})"))
    return made


def add_heap_columns(rng, table):
    """Columns of types that files do not have."""
    made = [MAKE_MOOD]
    for i in range(rng.choice([0, 1, 2, 4])):
        column = heap_column(rng, f"h{i}")
        values = f"(ARRAY[{', '.join(quote(v) for v in column.pool)}]::{column.declared}[])"
        made.append(f"ALTER TABLE {table.name} ADD COLUMN {column.name} {column.declared}")
        made.append(f"UPDATE {table.name} SET {column.name} = {values}[1 + (random() * {len(column.pool)})::int]")
        table.columns.append(column)
    return made
