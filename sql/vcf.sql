-- Attributes of the texts of VCF files.
CREATE FUNCTION vcf_info_getattr(info text, key text) RETURNS text
AS 'MODULE_PATHNAME', 'strom_vcf_info_getattr'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;

-- argument info: a value of the column INFO
-- argument key: the key
-- example: SELECT pgstrom.vcf_info_getattr('NS=3;DP=14;DB', 'DP');
COMMENT ON FUNCTION vcf_info_getattr(text, text) IS 'value of a key of INFO: KEY=VALUE;KEY=VALUE. Empty for a flag that is there, NULL for a key that is not';

CREATE FUNCTION vcf_variant_getattr(cell text, key text) RETURNS text
AS 'MODULE_PATHNAME', 'strom_vcf_variant_getattr'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;

-- argument cell: a sample's cell
-- argument key: the key
-- example: SELECT pgstrom.vcf_variant_getattr('GT=0|1:DP=8', 'DP');
COMMENT ON FUNCTION vcf_variant_getattr(text, text) IS 'value of a key of a sample''s cell with keys: KEY=VALUE:KEY=VALUE';

CREATE FUNCTION vcf_variant_getattr(format text, cell text, key text) RETURNS text
AS 'MODULE_PATHNAME', 'strom_vcf_cell_getattr'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;

-- argument format: a value of the column FORMAT
-- argument cell: a sample's cell
-- argument key: the key
-- example: SELECT pgstrom.vcf_variant_getattr('GT:DP', '0|1:8', 'DP');
COMMENT ON FUNCTION vcf_variant_getattr(text, text, text) IS 'value of a key of a sample''s cell, by the keys that FORMAT has';
