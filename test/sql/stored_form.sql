-- Compressed values that go through the engine stay as they were stored; a server may lack this method.
SELECT NOT 'lz4' = ANY (enumvals) AS lacks_lz4 FROM pg_settings WHERE name = 'default_toast_compression' \gset
\if :lacks_lz4
\quit
\endif
LOAD 'pg_strom';
CREATE SCHEMA stored_form;
SET search_path = stored_form;
SET pg_strom.cpu_setup_cost = 0;
SET pg_strom.cpu_tuple_cost = 0.000001;
SET pg_strom.regression_test_mode = on;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE pressed (id int, t text COMPRESSION lz4);
INSERT INTO pressed SELECT i, repeat('compressible ' || i % 10, 40 + i % 200) FROM generate_series(1, 2000) i;
ANALYZE pressed;
CREATE TABLE taken (id int, t text);
EXPLAIN (COSTS OFF) INSERT INTO taken SELECT id, t FROM pressed WHERE id % 2 = 0;
INSERT INTO taken SELECT id, t FROM pressed WHERE id % 2 = 0;
SELECT pg_column_compression(t), count(*) FROM taken GROUP BY 1 ORDER BY 1;
CREATE TABLE taken_as AS SELECT id, t FROM pressed WHERE id % 2 = 0;
SELECT pg_column_compression(t), count(*) FROM taken_as GROUP BY 1 ORDER BY 1;
CREATE MATERIALIZED VIEW taken_view AS SELECT id, t FROM pressed WHERE id % 2 = 0;
REFRESH MATERIALIZED VIEW taken_view;
SELECT pg_column_compression(t), count(*) FROM taken_view GROUP BY 1 ORDER BY 1;
SELECT sum(pg_column_size(p.t)) = sum(pg_column_size(t.t)) AS same_size FROM pressed p JOIN taken t USING (id);
CREATE FUNCTION size_in_sql(anyelement) RETURNS int LANGUAGE sql STABLE AS 'SELECT pg_column_size($1)';
CREATE FUNCTION size_in_body(t text) RETURNS int LANGUAGE sql STABLE RETURN pg_column_size(t);
CREATE FUNCTION size_of_size(t text) RETURNS int LANGUAGE sql STABLE RETURN size_in_body(t);
CREATE FUNCTION size_in_plpgsql(t text) RETURNS int LANGUAGE plpgsql STABLE AS 'BEGIN RETURN pg_column_size(t); END';
SELECT sum(pg_column_size(t)) AS wanted FROM pressed WHERE id > 100 \gset
SELECT sum(size_in_sql(t)) = :wanted AS in_sql, sum(size_in_plpgsql(t)) = :wanted AS in_plpgsql FROM pressed WHERE id > 100;
SELECT sum(size_in_body(t)) = :wanted AS in_body FROM pressed WHERE id > 100;
SELECT sum(size_of_size(t)) = :wanted AS nested FROM pressed WHERE id > 100;
SET client_min_messages = warning;
DROP SCHEMA stored_form CASCADE;
