-- Attributes of the texts of VCF files.
CREATE FUNCTION vcf_info_getattr(info text, key text) RETURNS text
AS 'MODULE_PATHNAME', 'strom_vcf_info_getattr'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION vcf_info_getattr(text, text) IS 'value of a key of INFO: KEY=VALUE;KEY=VALUE. Empty for a flag that is there, NULL for a key that is not';

CREATE FUNCTION vcf_variant_getattr(cell text, key text) RETURNS text
AS 'MODULE_PATHNAME', 'strom_vcf_variant_getattr'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION vcf_variant_getattr(text, text) IS 'value of a key of a sample''s cell with keys: KEY=VALUE:KEY=VALUE';

CREATE FUNCTION vcf_variant_getattr(format text, cell text, key text) RETURNS text
AS 'MODULE_PATHNAME', 'strom_vcf_cell_getattr'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION vcf_variant_getattr(text, text, text) IS 'value of a key of a sample''s cell, by the keys that FORMAT has';
