-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION pg_strom" to load this file. \quit


-- Whoever may use a function has to find it. What functions ask of their callers they check themselves, or their rights
-- say it.
GRANT USAGE ON SCHEMA @extschema@ TO PUBLIC;
