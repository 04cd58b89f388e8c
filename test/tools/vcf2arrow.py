#!/usr/bin/env python3
"""vcf2arrow: VCF and BCF in each form of file against a reader of our own in Python, choices of rows and columns, regions, values
that do not fit, damaged and odd input. bcftools makes the compressed and binary forms."""
import collections
import gzip
import itertools
import random
import re
import struct
import subprocess

import pyarrow as pa
import pyarrow.ipc as ipc

from checks import done, equal, folder, fresh_database, ok, query, run

OUT = folder("vcf2arrow")
OUT.chmod(0o755)
HEADER = """##fileformat=VCFv4.3
##reference=file:///data/ref.fa
##FILTER=<ID=q10,Description="Quality, below \\"10\\"">
##contig=<ID=chr1,length=250000000>
##contig=<ID=chr2,length=250000000>
##INFO=<ID=DP,Number=1,Type=Integer,Description="Depth">
##INFO=<ID=AF,Number=A,Type=Float,Description="Frequency, by allele">
##INFO=<ID=AC,Number=A,Type=Integer,Description="Count">
##INFO=<ID=AD,Number=R,Type=Integer,Description="Depths">
##INFO=<ID=CI,Number=2,Type=Float,Description="Interval">
##INFO=<ID=DB,Number=0,Type=Flag,Description="dbSNP">
##INFO=<ID=CSQ,Number=.,Type=String,Description="Consequence">
##FORMAT=<ID=GT,Number=1,Type=String,Description="Genotype">
##FORMAT=<ID=GQ,Number=1,Type=Integer,Description="Quality">
##FORMAT=<ID=PL,Number=G,Type=Integer,Description="Likelihoods">
"""
SAMPLES = ["NA1", "sample two", "日本"]


def f32(text):
    return struct.unpack("f", struct.pack("f", float(text)))[0]


def make_lines(count, seed):
    rng = random.Random(seed)
    position = 0
    for i in range(count):
        position += rng.randint(1, 60)
        alts = rng.choice((["G"], ["G"], ["A", "T"], ["<DEL>", "*", "GTT"], ["."]))
        info = {}
        if rng.random() < .9:
            info["DP"] = rng.choice((str(rng.randint(-5, 10**6)), ".", "2147483647"))
        if rng.random() < .9:
            info["AF"] = ",".join(rng.choice(("0.5", "1e-5", ".", "1", "0.123457", "3.40282e+38", f"{rng.random():.6g}")) for _ in alts)
        if rng.random() < .5:
            info["AC"] = ",".join(str(rng.randint(0, 99)) for _ in alts)
        if rng.random() < .5:
            info["AD"] = ",".join(str(rng.randint(0, 99)) for _ in range(len(alts) + 1))
        if rng.random() < .3:
            info["CI"] = "-1.5,2"
        if rng.random() < .3:
            info["DB"] = None
        if rng.random() < .4:
            info["CSQ"] = rng.choice(("a|b", "x,y%2C,z", "ä"))
        items = [key if value is None else f"{key}={value}" for key, value in info.items()]
        if rng.random() < .2:
            rng.shuffle(items)
        fields = rng.choice((["GT"], ["GT", "GQ"], ["GT", "PL", "GQ"], ["GQ", "PL"]))
        cells = []
        for _ in SAMPLES:
            cell = {"GT": rng.choice(("0|0", "0/1", "1|2", "./.", "1", ".")), "GQ": rng.choice((".", str(rng.randint(0, 99)))), "PL": rng.choice(("1,2,3", "."))}
            parts = [cell[name] for name in fields]
            while len(parts) > 1 and rng.random() < .3:
                parts.pop()
            cells.append(":".join(parts))
        yield "\t".join(("chr1" if i < count // 2 else "chr2", str(position), rng.choice((".", f"rs{i}")), rng.choice("ACGT"),
                         ",".join(alts), rng.choice((".", "29.5", "1e3", "0.001")), rng.choice(("PASS", "q10", ".")), ";".join(items) or ".", ":".join(fields), *cells))
        if i == count // 2 - 1:
            position = 0


def write_vcf(path, lines, samples=tuple(SAMPLES), header=HEADER, end="\n"):
    columns = ["#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO"] + (["FORMAT", *samples] if samples else [])
    path.write_bytes((header + "\t".join(columns) + "\n" + "\n".join(lines) + (end if lines else "")).encode())
    return path


def missing(text):
    return None if text in (None, "", ".") else text


def expected(lines, whole=False):
    """Rows as dictionaries, from the specification and nothing of the program."""
    rows = []
    for line in lines:
        chrom, pos, name, ref, alt, qual, filters, info, fields, *cells = line.split("\t")
        values = dict(item.partition("=")[::2] for item in info.split(";")) if info != "." else {}
        for k, allele in enumerate([alt] if whole else alt.split(",")):
            row = {"chrom": chrom, "pos": int(pos), "id": missing(name), "ref": ref, "alt": missing(allele), "qual": None if qual == "." else f32(qual), "filter": missing(filters),
                   "info__DB": "DB" in values}

            def number(kind, text):
                return None if missing(text) is None else (int(text) if kind is int else f32(text))

            def listed(kind, text):
                return None if missing(text) is None else [number(kind, part) if kind else missing(part) for part in text.split(",")]

            row["info__DP"] = number(int, values.get("DP"))
            if whole:
                row.update({"info__AF": listed(float, values.get("AF")), "info__AC": listed(int, values.get("AC")), "info__AD": listed(int, values.get("AD")),
                            "info__CI": listed(float, values.get("CI")), "info__CSQ": listed(None, values.get("CSQ"))})
            else:
                depths = values.get("AD", "").split(",")
                row.update({"info__AF": number(float, values["AF"].split(",")[k]) if "AF" in values else None,
                            "info__AC": number(int, values["AC"].split(",")[k]) if "AC" in values else None,
                            "info__AD": f"{depths[0]},{depths[k + 1]}" if "AD" in values else None, "info__CI": values.get("CI"), "info__CSQ": missing(values.get("CSQ"))})
            for n, cell in enumerate(cells, 1):
                parts = dict(itertools.zip_longest(fields.split(":"), cell.split(":")))
                row[f"sample{n}__GT"] = missing(parts.get("GT"))
                row[f"sample{n}__GQ"] = number(int, parts.get("GQ"))
                row[f"sample{n}__PL"] = listed(int, parts.get("PL")) if whole else missing(parts.get("PL"))
            rows.append(row)
    return rows


def convert(*arguments, name="out"):
    path = OUT / f"{name}.arrow"
    status, out, err = run("vcf2arrow", "-f", "-o", path, *arguments)
    ok(status == 0, f"{name}: {' '.join(map(str, arguments))}", status, out, err)
    return ipc.open_file(str(path)).read_all() if status == 0 else None


def same(table, rows, name):
    found = table.to_pylist()
    if len(found) != len(rows):
        return ok(False, name, f"{len(found)} rows instead of {len(rows)}")
    for have, want in zip(found, rows):
        differing = {key: (have.get(key), want[key]) for key in want if have.get(key) != want[key]}
        if differing or set(have) != set(want):
            return ok(False, name, differing, set(have) ^ set(want), want)
    return ok(True, name)


def bcftools(*arguments):
    subprocess.run(["bcftools", *map(str, arguments)], check=True, capture_output=True)


# ---- Forms of files ----
lines = list(make_lines(20000, 1))
plain = write_vcf(OUT / "plain.vcf", lines)
rows = expected(lines)
bcftools("view", "-Oz", "-o", OUT / "blocks.vcf.gz", plain)
bcftools("view", "-Ob", "-o", OUT / "binary.bcf", plain)
(OUT / "gzip.vcf.gz").write_bytes(gzip.compress(plain.read_bytes()))
(OUT / "two.vcf.gz").write_bytes(gzip.compress(plain.read_bytes()[:100000]) + gzip.compress(plain.read_bytes()[100000:]))
for form in ("plain.vcf", "blocks.vcf.gz", "gzip.vcf.gz", "two.vcf.gz"):
    for threads in (1, 3):
        same(convert(OUT / form, "-n", threads, name=form), rows, f"{form}, {threads} threads")
same(convert(OUT / "blocks.vcf.gz", "-s", "1k", "-n", 4), rows, "the smallest pieces")
table = convert(OUT / "binary.bcf", name="binary")
same(table, rows, "binary.bcf")
same(convert(OUT / "binary.bcf", "-s", "1k", "-n", 4), rows, "BCF in the smallest pieces")
bcftools("view", "-Ou", "-o", OUT / "bare.bcf", plain)
same(convert(OUT / "bare.bcf"), rows, "BCF without blocks")
status, out, err = run("vcf2arrow", "-f", "-o", OUT / "pipe.arrow", "-", input=(OUT / "binary.bcf").read_bytes(), binary=True)
same(ipc.open_file(str(OUT / "pipe.arrow")).read_all(), rows, "BCF by standard input")
status, out, err = run("vcf2arrow", "-f", "-o", OUT / "pipe.arrow", "-", input=plain.read_bytes(), binary=True)
same(ipc.open_file(str(OUT / "pipe.arrow")).read_all(), rows, "standard input")
status, out, err = run("vcf2arrow", "-o", "-", plain, binary=True)
same(ipc.open_stream(out).read_all(), rows, "standard output")
same(convert(write_vcf(OUT / "returns.vcf", [line + "\r" for line in lines[:50]], end="\n")), rows[:len(expected(lines[:50]))], "lines that end with returns")
same(convert(write_vcf(OUT / "open.vcf", lines[:51], end="")), expected(lines[:51]), "a last line without its end")
long = [lines[0].replace(lines[0].split("\t")[7], f"AF={','.join([number] * len(lines[0].split(chr(9))[4].split(',')))}") for number in
        ("0.12345678901", "3.4028235e38", "1e-45", "16777217", "16777216.5", "0.1", "123456.7", "1e-50", "-0.0", "+1.5", "nan", "inf", "0000.5000000", "12345678")]
equal([str(row["info__AF"]) for row in convert(write_vcf(OUT / "long.vcf", long)).to_pylist()], [str(row["info__AF"]) for row in expected(long)], "floats of many digits")
bcftools("view", "-Ob", "-o", OUT / "long.bcf", OUT / "long.vcf")
equal([str(row["info__AF"]) for row in convert(OUT / "long.bcf").to_pylist()], [str(row["info__AF"]) for row in expected(long)], "of BCF, too")
metadata = {key.decode(): value.decode() for key, value in table.schema.metadata.items()}
equal({key: metadata.get(key) for key in ("fileformat", "reference", "filter.q10", "sample1_key", "sample3_key")},
      {"fileformat": "VCFv4.3", "reference": "file:///data/ref.fa", "filter.q10": 'Quality, below "10"', "sample1_key": "NA1", "sample3_key": "日本"}, "metadata of the file")
equal(table.schema.field("info__AF").metadata[b"description"].decode(), "Frequency, by allele", "metadata of a field")
equal([field.name for field in table.schema if b"min_values" in (field.metadata or {})], ["chrom", "pos"], "statistics of chromosomes and positions")
empty = convert(write_vcf(OUT / "empty.vcf", []))
equal((empty.num_rows, empty.num_columns), (0, len(rows[0])), "no variants")
same(convert(plain, OUT / "open.vcf"), rows + expected(lines[:51]), "several files")

# ---- Rows and columns ----
same(convert(plain, "--no-split"), expected(lines, whole=True), "whole lines")
chosen = convert(plain, "--info=DP,DB", "--format=GT", "--samples=日本")
equal(chosen.column_names, ["chrom", "pos", "id", "ref", "alt", "qual", "filter", "info__DP", "info__DB", "sample1__GT"], "chosen columns")
equal(chosen.column("sample1__GT").to_pylist(), [row["sample3__GT"] for row in rows], "a chosen sample")
equal(convert(plain, "--no-info", "--no-samples").num_columns, 7, "no fields")
dosages = convert(plain, "--genotypes=dosage", "--format=GT").column("sample1__GT").to_pylist()
wanted = []
for line in lines:
    parts = dict(itertools.zip_longest(line.split("\t")[8].split(":"), line.split("\t")[9].split(":")))
    for k in range(len(line.split("\t")[4].split(","))):
        text = missing(parts.get("GT"))
        alleles = [] if text is None else text.replace("|", "/").split("/")
        wanted.append(None if text is None or "." in alleles else sum(allele == str(k + 1) for allele in alleles))
equal(dosages, wanted, "dosages")
equal(convert(OUT / "binary.bcf", "--genotypes=dosage", "--format=GT").column("sample1__GT").to_pylist(), wanted, "dosages of BCF")


def alleles_of(cell, ploidy):
    """The elements of a list that a sample has."""
    if cell is None:
        return [None] * ploidy
    alleles = [None if allele == "." else int(allele) for allele in cell.replace("|", "/").split("/")]
    return alleles + [-2] * (ploidy - len(alleles))


def lists_of(lines, ploidy=2, samples=range(len(SAMPLES))):
    found = []
    for line in lines:
        columns = line.split("\t")
        keys = columns[8].split(":")
        cells = [dict(itertools.zip_longest(keys, columns[9 + sample].split(":"))) for sample in samples]
        row = [allele for cell in cells for allele in alleles_of(missing(cell["GT"]), ploidy)] if "GT" in keys else None
        found.append(row)
    return found


for form in ("plain.vcf", "binary.bcf"):
    lists = convert(OUT / form, "--genotypes=lists", "--no-split")
    equal(lists.schema.field("samples__GT").type, pa.list_(pa.int8(), 6), f"{form}: the type of lists")
    equal(lists.column("samples__GT").to_pylist(), lists_of(lines), f"{form}: lists of alleles")
    equal(lists.drop_columns(["samples__GT"]).to_pylist(), [{key: value for key, value in row.items() if not key.endswith("__GT")} for row in expected(lines, whole=True)], f"{form}: the other columns")
    equal(convert(OUT / form, "--genotypes=lists", "--no-split", "--ploidy=3", "--samples=日本").column("samples__GT").to_pylist(), lists_of(lines, 3, (2,)), f"{form}: three alleles of one sample")
    same(convert(OUT / form, "--no-split"), expected(lines, whole=True), f"{form}: whole lines")
    same(convert(OUT / form, "--no-split", "-n", 3), expected(lines, whole=True), f"{form}: whole lines, three threads")
# Many samples of pairs, among them others: bcftools says what the genotypes are.
crowd = [f"S{i}" for i in range(300)]
many = ["\t".join(["chr1", str(i + 1), ".", "A", "C,G", ".", "PASS", ".", "GT", *(rng.choice(("0|0", "0/1", "1|2", ".|.", "0|.")) if i % 40 else rng.choice(("1", "0|1|1", ".", "0/11")) for _ in crowd)])
        for rng in (random.Random(3),) for i in range(500)]
write_vcf(OUT / "crowd.vcf", many, samples=crowd)
bcftools("view", "-Ob", "-o", OUT / "crowd.bcf", OUT / "crowd.vcf")
said = [line.split("\t") for line in subprocess.run(["bcftools", "query", "-f", "[%GT\t]\n", OUT / "crowd.bcf"], check=True, capture_output=True, text=True).stdout.splitlines()]
for form in ("crowd.vcf", "crowd.bcf"):
    for options, kind in (((), pa.dictionary(pa.int16(), pa.string())), (("--genotypes=text",), pa.string()), (("--genotypes=dictionary", "-n", 3, "-s", "1k"), pa.dictionary(pa.int16(), pa.string()))):
        texts = convert(OUT / form, "--no-split", *options)
        equal([[missing(text) for text in row[:300]] for row in said], [list(row) for row in zip(*(texts.column(f"sample{i + 1}__GT").to_pylist() for i in range(300)))], f"{form}: genotypes are bcftools', {options}")
        equal({texts.schema.field(f"sample{i + 1}__GT").type for i in range(300)}, {kind}, f"{form}: the type of genotypes, {options}")
    some = convert(OUT / form, "--no-split", "--samples=S7,S299").select(["sample1__GT", "sample2__GT"])
    equal([tuple(row.values()) for row in some.to_pylist()], [(missing(row[7]), missing(row[299])) for row in said], f"{form}: genotypes of two samples")
    piped = run("vcf2arrow", "--no-split", "-o", "-", OUT / form, binary=True)
    equal(ipc.open_stream(piped[1]).read_all().column("sample300__GT").to_pylist(), [missing(row[299]) for row in said], f"{form}: genotypes in a stream")
    grown = OUT / f"grown.{form}.arrow"
    write_vcf(OUT / "fewer.vcf", ["\t".join(line.split("\t")[:9] + line.split("\t")[10:13]) for line in many[:3]], samples=crowd[1:4])  # without genotypes that come later
    for number, source in enumerate((OUT / "fewer.vcf", OUT / form)):
        status, out, err = run("vcf2arrow", "--no-split", "--append" if number else "-o", grown, "--samples=S1,S2", source)
        ok(status == 0, f"{form}: a file with a dictionary grows", err)
    equal(ipc.open_file(grown).read_all().column("sample2__GT").to_pylist(), [missing(row[2]) for row in said[:3] + said], f"{form}: genotypes of a file that has grown")
    before = grown.read_bytes()
    status, out, err = run("vcf2arrow", "--no-split", "--append", grown, "--samples=S1,S3", OUT / form)
    ok(status == 1 and 'sample2_key is "S2" in the file and "S3"' in err and "hint: Append" in err, f"{form}: samples that the file does not have", status, err)
    equal(grown.read_bytes() == before, True, f"{form}: the file stays as it is")
    older = OUT / f"older.{form}.arrow"  # of a program that knew no dictionary of genotypes
    run("vcf2arrow", "--no-split", "--genotypes=text", "-o", older, "--samples=S1,S2", OUT / form)
    status, out, err = run("vcf2arrow", "--no-split", "--append", older, "--samples=S1,S2", OUT / form)
    ok(status == 1 and '"sample1__GT" Utf8 in the file' in err and "need --genotypes=text" in err, f"{form}: genotypes do not fit to texts", err)
    equal(ipc.open_file(older).num_record_batches, 1, f"{form}: a file that they do not fit to stays as it is")
    status, out, err = run("vcf2arrow", "--no-split", "--genotypes=text", "--append", older, "--samples=S1,S2", OUT / form)
    equal(ipc.open_file(older).read_all().column("sample2__GT").to_pylist(), [missing(row[2]) for _ in range(2) for row in said], f"{form}: as text they do")
    lists = convert(OUT / form, "--no-split", "--genotypes=lists", "--ploidy=3").column("samples__GT").to_pylist()
    equal(lists, [[allele for text in row[:300] for allele in alleles_of(missing(text), 3)] for row in said], f"{form}: lists are, too")
    counts = convert(OUT / form, "--no-split", "--genotypes=dosage")
    equal([list(row) for row in zip(*(counts.column(f"sample{i + 1}__GT").to_pylist() for i in range(300)))],
          [[None if None in alleles_of(missing(text), 1) else sum(allele > 0 for allele in alleles_of(text, 1)) for text in row[:300]] for row in said], f"{form}: dosages are, too")
    status, out, err = run("vcf2arrow", "-f", "-o", OUT / "x.arrow", "--genotypes=lists", OUT / form)
    ok(status == 1 and "--ploidy" in err and (f"record 1 of" if form.endswith("bcf") else "line") in err, f"{form}: more alleles than lists", err)
texts = convert(plain, "--disable-numeric-conversion")
equal(convert(OUT / "binary.bcf", "--disable-numeric-conversion").column("info__DP").to_pylist(), texts.column("info__DP").to_pylist(), "numbers of BCF as texts")
equal(texts.schema.field("info__DP").type, pa.string(), "numbers as texts")
for form, index in (("blocks.vcf.gz", "-t"), ("binary.bcf", "-c")):
    bcftools("index", "-f", index, OUT / form)
    some = convert("-r", "chr1:1000-2000,chr2", OUT / form, "--no-samples", "--no-info")
    inside = [row for row in rows if (row["chrom"] == "chr1" and 1000 <= row["pos"] <= 2000) or row["chrom"] == "chr2"]
    equal([(row["chrom"], row["pos"], row["alt"]) for row in some.to_pylist()], [(row["chrom"], row["pos"], row["alt"]) for row in inside], f"regions of {form}")

# ---- A file for each chromosome ----
mixed = lines[9000:11000] + lines[:500] + [line.replace("chr2", "chr/2") for line in lines[11000:11500]]
again = write_vcf(OUT / "mixed.vcf", mixed)
for pieces in (("-s", "1k", "-n", 4), ()):
    parts = OUT / f"parts{len(pieces)}"
    status, out, err = run("vcf2arrow", "--partition-by=chrom", "-o", parts, again, OUT / "open.vcf", *pieces)
    ok(status == 0, "a file for each chromosome", status, out, err)
    found = {str(path.relative_to(parts)): ipc.open_file(str(path)).read_all() for path in sorted(parts.rglob("*.arrow"))}
    equal([name if "chr1" in name or "chr2" in name else name.split("/")[-1] for name in found], 
          ["part-00001.arrow", *(f"chrom=chr1/part-0000{i}.arrow" for i in (1, 2, 3)), "chrom=chr2/part-00001.arrow"], "folders")
    slash, *of_chr1, of_chr2 = found.values()
    runs = (mixed[:1000], mixed[1000:2000], mixed[2000:2500], mixed[2500:], lines[:51])
    for part, run_ in zip((of_chr1[0], of_chr2, of_chr1[1], slash, of_chr1[2]), runs):
        same(part, expected(run_), "rows of a run")
    ok(all(len(set(table["chrom"].to_pylist())) == 1 for table in found.values()), "each of one chromosome")
write_vcf(OUT / "runs.vcf", lines[9000:11000] + lines[:500])
bcftools("view", "-Ob", "-o", OUT / "mixed.bcf", OUT / "runs.vcf")
status, out, err = run("vcf2arrow", "--partition-by=chrom", "-o", OUT / "binary_parts", OUT / "mixed.bcf", "-s", "1k", "-n", 4)
for name, part in (("chr1/part-00001", lines[9000:10000]), ("chr2/part-00001", lines[10000:11000]), ("chr1/part-00002", lines[:500])):
    same(ipc.open_file(str(OUT / "binary_parts" / f"chrom={name}.arrow")).read_all(), expected(part), f"of BCF: {name}")
broken = write_vcf(OUT / "broken.vcf", mixed + [mixed[0].replace("\t29.5\t", "\tx\t", 1) if "\t29.5\t" in mixed[0] else mixed[0].rsplit("\t", 3)[0]])
status, out, err = run("vcf2arrow", "--partition-by=chrom", "-o", OUT / "broken", broken)
ok(status == 1 and f"line {HEADER.count(chr(10)) + 1 + len(mixed) + 1} of" in err, "an error names the line", err)
status, out, err = run("vcf2arrow", "--partition-by=pos", "-o", OUT / "broken", plain)
ok(status == 2 and "nothing but chrom" in err, "other columns", err)

# ---- A file for each group of samples ----
(OUT / "groups").write_text("NA1\teast/1\n日本\teast/1\r\n\nsample two\twest\n")
status, out, err = run("vcf2arrow", "--sample-groups", OUT / "groups", "-o", OUT / "grouped", plain, OUT / "open.vcf", "-v")
found = {str(path.relative_to(OUT / "grouped")): ipc.open_file(str(path)).read_all() for path in sorted((OUT / "grouped").rglob("*.arrow"))}
ok(status == 0 and "and 1 other files" in out, "groups of samples", status, out, err)
equal(list(found), ["group=east%2F1/part-00001.arrow", "group=west/part-00001.arrow"], "a file for each group")
for table, samples in zip(found.values(), ((0, 2), (1,))):
    every = rows + expected(lines[:51])
    equal([name for name in table.column_names if name.startswith("sample")], [f"sample{i + 1}__{key}" for i in range(len(samples)) for key in ("GT", "GQ", "PL")], "columns of the group's samples")
    for i, sample in enumerate(samples):
        for key in ("GT", "GQ", "PL"):
            equal(table.column(f"sample{i + 1}__{key}").to_pylist(), [row[f"sample{sample + 1}__{key}"] for row in every], f"{key} of {SAMPLES[sample]}")
    equal([table.schema.metadata[f"sample{i + 1}_key".encode()].decode() for i in range(len(samples))], [SAMPLES[sample] for sample in samples], "names of the group's samples")
status, out, err = run("vcf2arrow", "--sample-groups", OUT / "groups", "--partition-by=chrom", "-o", OUT / "both", plain)
equal((status, sorted(str(path.relative_to(OUT / "both")) for path in (OUT / "both").rglob("*.arrow"))),
      (0, [f"group={group}/chrom=chr{i}/part-00001.arrow" for group in ("east%2F1", "west") for i in (1, 2)]), "groups and chromosomes")
for text, code, told in (("NA1\teast\nNA1 west\n", 1, "line 2"), ("", 1, "no groups"), ("nobody\teast\n", 1, '"nobody"'), ("NA1\teast\nnobody\twest\n", 1, '"nobody" in file')):
    (OUT / "wrong").write_text(text)
    status, out, err = run("vcf2arrow", "--sample-groups", OUT / "wrong", "-o", OUT / "none", plain)
    ok(status == code and told in err and not list((OUT / "none").rglob("*.arrow")), f"groups: {told}", status, err)
write_vcf(OUT / "others.vcf", lines[:9], samples=["NA1", "another", "日本"])
status, out, err = run("vcf2arrow", "--sample-groups", OUT / "groups", "-o", OUT / "none", plain, OUT / "others.vcf")
ok(status == 1 and '"sample two" in file' in err and "others.vcf" in err and not list((OUT / "none").rglob("*.arrow")), "groups: a second file without a group's sample", status, err)
status, out, err = run("vcf2arrow", "--sample-groups", OUT / "groups", plain)
ok(status == 2 and "folder" in err, "groups need a folder", status, err)

# ---- In PostgreSQL ----
DB = fresh_database("strom_vcf")
same(convert(OUT / "blocks.vcf.gz", name="server"), rows, "for the server")
(OUT / "server.arrow").chmod(0o644)
query(f"IMPORT FOREIGN SCHEMA v FROM SERVER arrow_fdw INTO public OPTIONS (file '{OUT}/server.arrow')", DB)
counted = query("SELECT \"sample1__GT\", count(*) FROM v GROUP BY 1 ORDER BY \"sample1__GT\" COLLATE \"C\"", DB).splitlines()
tally = collections.Counter(row["sample1__GT"] for row in rows)
equal(counted, [f"{genotype}|{tally[genotype]}" for genotype in sorted(key for key in tally if key is not None)] + ([f"|{tally[None]}"] if tally[None] else []), "genotypes in SQL")
equal(query("SELECT count(*), sum(\"info__DP\"), count(\"sample1__GT\") FROM v WHERE chrom = 'chr1' AND pos BETWEEN 100 AND 9000", DB),
      "|".join(str(f([row for row in rows if row["chrom"] == "chr1" and 100 <= row["pos"] <= 9000])) for f in
               (len, lambda some: sum(row["info__DP"] or 0 for row in some), lambda some: sum(row["sample1__GT"] is not None for row in some))), "a query")
alike = [f"chr{chrom}\t{i}\t{'x' * 60}\tA\tC\t.\tPASS\tDP=1\tGT\t0|0\t0|1\t1|1" for chrom in (1, 2) for i in range(1, 30001)]
convert(write_vcf(OUT / "alike.vcf", alike), "-s", "1k", name="batches")
(OUT / "batches.arrow").chmod(0o644)
query(f"IMPORT FOREIGN SCHEMA b FROM SERVER arrow_fdw INTO public OPTIONS (file '{OUT}/batches.arrow')", DB)
region = "FROM b WHERE chrom = 'chr2' AND pos BETWEEN 100 AND 300"
equal(query(f"SELECT count(*) {region}", DB), "201", "a region")
plan = query(f"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) SELECT count(*) {region}", DB)
own = ipc.open_file(str(OUT / "batches.arrow"))
count = own.num_record_batches
equal((re.search(r"loaded: (\d+), skipped: (\d+)", plan).groups(), count > 4), (("1", str(count - 1)), True), "a query for a region reads its record batch only")
status, out, err = run("vcf2arrow", "--schema=variants", plain)
ok(status == 0 and 'CREATE TABLE' in out and "info__AF" in out, "the columns as CREATE TABLE", out, err)

# ---- What does not fit ----
def fails(name, code, *texts, arguments=(), path=None):
    before = OUT / "bad.arrow"
    before.unlink(missing_ok=True)
    status, out, err = run("vcf2arrow", "-o", before, *arguments, path)
    ok(status == code and all(text in err for text in texts) and not before.exists(), name, status, err)


good = "chr1\t5\t.\tA\tG\t.\tPASS\tDP=1\tGT\t0|0\t0|1\t1|1"


def bad(name, line, *texts, arguments=(), before=3000):
    fails(name, 1, *texts, f"line {HEADER.count(chr(10)) + 1 + before + 1} of", arguments=arguments, path=write_vcf(OUT / "bad.vcf", [good] * before + [line] + [good] * 5))


bad("a wrong number", good.replace("DP=1", "DP=x1"), '"x1" is no number', '"DP"', "--unconvertible-numeric-as-null")
bad("a number that is too large", good.replace("DP=1", "DP=3000000000"), '"3000000000"')
bad("an unknown field", good.replace("DP=1", "ZZ=1"), '"ZZ"')
bad("an unknown field of samples", good.replace("GT\t", "GT:ZZ\t"), '"ZZ"')
bad("a wrong position", good.replace("\t5\t", "\tx\t"), 'POS "x"')
bad("a wrong quality", good.replace("\t.\tPASS", "\tbad\tPASS"), 'QUAL "bad"')
bad("too few samples", good.rsplit("\t", 1)[0], "fewer samples")
bad("too many samples", good + "\t0|0", "more samples")
bad("too few columns", "chr1\t5\t.", "fewer than eight")
bad("a wrong number in a later piece", good.replace("DP=1", "DP=x1"), '"x1"', arguments=("-s", "1k", "-n", "4"), before=60000)
table = convert(write_vcf(OUT / "odd.vcf", [good.replace("DP=1", "DP=x;ZZ=5;;AF=")]), "--unconvertible-numeric-as-null", "--skip-undeclared")
equal(table.to_pylist()[0]["info__DP"], None, "a wrong number as NULL")
(OUT / "latin.vcf").write_bytes(plain.read_bytes().replace("ä".encode(), b"\xe4"))
fails("text that is not UTF-8", 1, "UTF-8", path=OUT / "latin.vcf")
for name, old, new, text in (("no VCF", "##fileformat", "##filefoo", "line 1"), ("version 3", "VCFv4.3", "VCFv3.3", "line 1"), ("a wrong number of values", "Number=1", "Number=x", "line 6"),
                             ("a wrong type", "Type=Integer", "Type=Int", "line 6"), ("quotes that do not end", 'Description="Depth"', 'Description="Depth', "line 6"),
                             ("no type", ",Type=Integer", "", "line 6")):
    fails(name, 1, text, path=write_vcf(OUT / "bad.vcf", [good], header=HEADER.replace(old, new, 1)))
(OUT / "bad.vcf").write_text(HEADER)
fails("no line of columns", 1, "#CHROM", path=OUT / "bad.vcf")
(OUT / "bad.vcf").write_bytes(b"")
fails("an empty file", 1, path=OUT / "bad.vcf")
fails("a file that is not there", 1, "No such file", path=OUT / "nothing.vcf")
fails("a sample that is not there", 1, '"nobody"', arguments=("--samples=nobody",), path=plain)
fails("a field that is not there", 1, '"NOPE"', arguments=("--info=NOPE",), path=plain)
fails("regions without an index", 1, "no index", "tabix", arguments=("-r", "chr1"), path=OUT / "gzip.vcf.gz")
fails("a region that is none", 1, '"chr9"', arguments=("-r", "chr9"), path=OUT / "blocks.vcf.gz")
fails("other fields", 1, "other fields", arguments=(plain,), path=write_vcf(OUT / "bad.vcf", [], header=HEADER.replace("ID=DP", "ID=DPX")))
rng = random.Random(7)
for kind in range(120):
    form = "blocks.vcf.gz" if kind % 4 < 2 else "binary.bcf"
    cut = bytearray((OUT / form).read_bytes())
    if kind % 2:
        cut = cut[:rng.randrange(1, len(cut) - 30)]
    else:
        cut[rng.randrange(20, len(cut) - 30)] ^= 1 << rng.randrange(8)
    (OUT / f"damaged.{form}").write_bytes(cut)
    status, out, err = run("vcf2arrow", "-f", "-o", OUT / "damaged.arrow", OUT / f"damaged.{form}")
    intact = status == 0 and len(ipc.open_file(str(OUT / "damaged.arrow")).read_all()) == len(rows)
    ok((status == 1 and err.startswith("vcf2arrow: error:")) or intact, f"damage {kind}", status, err)
# Bytes of records, without a checksum that would tell.
bare = (OUT / "bare.bcf").read_bytes()
for kind in range(60):
    cut = bytearray(bare)
    for _ in range(rng.randint(1, 5)):
        cut[rng.randrange(len(bare) // 3, len(bare))] = rng.randrange(256)
    (OUT / "damaged.raw").write_bytes(cut)
    subprocess.run(["bgzip", "-kf", OUT / "damaged.raw"], check=True)
    status, out, err = run("vcf2arrow", "-f", "-o", OUT / "damaged.arrow", OUT / "damaged.raw.gz")
    ok(status in (0, 1) and (status == 0 or err.startswith("vcf2arrow: error:")), f"wrong bytes {kind}", status, err)
for options, told in ((("--ploidy=3",), "--genotypes=lists"), (("--ploidy=2", "--genotypes=dosage"), "--genotypes=lists"), (("--no-samples", "--format=GT"), "--no-samples"),
                      (("--no-samples", "--genotypes=text"), "--no-samples"), (("--no-samples", "--genotypes=lists"), "--genotypes")):
    fails(f"options that would do nothing: {options}", 2, told, arguments=options, path=plain)
status, out, err = run("vcf2arrow", "--inf", "x")
equal(status, 2, "an unknown option")
done()
