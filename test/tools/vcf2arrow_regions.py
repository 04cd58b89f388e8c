#!/usr/bin/env python3
"""vcf2arrow's regions of files of many blocks against bcftools, with one thread and several, in parts that end anywhere; an index that
belongs to another file."""
import random
import shutil
import subprocess

import pyarrow.ipc as ipc

from checks import done, equal, folder, ok, run

OUT = folder("vcf2arrow_regions")
HEADER = """##fileformat=VCFv4.3
##contig=<ID=chr1>
##contig=<ID=chr2>
##contig=<ID=chr2_alt>
##contig=<ID=chr3>
##INFO=<ID=END,Number=1,Type=Integer,Description="End">
##INFO=<ID=NOTE,Number=1,Type=String,Description="Something long">
#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO
"""


def make_file(path, seed, counts, long_lines=False):
    rng = random.Random(seed)
    number = 0
    with path.with_suffix("").open("w") as out:
        out.write(HEADER)
        for chromosome, count in counts.items():
            position = 0
            for _ in range(count):
                position += rng.choice((0, 1, 3, 40, 40, 40, 2000))
                info = [f"NOTE={rng.randbytes(rng.choice((1, 20, 60))).hex()}"]
                if long_lines and rng.random() < .002:
                    info[0] = "NOTE=" + "x" * rng.choice((70_000, 300_000))
                if rng.random() < .02:
                    info.insert(rng.randrange(2), f"END={max(position, 1) + rng.choice((0, 10, 5000, 100_000))}")
                ref = rng.choice(("A", "A", "ACGT", "A" * 200))
                out.write(f"{chromosome}\t{max(position, 1)}\tv{number}\t{ref}\tG\t.\tPASS\t{';'.join(info)}\n")
                number += 1
    subprocess.run(["bcftools", "view", "--no-version", "-Oz", "-o", path, path.with_suffix("")], check=True)
    subprocess.run(["bcftools", "index", "-ft", path], check=True)
    subprocess.run(["bcftools", "view", "--no-version", "-Ob", "-o", path.with_name(path.name[:-7] + ".bcf"), path], check=True)
    subprocess.run(["bcftools", "index", "-f", path.with_name(path.name[:-7] + ".bcf")], check=True)
    return rng


def found_by_bcftools(path, regions):
    command = ["bcftools", "query", "-r", ",".join(regions), "-f", "%CHROM\t%POS\t%ID\t%NOTE\n", path]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return [tuple(line.split("\t")) for line in lines]


def found(path, regions, *options):
    status, out, err = run("vcf2arrow", "-f", "-o", OUT / "out.arrow", "--no-info", "-r", ",".join(regions), *options, path)
    ok(status == 0, f"regions {regions}", status, err)
    table = ipc.open_file(str(OUT / "out.arrow")).read_all()
    return list(zip(table["chrom"].to_pylist(), map(str, table["pos"].to_pylist()), table["id"].to_pylist()))


files = {"many": {"chr1": 30_000, "chr2": 20_000, "chr2_alt": 10, "chr3": 9_000}, "few": {"chr1": 3, "chr3": 1}}
for name, counts in files.items():
    path = OUT / f"{name}.vcf.gz"
    rng = make_file(path, 1, counts, long_lines=name == "many")
    asked = [["chr1"], ["chr3"], ["chr3", "chr1:100-2000"], ["chr1:1-1"], ["chr1:999999999"], ["chr1:5000-5000", "chr1:4000-6000"], ["chr1:1-100", "chr1:50-200"],
             ["chr1:5000-9000", "chr3:1-700", "chr1:1000-2000", "chr1:1500-1600", "chr1:2001-2500"], ["chr1:3000"], ["chr1:100000-", "chr1:200000-300000"]]
    pieces = sorted(rng.sample(range(1, 700_000), 60))  # which variants of some 100,000 bases reach into
    asked.append([f"chr1:{pieces[i]}-{pieces[i + 1]}" for i in range(0, 60, 2)])
    asked.append([f"chr1:{begin}-{begin + rng.choice((100, 20_000))}" for begin in rng.sample(pieces, 30)])
    for _ in range(10):
        begin = rng.randrange(1, 5_000_000)
        asked.append([f"{rng.choice(list(counts))}:{begin}-{begin + rng.choice((0, 100, 30_000, 1_000_000, 9_000_000))}"])
    for regions in asked:
        wanted = [row[:3] for row in found_by_bcftools(path, regions)]
        for options in (("-n", 1), ("-n", 3), ("-n", 4, "-s", "1k")):
            equal(found(path, regions, *options), wanted, f"{name}: {regions} with {options}")
            equal(found(OUT / f"{name}.bcf", regions, *options), wanted, f"{name}: {regions} of BCF with {options}")

# A csi index does the same.
path = OUT / "many.vcf.gz"
path.with_suffix(".gz.tbi").unlink()
subprocess.run(["bcftools", "index", "-fc", path], check=True)
for regions in asked[:6]:
    equal(found(path, regions), [row[:3] for row in found_by_bcftools(path, regions)], f"{regions} by a csi index")

# Chromosomes that the header has and no variant is of.
for form in ("few.vcf.gz", "few.bcf"):
    equal(found(OUT / form, ["chr2"]), [], f"{form}: a region without variants")
    equal(found(OUT / form, ["chr2:1-100", "chr3", "chr2_alt"]), [row[:3] for row in found_by_bcftools(OUT / form, ["chr3"])], f"{form}: regions of which one has variants")
    for region in ("chr9", "chr1:x", "chr1:9-5", "chr1:1-2:3"):
        status, out, err = run("vcf2arrow", "-f", "-o", OUT / "other.arrow", "-r", region, OUT / form)
        ok(status == 1 and f'region "{region}" is none of' in err, f"{form}: {region}", status, err)

# An error names a place that the regions have.
text = (OUT / "many.vcf").read_text().splitlines()
wrong = next(i for i, line in enumerate(text) if line.startswith("chr2\t") and int(line.split("\t")[1]) > 100_000)
columns = text[wrong].split("\t")
columns[5] = "bad"
text[wrong] = "\t".join(columns)
(OUT / "wrong.vcf").write_text("\n".join(text) + "\n")
subprocess.run(["bgzip", "-kf", OUT / "wrong.vcf"], check=True)
subprocess.run(["tabix", "-fp", "vcf", OUT / "wrong.vcf.gz"], check=True)
begin = int(columns[1]) - 50_000
place = len(found_by_bcftools(OUT / "many.vcf.gz", [f"chr2:{begin}-{columns[1]}"]))
place -= len([line for line in text[wrong + 1:] if line.split("\t")[:2] == columns[:2]])  # others at that position
for options in (("-n", 1), ("-n", 4, "-s", "1k")):
    status, out, err = run("vcf2arrow", "-f", "-o", OUT / "other.arrow", "-r", f"chr2:{begin}-{int(columns[1]) + 90_000}", *options, OUT / "wrong.vcf.gz")
    ok(status == 1 and f'QUAL "bad" is no number in line {place} of the regions of' in err and f", chr2:{columns[1]}" in err, f"a wrong line of regions, {options}", status, err, place, columns[:5])

# The INFO of a variant that reaches into the region comes with it.
status, out, err = run("vcf2arrow", "-f", "-o", OUT / "out.arrow", "-r", "chr2:2000000-2100000", path)
table = ipc.open_file(str(OUT / "out.arrow")).read_all()
equal(table["info__NOTE"].to_pylist(),
      [row[3] for row in found_by_bcftools(path, ["chr2:2000000-2100000"])], "INFO of a region")

# Where variants end, so that a query finds those that begin before a region.
for form in ("many.vcf.gz", "many.bcf"):
    status, out, err = run("vcf2arrow", "-f", "-o", OUT / "ends.arrow", "--no-info", "--end-column", OUT / form)
    table = ipc.open_file(str(OUT / "ends.arrow")).read_all()
    command = ["bcftools", "query", "-f", "%END\n", OUT / form]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    equal(table["end_pos"].to_pylist(), [int(end) for end in said], f"ends of {form} are bcftools'")
    rows = list(zip(*(table[name].to_pylist() for name in ("chrom", "pos", "id", "end_pos"))))
    for begin, end in ((2000000, 2100000), (50000, 50000), (1, 10**9)):
        inside = [(chrom, str(pos), id) for chrom, pos, id, last in rows if chrom == "chr2" and pos <= end and last >= begin]
        wanted = [row[:3] for row in found_by_bcftools(OUT / form, [f"chr2:{begin}-{end}"])]
        equal(inside, wanted, f"rows of {form} at chr2:{begin}-{end} by their ends")
field = table.schema.field("end_pos")
ok(b"min_values" in field.metadata and b"max_values" in field.metadata, "statistics of end_pos", field.metadata)

# An index of a longer file, and of one with other blocks.
shutil.copy(OUT / "few.vcf.gz", OUT / "other.vcf.gz")
shutil.copy(OUT / "many.vcf.gz.csi", OUT / "other.vcf.gz.csi")
status, out, err = run("vcf2arrow", "-f", "-o", OUT / "other.arrow", "-r", "chr3", OUT / "other.vcf.gz")
ok(status == 1 and "other.vcf.gz" in err and not (OUT / "other.arrow").exists(), "the index of another file", status, err)
whole = path.read_bytes()
(OUT / "other.vcf.gz").write_bytes(whole[: len(whole) // 2])
status, out, err = run("vcf2arrow", "-f", "-o", OUT / "other.arrow", "-r", "chr1", OUT / "other.vcf.gz")
ok(status == 1 and "other.vcf.gz" in err and not (OUT / "other.arrow").exists(), "a file that is cut off", status, err)
shutil.copy(OUT / "few.bcf", OUT / "other.bcf")
shutil.copy(OUT / "many.bcf.csi", OUT / "other.bcf.csi")
status, out, err = run("vcf2arrow", "-f", "-o", OUT / "other.arrow", "-r", "chr3", OUT / "other.bcf")
ok(status == 1 and "other.bcf" in err and not (OUT / "other.arrow").exists(), "the index of another BCF", status, err)
whole = (OUT / "many.bcf").read_bytes()
(OUT / "other.bcf").write_bytes(whole[: len(whole) // 2])
status, out, err = run("vcf2arrow", "-f", "-o", OUT / "other.arrow", "-r", "chr1,chr2,chr3", "-n", "3", OUT / "other.bcf")
ok(status == 1 and "other.bcf" in err and not (OUT / "other.arrow").exists(), "BCF that is cut off", status, err)
status, out, err = run("vcf2arrow", "-f", "-o", OUT / "other.arrow", "-r", "nowhere", OUT / "many.bcf")
ok(status == 1 and "nowhere" in err and not (OUT / "other.arrow").exists(), "a chromosome that BCF has not", status, err)
done()
