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

