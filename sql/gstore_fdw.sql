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
