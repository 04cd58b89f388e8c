-- Attributes of the texts of VCF files.
SELECT info, pgstrom.vcf_info_getattr(info, 'AF') AS af, pgstrom.vcf_info_getattr(info, 'DB') AS db, pgstrom.vcf_info_getattr(info, 'F') AS f
  FROM (VALUES ('DP=5;AF=0.5;DB'), ('AF=0.1,0.2'), ('AF='), ('DB;AF=a=b'), ('.'), (''), (';;AF=1;'), (NULL)) v (info);
SELECT cell, pgstrom.vcf_variant_getattr(cell, 'DP') AS dp, pgstrom.vcf_variant_getattr(cell, 'GT') AS gt
  FROM (VALUES ('GT=0/1:DP=5'), ('GT=0|1'), ('DP=:GT=./.'), ('')) v (cell);
SELECT format, cell, pgstrom.vcf_variant_getattr(format, cell, 'DP') AS dp, pgstrom.vcf_variant_getattr(format, cell, 'GT') AS gt
  FROM (VALUES ('GT:DP', '0/1:5'), ('GT:AD:DP', '0/1'), ('GT:AD:DP', '0/1:1,2:7'), ('DP', '9'), ('GT:DP', ''), ('', '')) v (format, cell);
SELECT pgstrom.vcf_info_getattr('ä=日本;b=c', 'ä'), pgstrom.vcf_info_getattr(NULL, 'a') IS NULL, pgstrom.vcf_info_getattr('a=b', NULL) IS NULL;
-- The engine computes them, of columns and of constants.
LOAD 'pg_strom';
CREATE SCHEMA variants;
SET search_path = variants;
SET pg_strom.cpu_setup_cost = 0;
SET pg_strom.regression_test_mode = on;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE variants AS SELECT i AS id, CASE WHEN i % 11 > 0 THEN format('%s;AF=%s%s', CASE WHEN i % 3 = 0 THEN 'DP=' || i % 50 ELSE '.' END, i % 4, CASE WHEN i % 5 = 0 THEN ';DB' ELSE ';;DBX=1;' END) END AS info,
  (ARRAY['GT:DP', 'GT', 'DP:GT', 'GT:AD:DP', ''])[1 + i % 5] AS format, (ARRAY['0/1:' || i % 20, '1|1', './.:3:7', '', ':'])[1 + i % 7] AS cell, 'GT=0/' || i % 3 || ':DP' AS named,
  (ARRAY['DP', 'GT', 'AF', 'DB', '', '.'])[1 + i % 13] AS key FROM generate_series(1, 5000) i;
VACUUM ANALYZE variants;
EXPLAIN (COSTS OFF) SELECT pgstrom.vcf_variant_getattr(format, cell, 'GT'), count(*) FROM variants WHERE pgstrom.vcf_info_getattr(info, 'AF') = '2' GROUP BY 1;
SELECT pgstrom.vcf_variant_getattr(format, cell, 'GT') AS gt, count(*), min(id) FROM variants WHERE pgstrom.vcf_info_getattr(info, 'AF') = '2' GROUP BY 1 ORDER BY 1;
-- Rows whose value is another one without the engine, and those that have a value.
CREATE FUNCTION compare(e text, OUT differences bigint, OUT known bigint) LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE TEMP TABLE with_engine AS SELECT id, %s AS value FROM variants', e);
  PERFORM set_config('pg_strom.enabled', 'off', true);
  EXECUTE format('SELECT count(*) FILTER (WHERE value IS DISTINCT FROM %s), count(value) FROM variants JOIN with_engine USING (id)', e) INTO differences, known;
  PERFORM set_config('pg_strom.enabled', 'on', true);
  DROP TABLE with_engine;
END $$;
SELECT e, r.* FROM (VALUES ('pgstrom.vcf_info_getattr(info, ''DP'')'), ('pgstrom.vcf_info_getattr(info, ''DB'')'), ('pgstrom.vcf_info_getattr(info, key)'), ('pgstrom.vcf_info_getattr(''DP=5;AF'', key)'),
  ('pgstrom.vcf_variant_getattr(named, ''GT'')'), ('pgstrom.vcf_variant_getattr(named, key)'), ('pgstrom.vcf_variant_getattr(format, cell, ''DP'')'), ('pgstrom.vcf_variant_getattr(format, cell, key)')) v (e),
  LATERAL compare(e) r;
-- Others of that name are not the engine's.
CREATE FUNCTION vcf_info_getattr(text, text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN $1; END';
EXPLAIN (COSTS OFF) SELECT count(*) FROM variants WHERE vcf_info_getattr(info, key) = '2';
SET client_min_messages = warning;
DROP SCHEMA variants CASCADE;
