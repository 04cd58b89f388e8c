#!/usr/bin/env python3
"""vcf2arrow and what is particular to versions of VCF: headers and lines as 4.0, 4.1 and 4.4 have them, against bcftools."""
import subprocess

import pyarrow as pa
import pyarrow.ipc as ipc

from checks import done, equal, folder, ok, run

OUT = folder("vcf2arrow_versions")
COLUMNS = "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\tS1\tS2\n"
LIST = pa.list_(pa.field("item", pa.int32()))
FLOATS = pa.list_(pa.field("item", pa.float32()))
TEXTS = pa.list_(pa.field("item", pa.string()))
LABEL = pa.dictionary(pa.int16(), pa.string())


def convert(source, *options):
    status, out, err = run("vcf2arrow", "-f", "-o", OUT / "out.arrow", *options, source)
    ok(status == 0, f"{source.name} {options}", status, err)
    return ipc.open_file(str(OUT / "out.arrow")).read_all()


def check(version, definitions, lines, types, values):
    """`types` of whole lines' columns; `values`: {column: its values}."""
    path = OUT / f"{version}.vcf"
    path.write_text(f"##fileformat=VCFv{version}\n{definitions}{COLUMNS}" + "".join(line + "\n" for line in lines))
    sources = [path]
    known = OUT / f"known.{version}.vcf"  # BCF needs contigs, and bcftools reads no genotypes that are declared as integers
    text = path.read_text().replace("ID=GT,Number=1,Type=Integer", "ID=GT,Number=1,Type=String")
    known.write_text(text if "##contig" in text else text.replace("#CHROM", "##contig=<ID=20>\n#CHROM", 1))
    binary = path.with_suffix(".bcf")
    subprocess.run(["bcftools", "view", "--no-version", "-Ob", "-o", binary, known], check=True, capture_output=True)
    sources.append(binary)
    query = ["bcftools", "query", "-f", "%CHROM %POS %REF %ALT[ %GT]\n", known]
    said = subprocess.run(query, check=True, capture_output=True, text=True).stdout.splitlines()
    for source in sources:
        table = convert(source, "--no-split")
        equal({name: table.schema.field(name).type for name in types}, types, f"{source.name}: types")
        for name, wanted in values.items():
            equal(table[name].to_pylist(), wanted, f"{source.name}: {name}")
        rows = [" ".join(map(str, row)) for row in zip(*(table[name].to_pylist() for name in ("chrom", "pos", "ref", "alt", "sample1__GT", "sample2__GT")))]
        equal([row.replace("None", ".") for row in rows], said, f"{source.name}: rows are bcftools'")
    equal(table.schema.metadata[b"fileformat"].decode() in (f"VCFv{version}", "VCFv4.2"), True, f"{version}: the version")
    return path


# Genotypes declared as integers, -1 for an open number, no contigs, keys of INFO that have no value but a type.
path = check("4.0", """##fileDate=20090805
##source=myImputationProgramV3.1
##reference=1000GenomesPilot-NCBI36
##phasing=partial
##INFO=<ID=NS,Number=1,Type=Integer,Description="Number of Samples With Data">
##INFO=<ID=AF,Number=.,Type=Float,Description="Allele Frequency">
##INFO=<ID=CL,Number=-1,Type=Integer,Description="Any number of them">
##INFO=<ID=DB,Number=0,Type=Flag,Description="dbSNP membership, build 129">
##INFO=<ID=H2,Number=0,Type=String,Description="HapMap2 membership">
##INFO=<ID=H3,Number=0,Type=Integer,Description="HapMap3 membership">
##FILTER=<ID=s50,Description="Less than 50% of samples have data">
##FORMAT=<ID=GT,Number=1,Type=Integer,Description="Genotype">
##FORMAT=<ID=HQ,Number=2,Type=Integer,Description="Haplotype Quality">
##FORMAT=<ID=GL,Number=-1,Type=Float,Description="Likelihoods">
""", ["20\t14370\trs6054257\tG\tA\t29\tPASS\tNS=3;AF=0.5;DB;H2\tGT:HQ:GL\t0|0:51,51:-1.5,-2,0\t1|0:51,51:.",
      "20\t17330\t.\tT\tA\t3\ts50\tNS=3;AF=0.25,0.5;CL=1,2,3;H3\tGT:HQ\t0|0:58,50\t./.:.,.",
      "20\t1110696\trs6040355\tA\tG,T\t67\tPASS\tH2;H3\tGT\t1|2\t2"],
             {"info__NS": pa.int32(), "info__AF": FLOATS, "info__CL": LIST, "info__DB": pa.bool_(), "info__H2": pa.bool_(), "info__H3": pa.bool_(), "sample1__GT": LABEL,
              "sample1__HQ": LIST, "sample1__GL": FLOATS},
             {"info__CL": [None, [1, 2, 3], None], "info__H2": [True, False, True], "info__H3": [False, True, True], "info__DB": [True, False, False],
              "sample1__GL": [[-1.5, -2, 0], None, None], "sample1__HQ": [[51, 51], [58, 50], None]})
equal(convert(path, "--no-split", "--genotypes=dosage")["sample2__GT"].to_pylist(), [1, None, 1], "4.0: dosages")

# Contigs, one value for each genotype or allele, symbolic alleles and breakends, definitions with other attributes.
check("4.1", """##contig=<ID=20,length=62435964,assembly=B36,md5=f126cdf8a6e0c7f379d618ff66beb2da,species="Homo sapiens",taxonomy=x>
##ALT=<ID=DEL,Description="Deletion">
##SAMPLE=<ID=S1,Genomes=G1_ID;G2_ID,Mixture=.1;.9,Description="Germ line">
##PEDIGREE=<Name_0=S1,Name_1=S2>
##pedigreeDB=<http://example.org/pedigree>
##INFO=<ID=AF,Number=A,Type=Float,Description="Allele Frequency">
##INFO=<ID=END,Number=1,Type=Integer,Description="End">
##INFO=<ID=SVTYPE,Number=1,Type=String,Description="Type of structural variant">
##FORMAT=<ID=GT,Number=1,Type=String,Description="Genotype">
##FORMAT=<ID=PL,Number=G,Type=Integer,Description="Likelihoods">
""", ["20\t100\t.\tG\tA,T\t29\tPASS\tAF=0.5,0.25\tGT:PL\t0/1:1,2,3,4,5,6\t2/2",
      "20\t200\t.\tG\t<DEL>\t.\t.\tEND=300;SVTYPE=DEL\tGT\t0/1\t.",
      "20\t400\tbnd\tG\tG]17:198982]\t6\tPASS\tSVTYPE=BND\tGT\t0\t1"],
      {"info__AF": FLOATS, "sample1__PL": LIST, "info__SVTYPE": pa.string()},
      {"info__AF": [[0.5, 0.25], None, None], "sample1__PL": [[1, 2, 3, 4, 5, 6], None, None], "info__END": [None, 300, None]})
equal(convert(OUT / "4.1.vcf", "--no-split", "--end-column")["end_pos"].to_pylist(), [100, 300, 400], "4.1: ends")

# Numbers that depend on other fields, meta-information about samples, sources of definitions, escaped texts.
check("4.4", """##contig=<ID=20,length=62435964>
##META=<ID=Assay,Type=String,Number=.,Values=[WholeGenome, Exome]>
##SAMPLE=<ID=S1,Assay=WholeGenome,Ethnicity=AFR,Description="Patient, \\"germ line\\"">
##ALT=<ID=CNV:TR,Description="Tandem repeat">
##INFO=<ID=SVLEN,Number=A,Type=Integer,Description="Length">
##INFO=<ID=SVCLAIM,Number=A,Type=String,Description="Claim made by the structural variant call">
##INFO=<ID=RN,Number=A,Type=Integer,Description="Total number of repeat sequences in this allele">
##INFO=<ID=RUS,Number=.,Type=String,Description="Repeat unit sequence",Source="x",Version="128">
##INFO=<ID=NOTE,Number=1,Type=String,Description="With %3B and others">
##FORMAT=<ID=GT,Number=1,Type=String,Description="Genotype">
##FORMAT=<ID=PS,Number=1,Type=Integer,Description="Phase set">
##FORMAT=<ID=PSL,Number=.,Type=String,Description="Phase set list">
##FORMAT=<ID=CN,Number=1,Type=Float,Description="Copy number">
""", ["20\t100\t.\tCAGCAG\t<CNV:TR>,C\t29\tPASS\tSVLEN=6,.;SVCLAIM=D,J;RN=1,2;RUS=CAG,CA\tGT:PS:CN\t0|1:100:2.5\t1|2",
      "20\t200\t.\tG\tA\t.\t.\tNOTE=a%3Bb\tGT:PSL\t0|1:x,.\t."],
      {"info__SVLEN": LIST, "info__SVCLAIM": TEXTS, "sample1__CN": pa.float32(), "sample1__PSL": TEXTS},
      {"info__SVLEN": [[6, None], None], "info__SVCLAIM": [["D", "J"], None], "info__NOTE": [None, "a%3Bb"], "sample1__CN": [2.5, None], "sample1__PSL": [None, ["x", None]]})
open_numbers = OUT / "open.vcf"
open_numbers.write_text('##fileformat=VCFv4.4\n##FORMAT=<ID=GT,Number=1,Type=String,Description="">\n##FORMAT=<ID=PSQ,Number=P,Type=Integer,Description="">\n' + COLUMNS +
                        "20\t1\t.\tA\tC\t.\t.\t.\tGT:PSQ\t0|1:3,4\t0|1|1:1,2,3\n")
equal(convert(open_numbers, "--no-split")["sample2__PSQ"].to_pylist(), [[1, 2, 3]], "4.4: a value for each allele of the genotype")
done()
