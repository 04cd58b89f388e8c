-- Apache Arrow files as foreign tables.
CREATE FUNCTION arrow_fdw_handler()
RETURNS fdw_handler
AS 'MODULE_PATHNAME', 'strom_arrow_fdw_handler'
LANGUAGE C STRICT VOLATILE PARALLEL SAFE;

COMMENT ON FUNCTION arrow_fdw_handler() IS 'handler of the foreign data wrapper arrow_fdw; not to be called';

CREATE FUNCTION arrow_fdw_validator(options text[], catalog oid)
RETURNS void
AS 'MODULE_PATHNAME', 'strom_arrow_fdw_validator'
LANGUAGE C STRICT VOLATILE PARALLEL SAFE;

COMMENT ON FUNCTION arrow_fdw_validator(text[], oid) IS 'validator of the foreign data wrapper arrow_fdw; not to be called';

CREATE FOREIGN DATA WRAPPER arrow_fdw
HANDLER arrow_fdw_handler
VALIDATOR arrow_fdw_validator;

CREATE SERVER arrow_fdw FOREIGN DATA WRAPPER arrow_fdw;

COMMENT ON FOREIGN DATA WRAPPER arrow_fdw IS 'reads Apache Arrow files of the server';


CREATE FUNCTION arrow_fdw_import_file(relname text, file text, schema text DEFAULT NULL, named_types text DEFAULT NULL)
RETURNS void
AS 'MODULE_PATHNAME', 'strom_arrow_fdw_import_file'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

-- argument relname: name of the table
-- argument file: path of an Arrow or Parquet file
-- argument schema: schema of the table; NULL: the first one of search_path
-- argument named_types: as the option of that name of IMPORT FOREIGN SCHEMA
-- rights: CREATE in the schema, USAGE on the server, pg_read_server_files
-- example: SELECT pgstrom.arrow_fdw_import_file('sensors', '/data/lineorder.arrow');
COMMENT ON FUNCTION arrow_fdw_import_file(text, text, text, text) IS 'makes a foreign table over an Arrow file, which may have more columns than CREATE FOREIGN TABLE takes';

CREATE FUNCTION arrow_fdw_check_pattern(filename text, pattern text)
RETURNS text
AS 'MODULE_PATHNAME', 'strom_arrow_fdw_check_pattern'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;

-- argument filename: a path
-- argument pattern: the option's value
-- example: SELECT pgstrom.arrow_fdw_check_pattern('/data/sales-2024.arrow', 'sales-@{year}.arrow');
COMMENT ON FUNCTION arrow_fdw_check_pattern(text, text) IS 'whether a path fits the option pattern of Arrow tables, and what its keys are then';

CREATE FUNCTION arrow_fdw_metadata_info(regclass, OUT relid regclass, OUT filename text, OUT field text, OUT key text, OUT value text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'strom_arrow_fdw_metadata_info'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

-- argument $1: an Arrow table
-- result relid: the table
-- result filename: path of the file
-- result field: column of the file; NULL: the file itself
-- result key: of the metadata
-- result value: its value
-- rights: SELECT on the table
-- example: SELECT * FROM pgstrom.arrow_fdw_metadata_info('lineorder');
COMMENT ON FUNCTION arrow_fdw_metadata_info(regclass) IS 'custom metadata in the files of an Arrow table, of fields and (field is NULL) of files';

CREATE FUNCTION arrow_fdw_metadata_stats()
RETURNS json
AS 'MODULE_PATHNAME', 'strom_arrow_fdw_metadata_stats'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

-- example: SELECT pgstrom.arrow_fdw_metadata_stats();
COMMENT ON FUNCTION arrow_fdw_metadata_stats() IS 'what this session remembers of Arrow files that are not open';

CREATE FUNCTION arrow_files(relation regclass, OUT path text, OUT format text, OUT rows bigint, OUT batches int, OUT bytes bigint,
                            OUT codec text, OUT statistics text[], OUT sorted_by text[], OUT changed timestamptz, OUT error text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'strom_arrow_files'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED ROWS 10;

-- argument relation: an Arrow table
-- rights: SELECT on the table
-- example: SELECT path, rows, batches, codec, sorted_by FROM pgstrom.arrow_files('lineorder');
COMMENT ON FUNCTION arrow_files(regclass) IS 'the files of an Arrow table, by their metadata: size, record batches, statistics, order';

CREATE VIEW arrow_files AS
SELECT t.relation, f.path, f.format, f.rows, f.batches, f.bytes, f.codec, f.statistics, f.sorted_by, f.changed, f.error
FROM (SELECT c.oid::pg_catalog.regclass AS relation
        FROM pg_catalog.pg_class c JOIN pg_catalog.pg_foreign_table t ON t.ftrelid OPERATOR(pg_catalog.=) c.oid
        JOIN pg_catalog.pg_foreign_server s ON s.oid OPERATOR(pg_catalog.=) t.ftserver
        JOIN pg_catalog.pg_foreign_data_wrapper w ON w.oid OPERATOR(pg_catalog.=) s.srvfdw
        JOIN pg_catalog.pg_proc p ON p.oid OPERATOR(pg_catalog.=) w.fdwhandler
        WHERE p.prosrc OPERATOR(pg_catalog.=) 'strom_arrow_fdw_handler' AND pg_catalog.has_table_privilege(c.oid, 'SELECT')
        OFFSET 0) t,
  LATERAL arrow_files(t.relation) f;

GRANT SELECT ON arrow_files TO PUBLIC;

COMMENT ON VIEW arrow_files IS 'the files of all Arrow tables that the role may read, by their metadata';
COMMENT ON COLUMN arrow_files.relation IS 'the Arrow table';
COMMENT ON COLUMN arrow_files.path IS 'of the file';
COMMENT ON COLUMN arrow_files.format IS 'arrow or parquet';
COMMENT ON COLUMN arrow_files.rows IS 'in the file';
COMMENT ON COLUMN arrow_files.batches IS 'record batches; of Parquet row groups';
COMMENT ON COLUMN arrow_files.bytes IS 'size of the file';
COMMENT ON COLUMN arrow_files.codec IS 'what the columns are compressed by; NULL: nothing';
COMMENT ON COLUMN arrow_files.statistics IS 'columns with lowest and highest values';
COMMENT ON COLUMN arrow_files.sorted_by IS 'columns whose record batches follow one another, by their statistics; DESC: backwards';
COMMENT ON COLUMN arrow_files.changed IS 'when the file was last written to';
COMMENT ON COLUMN arrow_files.error IS 'why the table''s files cannot be read; then all else is NULL';
