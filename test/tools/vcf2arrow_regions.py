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
    """One region after the other, as vcf2arrow has them."""
    rows = []
    for region in regions:
        command = ["bcftools", "query", "-r", region, "-f", "%CHROM\t%POS\t%ID\t%NOTE\n", path]
        lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
        rows += [tuple(line.split("\t")) for line in lines]
    return rows


def found(path, regions, *options):
    status, out, err = run("vcf2arrow", "-f", "-o", OUT / "out.arrow", "--no-info", "-r", ",".join(regions), *options, path)
    ok(status == 0, f"regions {regions}", status, err)
    table = ipc.open_file(str(OUT / "out.arrow")).read_all()
    return list(zip(table["chrom"].to_pylist(), map(str, table["pos"].to_pylist()), table["id"].to_pylist()))


files = {"many": {"chr1": 30_000, "chr2": 20_000, "chr2_alt": 10, "chr3": 9_000}, "few": {"chr1": 3, "chr3": 1}}
for name, counts in files.items():
    path = OUT / f"{name}.vcf.gz"
    rng = make_file(path, 1, counts, long_lines=name == "many")
    asked = [["chr1"], ["chr3"], ["chr3", "chr1:100-2000"], ["chr1:1-1"], ["chr1:999999999"], ["chr1:5000-5000", "chr1:4000-6000"]]
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
