-- Attributes of the texts of VCF files.
SELECT info, pgstrom.vcf_info_getattr(info, 'AF') AS af, pgstrom.vcf_info_getattr(info, 'DB') AS db, pgstrom.vcf_info_getattr(info, 'F') AS f
  FROM (VALUES ('DP=5;AF=0.5;DB'), ('AF=0.1,0.2'), ('AF='), ('DB;AF=a=b'), ('.'), (''), (';;AF=1;'), (NULL)) v (info);
SELECT cell, pgstrom.vcf_variant_getattr(cell, 'DP') AS dp, pgstrom.vcf_variant_getattr(cell, 'GT') AS gt
  FROM (VALUES ('GT=0/1:DP=5'), ('GT=0|1'), ('DP=:GT=./.'), ('')) v (cell);
SELECT format, cell, pgstrom.vcf_variant_getattr(format, cell, 'DP') AS dp, pgstrom.vcf_variant_getattr(format, cell, 'GT') AS gt
  FROM (VALUES ('GT:DP', '0/1:5'), ('GT:AD:DP', '0/1'), ('GT:AD:DP', '0/1:1,2:7'), ('DP', '9'), ('GT:DP', ''), ('', '')) v (format, cell);
SELECT pgstrom.vcf_info_getattr('ä=日本;b=c', 'ä'), pgstrom.vcf_info_getattr(NULL, 'a') IS NULL, pgstrom.vcf_info_getattr('a=b', NULL) IS NULL;
