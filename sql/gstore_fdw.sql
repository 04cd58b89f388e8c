-- Tables in memory.
CREATE FUNCTION gstore_fdw_handler()
RETURNS fdw_handler
AS 'MODULE_PATHNAME', 'strom_gstore_fdw_handler'
LANGUAGE C STRICT VOLATILE PARALLEL SAFE;

CREATE FUNCTION gstore_fdw_validator(options text[], catalog oid)
RETURNS void
AS 'MODULE_PATHNAME', 'strom_gstore_fdw_validator'
LANGUAGE C STRICT VOLATILE PARALLEL SAFE;

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

CREATE EVENT TRIGGER gstore_fdw_tables_made ON ddl_command_end
WHEN TAG IN ('CREATE FOREIGN TABLE')
EXECUTE FUNCTION gstore_fdw_tables_made();

CREATE FUNCTION gstore_fdw_tables_altered()
RETURNS event_trigger
AS 'MODULE_PATHNAME', 'strom_gstore_tables_altered'
LANGUAGE C;

CREATE EVENT TRIGGER gstore_fdw_tables_altered ON ddl_command_end
WHEN TAG IN ('ALTER FOREIGN TABLE', 'ALTER TABLE')
EXECUTE FUNCTION gstore_fdw_tables_altered();

CREATE FUNCTION gstore_fdw_tables_dropped()
RETURNS event_trigger
AS 'MODULE_PATHNAME', 'strom_gstore_tables_dropped'
LANGUAGE C;

CREATE EVENT TRIGGER gstore_fdw_tables_dropped ON sql_drop
WHEN TAG IN ('DROP FOREIGN TABLE', 'DROP TABLE', 'DROP SCHEMA', 'DROP SERVER', 'DROP FOREIGN DATA WRAPPER', 'DROP OWNED',
             'DROP EXTENSION')
EXECUTE FUNCTION gstore_fdw_tables_dropped();


CREATE FUNCTION store_checkpoint(regclass)
RETURNS void
AS 'MODULE_PATHNAME', 'strom_store_checkpoint'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION store_checkpoint(regclass) IS 'writes the rows of a store table to its base file, so that the redo log before is not needed';

CREATE FUNCTION store_compact(regclass)
RETURNS bigint
AS 'MODULE_PATHNAME', 'strom_store_compact'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION store_compact(regclass) IS 'frees what nobody can see any more of a store table, and makes a checkpoint; returns how many versions went';

CREATE FUNCTION store_check(regclass)
RETURNS bigint
AS 'MODULE_PATHNAME', 'strom_store_check'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION store_check(regclass) IS 'looks at all versions, the index and the files of a store table; returns how many rows it has';

CREATE FUNCTION store_upsert(relation regclass, new_row anyelement)
RETURNS boolean
AS 'MODULE_PATHNAME', 'strom_store_upsert'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION store_upsert(regclass, anyelement) IS 'updates the row with this key of a store table, or inserts it; returns whether it is new';

CREATE FUNCTION kv_attach(relation regclass, OUT socket text, OUT token text)
RETURNS record
AS 'MODULE_PATHNAME', 'strom_kv_attach'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION kv_attach(regclass) IS 'where a client gets the published region of a store table, and a token for that, which is good once and for 30 seconds';

CREATE FUNCTION kv_rotate(regclass)
RETURNS void
AS 'MODULE_PATHNAME', 'strom_kv_rotate'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION kv_rotate(regclass) IS 'makes the published region of a store table anew, and takes the old one from its clients';

CREATE FUNCTION store_info(OUT relation regclass, OUT rows bigint, OUT max_rows bigint, OUT slots bigint, OUT free_slots bigint,
                           OUT ended_versions bigint, OUT memory_bytes bigint, OUT heap_bytes bigint, OUT free_heap_bytes bigint,
                           OUT redo_appended bigint, OUT redo_durable bigint, OUT redo_base bigint, OUT redo_limit bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'strom_store_info'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION store_info() IS 'rows, slots, memory and redo log of the store tables of this database';

REVOKE ALL ON FUNCTION store_info() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION store_info() TO pg_monitor;
