-- What the engine can do of a query.
CREATE FUNCTION explain_support(query text, OUT part text, OUT expression text, OUT runs text, OUT reason text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'strom_explain_support'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE ROWS 20;

COMMENT ON FUNCTION explain_support(text) IS 'for each expression of a query, which is not run, whether the engine can compute it, and why not';
