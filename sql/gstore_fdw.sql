-- Tables in memory.
CREATE FUNCTION gstore_fdw_handler()
RETURNS fdw_handler
AS 'MODULE_PATHNAME', 'strom_gstore_fdw_handler'
LANGUAGE C STRICT VOLATILE PARALLEL SAFE;

COMMENT ON FUNCTION gstore_fdw_handler() IS 'handler of the foreign data wrapper gstore_fdw; not to be called';

CREATE FUNCTION gstore_fdw_validator(options text[], catalog oid)
RETURNS void
AS 'MODULE_PATHNAME', 'strom_gstore_fdw_validator'
LANGUAGE C STRICT VOLATILE PARALLEL SAFE;

COMMENT ON FUNCTION gstore_fdw_validator(text[], oid) IS 'validator of the foreign data wrapper gstore_fdw; not to be called';

CREATE FOREIGN DATA WRAPPER gstore_fdw
HANDLER gstore_fdw_handler
VALIDATOR gstore_fdw_validator;

CREATE SERVER gstore_fdw FOREIGN DATA WRAPPER gstore_fdw;

COMMENT ON FOREIGN DATA WRAPPER gstore_fdw IS 'tables in memory, whose rows survive crashes in files of their own';


-- Their files come and go with them.
CREATE FUNCTION gstore_fdw_tables_made()
RETURNS event_trigger
AS 'MODULE_PATHNAME', 'strom_gstore_tables_made'
LANGUAGE C;

COMMENT ON FUNCTION gstore_fdw_tables_made() IS 'event trigger: makes the files of store tables, and looks at their rows when partitions are made';

CREATE EVENT TRIGGER gstore_fdw_tables_made ON ddl_command_end
WHEN TAG IN ('CREATE FOREIGN TABLE', 'CREATE TABLE', 'CREATE SCHEMA')
EXECUTE FUNCTION gstore_fdw_tables_made();

CREATE FUNCTION gstore_fdw_tables_altered()
RETURNS event_trigger
AS 'MODULE_PATHNAME', 'strom_gstore_tables_altered'
LANGUAGE C;

COMMENT ON FUNCTION gstore_fdw_tables_altered() IS 'event trigger: checks changes of store tables';

CREATE EVENT TRIGGER gstore_fdw_tables_altered ON ddl_command_end
WHEN TAG IN ('ALTER FOREIGN TABLE', 'ALTER TABLE')
EXECUTE FUNCTION gstore_fdw_tables_altered();

CREATE FUNCTION gstore_fdw_tables_dropping()
RETURNS event_trigger
AS 'MODULE_PATHNAME', 'strom_gstore_dropping'
LANGUAGE C;

COMMENT ON FUNCTION gstore_fdw_tables_dropping() IS 'event trigger: has the files of store tables removed with them';

-- Also what a partitioned table's key needs.
CREATE EVENT TRIGGER gstore_fdw_tables_dropping ON ddl_command_start
WHEN TAG IN ('DROP FOREIGN TABLE', 'DROP TABLE', 'DROP SCHEMA', 'DROP SERVER', 'DROP FOREIGN DATA WRAPPER', 'DROP OWNED',
             'DROP EXTENSION', 'DROP TYPE', 'DROP DOMAIN', 'DROP FUNCTION', 'DROP ROUTINE', 'DROP LANGUAGE',
             'DROP OPERATOR', 'DROP OPERATOR CLASS', 'DROP OPERATOR FAMILY', 'DROP COLLATION', 'DROP ACCESS METHOD',
             'DROP TEXT SEARCH CONFIGURATION', 'DROP TEXT SEARCH DICTIONARY', 'DROP TEXT SEARCH PARSER',
             'DROP TEXT SEARCH TEMPLATE')
EXECUTE FUNCTION gstore_fdw_tables_dropping();

CREATE FUNCTION gstore_fdw_columns_dropped()
RETURNS event_trigger
AS 'MODULE_PATHNAME', 'strom_gstore_columns_dropped'
LANGUAGE C;

COMMENT ON FUNCTION gstore_fdw_columns_dropped() IS 'event trigger: refuses to drop columns of store tables with what they depend on';

-- Types, tables as types, collations, and functions of generated columns.
CREATE EVENT TRIGGER gstore_fdw_columns_dropped ON sql_drop
WHEN TAG IN ('DROP TYPE', 'DROP DOMAIN', 'DROP SCHEMA', 'DROP OWNED', 'DROP EXTENSION', 'DROP TABLE', 'DROP VIEW',
             'DROP MATERIALIZED VIEW', 'DROP FOREIGN TABLE', 'DROP SERVER', 'DROP FOREIGN DATA WRAPPER',
             'DROP FUNCTION', 'DROP ROUTINE', 'DROP LANGUAGE', 'DROP OPERATOR', 'DROP COLLATION', 'DROP ACCESS METHOD',
             'DROP TEXT SEARCH CONFIGURATION', 'DROP TEXT SEARCH DICTIONARY', 'DROP TEXT SEARCH PARSER',
             'DROP TEXT SEARCH TEMPLATE')
EXECUTE FUNCTION gstore_fdw_columns_dropped();

CREATE FUNCTION gstore_fdw_rights_taken()
RETURNS event_trigger
AS 'MODULE_PATHNAME', 'strom_gstore_rights_taken'
LANGUAGE C;

COMMENT ON FUNCTION gstore_fdw_rights_taken() IS 'event trigger: takes published regions from clients that may not read any more';

CREATE EVENT TRIGGER gstore_fdw_rights_taken ON ddl_command_end
WHEN TAG IN ('REVOKE', 'DROP OWNED')
EXECUTE FUNCTION gstore_fdw_rights_taken();

-- Also where session_replication_role is replica.
ALTER EVENT TRIGGER gstore_fdw_tables_made ENABLE ALWAYS;
ALTER EVENT TRIGGER gstore_fdw_tables_altered ENABLE ALWAYS;
ALTER EVENT TRIGGER gstore_fdw_tables_dropping ENABLE ALWAYS;
ALTER EVENT TRIGGER gstore_fdw_columns_dropped ENABLE ALWAYS;
ALTER EVENT TRIGGER gstore_fdw_rights_taken ENABLE ALWAYS;


CREATE FUNCTION store_checkpoint(regclass)
RETURNS void
AS 'MODULE_PATHNAME', 'strom_store_checkpoint'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

-- argument $1: a store table
-- rights: owner of the table
-- example: SELECT pgstrom.store_checkpoint('positions');
COMMENT ON FUNCTION store_checkpoint(regclass) IS 'writes the rows of a store table to its base file, so that the redo log before is not needed';

CREATE FUNCTION store_compact(regclass)
RETURNS bigint
AS 'MODULE_PATHNAME', 'strom_store_compact'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

-- argument $1: a store table
-- rights: owner of the table
-- example: SELECT pgstrom.store_compact('positions');
COMMENT ON FUNCTION store_compact(regclass) IS 'frees what nobody can see any more of a store table, and makes a checkpoint; returns how many versions went';

CREATE FUNCTION store_check(regclass)
RETURNS bigint
AS 'MODULE_PATHNAME', 'strom_store_check'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

-- argument $1: a store table
-- rights: owner of the table
-- example: SELECT pgstrom.store_check('positions');
COMMENT ON FUNCTION store_check(regclass) IS 'looks at all versions, the index and the files of a store table; returns how many rows it has';

CREATE FUNCTION store_upsert(relation regclass, new_row anyelement)
RETURNS boolean
AS 'MODULE_PATHNAME', 'strom_store_upsert'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

-- argument relation: a store table
-- argument new_row: a row of the table's type, or of a type with columns of the same names
-- rights: SELECT, INSERT and UPDATE on the table
-- example: SELECT pgstrom.store_upsert('positions', ROW(4711, 3.5, 7)::positions);
COMMENT ON FUNCTION store_upsert(regclass, anyelement) IS 'updates the row with this key of a store table, or inserts it; returns whether it is new';

CREATE FUNCTION kv_attach(relation regclass, OUT socket text, OUT token text)
RETURNS record
AS 'MODULE_PATHNAME', 'strom_kv_attach'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

-- argument relation: a store table with the option kv_access
-- result socket: path of a UNIX socket
-- result token: what the client sends there
-- rights: SELECT on the whole table
-- example: SELECT * FROM pgstrom.kv_attach('positions');
COMMENT ON FUNCTION kv_attach(regclass) IS 'where a client gets the published region of a store table, and a token for that, which is good once and for 30 seconds';

CREATE FUNCTION kv_session(relation regclass, OUT socket text, OUT token text)
RETURNS record
AS 'MODULE_PATHNAME', 'strom_kv_session'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

-- argument relation: a store table with the option kv_access
-- result socket: path of a UNIX socket
-- result token: what the client sends there
-- rights: SELECT on the table
-- example: SELECT * FROM pgstrom.kv_session('positions');
COMMENT ON FUNCTION kv_session(regclass) IS 'where a client sends messages about a store table, and a token for that, which is good once and for 30 seconds';

CREATE FUNCTION kv_session_tcp(relation regclass, OUT port integer, OUT token text)
RETURNS record
AS 'MODULE_PATHNAME', 'strom_kv_session_tcp'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

-- argument relation: a store table with the option kv_access
-- result port: of the server, at an address of pg_strom.kv_listen_addresses
-- result token: what the client sends there
-- rights: SELECT on the table
-- example: SELECT * FROM pgstrom.kv_session_tcp('positions');
COMMENT ON FUNCTION kv_session_tcp(regclass) IS 'where a client on another machine sends messages about a store table, and a token for that, which is good once and for 30 seconds';

CREATE FUNCTION kv_rotate(regclass)
RETURNS void
AS 'MODULE_PATHNAME', 'strom_kv_rotate'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

-- argument $1: a store table with the option kv_access
-- rights: owner of the table
-- example: SELECT pgstrom.kv_rotate('positions');
COMMENT ON FUNCTION kv_rotate(regclass) IS 'makes the published region of a store table anew, and takes the old one from its clients';

CREATE FUNCTION store_info(OUT relation regclass, OUT rows bigint, OUT max_rows bigint, OUT slots bigint, OUT free_slots bigint,
                           OUT ended_versions bigint, OUT memory_bytes bigint, OUT heap_bytes bigint, OUT free_heap_bytes bigint,
                           OUT redo_appended bigint, OUT redo_durable bigint, OUT redo_base bigint, OUT redo_limit bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'strom_store_info'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

-- result relation: the store table
-- result rows: rows that are there
-- result max_rows: most that may be
-- result slots: places for versions of rows
-- result free_slots: places that are free
-- result ended_versions: versions that nobody will see any more, or only old snapshots
-- result memory_bytes: size of the table's memory
-- result heap_bytes: memory for values of varying length
-- result free_heap_bytes: what is free of it
-- result redo_appended: end of the redo log
-- result redo_durable: up to where the log is on the disk
-- result redo_base: where the base file's part ends
-- result redo_limit: size of the log's file
-- example: SELECT relation, rows, max_rows, memory_bytes FROM pgstrom.store_info();
COMMENT ON FUNCTION store_info() IS 'rows, slots, memory and redo log of the store tables of this database';

REVOKE ALL ON FUNCTION store_info() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION store_info() TO pg_monitor;
