-- Apache Arrow files as foreign tables.
CREATE FUNCTION arrow_fdw_handler()
RETURNS fdw_handler
AS 'MODULE_PATHNAME', 'strom_arrow_fdw_handler'
LANGUAGE C STRICT VOLATILE PARALLEL SAFE;

CREATE FUNCTION arrow_fdw_validator(options text[], catalog oid)
RETURNS void
AS 'MODULE_PATHNAME', 'strom_arrow_fdw_validator'
LANGUAGE C STRICT VOLATILE PARALLEL SAFE;

CREATE FOREIGN DATA WRAPPER arrow_fdw
HANDLER arrow_fdw_handler
VALIDATOR arrow_fdw_validator;

CREATE SERVER arrow_fdw FOREIGN DATA WRAPPER arrow_fdw;

COMMENT ON FOREIGN DATA WRAPPER arrow_fdw IS 'reads Apache Arrow files of the server';


CREATE FUNCTION arrow_fdw_import_file(relname text, file text, schema text DEFAULT NULL, named_types text DEFAULT NULL)
RETURNS void
AS 'MODULE_PATHNAME', 'strom_arrow_fdw_import_file'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION arrow_fdw_import_file(text, text, text, text) IS 'makes a foreign table over an Arrow file, which may have more columns than CREATE FOREIGN TABLE takes';

CREATE FUNCTION arrow_fdw_check_pattern(filename text, pattern text)
RETURNS text
AS 'MODULE_PATHNAME', 'strom_arrow_fdw_check_pattern'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION arrow_fdw_check_pattern(text, text) IS 'whether a path fits the option pattern of Arrow tables, and what its keys are then';

CREATE FUNCTION arrow_fdw_metadata_info(regclass, OUT relid regclass, OUT filename text, OUT field text, OUT key text, OUT value text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'strom_arrow_fdw_metadata_info'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

COMMENT ON FUNCTION arrow_fdw_metadata_info(regclass) IS 'custom metadata in the files of an Arrow table, of fields and (field is NULL) of files';

CREATE FUNCTION arrow_fdw_metadata_stats()
RETURNS json
AS 'MODULE_PATHNAME', 'strom_arrow_fdw_metadata_stats'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

COMMENT ON FUNCTION arrow_fdw_metadata_stats() IS 'what this session remembers of Arrow files that are not open';
