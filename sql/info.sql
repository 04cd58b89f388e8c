-- What is installed.
CREATE FUNCTION version_info(OUT component text, OUT version text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'strom_version_info'
LANGUAGE C STRICT STABLE PARALLEL SAFE;

-- result component: what it is
-- result version: its version
-- example: SELECT * FROM pgstrom.version_info();
COMMENT ON FUNCTION version_info() IS 'versions of the extension and of what it was built with';
