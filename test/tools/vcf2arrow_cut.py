#!/usr/bin/env python3
"""vcf2arrow and files of bgzip that end too early: cut at the end of each block, where all that is left is well formed."""
import gzip
import random
import struct
import subprocess

import pyarrow.ipc as ipc

from checks import done, equal, folder, ok, run

OUT = folder("vcf2arrow_cut")
HEADER = """##fileformat=VCFv4.3
##contig=<ID=chr1>
##INFO=<ID=NOTE,Number=1,Type=String,Description="Something long">
##FORMAT=<ID=GT,Number=1,Type=String,Description="Genotype">
#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\tA
"""
COUNT = 3000
rng = random.Random(1)
lines = [f"chr1\t{i + 1}\t.\tA\tC\t.\tPASS\tNOTE={rng.randbytes(40).hex()}\tGT\t0|1" for i in range(COUNT)]
text = (HEADER + "\n".join(lines) + "\n").encode()
(OUT / "whole.vcf").write_bytes(text)
subprocess.run(["bcftools", "view", "-Oz", "-o", OUT / "whole.vcf.gz", OUT / "whole.vcf"], check=True)
subprocess.run(["bcftools", "view", "-Ob", "-o", OUT / "whole.bcf", OUT / "whole.vcf"], check=True)


def block_ends(data):
    ends = [0]
    while ends[-1] < len(data):
        ends.append(ends[-1] + struct.unpack_from("<H", data, ends[-1] + 16)[0] + 1)
    return ends[1:]


def count_of(path):
    return ipc.open_file(str(path)).read_all().num_rows


def convert(source, *arguments, **options):
    target = OUT / "out.arrow"
    target.unlink(missing_ok=True)
    status, out, err = run("vcf2arrow", "-o", target, *arguments, source, binary=True, **options)
    return status, err, target


for form in ("whole.vcf.gz", "whole.bcf"):
    whole = (OUT / form).read_bytes()
    ends = block_ends(whole)
    ok(len(ends) > 4, f"{form} has several blocks", ends)
    for end in ends:
        cut = OUT / f"cut.{form}"
        cut.write_bytes(whole[:end])
        for threads in (1, 3):
            by_pipe = convert("-", "-n", threads, input=cut.read_bytes())
            for how, (status, err, target) in (("a file", convert(cut, "-n", threads)), ("a pipe", by_pipe)):
                name = f"{form} as {how} up to byte {end} of {len(whole)}, {threads} threads"
                if end == len(whole):
                    ok(status == 0 and count_of(target) == COUNT, name, status, err)
                else:
                    ok(status == 1 and "cut off" in err and not target.exists(), name, status, err)
    # The index of the cut file knows nothing of the rows that are lost.
    cut.write_bytes(whole[:ends[-2]])
    subprocess.run(["bcftools", "index", "-f", cut], capture_output=True)
    status, err, target = convert(cut, "-r", "chr1:1-10")
    ok(status == 1 and "cut off" in err and "again" in err and not target.exists(), f"{form}: regions of a cut file", status, err)

# Other forms have no such block.
(OUT / "plain.vcf.gz").write_bytes(gzip.compress(text))
subprocess.run(["bcftools", "view", "-Ou", "-o", OUT / "bare.bcf", OUT / "whole.vcf"], check=True)
for form in ("plain.vcf.gz", "bare.bcf", "whole.vcf"):
    for status, err, target in (convert(OUT / form), convert("-", input=(OUT / form).read_bytes())):
        equal((status, count_of(target)), (0, COUNT), f"{form} needs no last block: {err}")
done()
