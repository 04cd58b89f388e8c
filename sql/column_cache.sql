-- Columns of PostgreSQL's tables that are kept between queries.
CREATE FUNCTION column_cache_info(OUT relation regclass, OUT attribute name, OUT groups bigint, OUT rows bigint, OUT bytes bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'strom_column_cache_info'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

-- result relation: the table
-- result attribute: the column; NULL: places of the rows, and metadata of files
-- result groups: groups of pages, or record batches, that are cached
-- result rows: rows in them
-- result bytes: memory that they take
-- example: SELECT relation, attribute, bytes FROM pgstrom.column_cache_info();
COMMENT ON FUNCTION column_cache_info() IS 'columns of this database''s tables that are in the column cache, in groups of pages';

CREATE FUNCTION column_cache_reset()
RETURNS void
AS 'MODULE_PATHNAME', 'strom_column_cache_reset'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

-- example: SELECT pgstrom.column_cache_reset();
COMMENT ON FUNCTION column_cache_reset() IS 'empties the column cache, but for what is being read';

REVOKE ALL ON FUNCTION column_cache_info() FROM PUBLIC;
REVOKE ALL ON FUNCTION column_cache_reset() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION column_cache_info() TO pg_monitor;
