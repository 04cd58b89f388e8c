-- What the engine can do of a query.
CREATE FUNCTION explain_support(query text, OUT part text, OUT expression text, OUT runs text, OUT reason text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'strom_explain_support'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE ROWS 20;

-- argument query: one statement or more, with $1, $2, ... for parameters
-- result part: what the expression is in the query; plan: the plan as a whole
-- result expression: as EXPLAIN writes it
-- result runs: engine or PostgreSQL: who can compute it; of the plan: who does
-- result reason: why PostgreSQL
-- rights: what the query needs
-- example: SELECT * FROM pgstrom.explain_support('SELECT k, sum(v) FROM orders GROUP BY k');
COMMENT ON FUNCTION explain_support(text) IS 'for each expression of a query, which is not run, whether the engine can compute it, and why not';
