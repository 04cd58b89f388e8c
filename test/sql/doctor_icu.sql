-- What pgstrom.doctor() tells of a database whose order of text is ICU's. Servers can be built without ICU.
SELECT count(*) = 0 AS has_no_icu FROM pg_collation WHERE collprovider = 'i' AND collname LIKE '%-x-icu' \gset
\if :has_no_icu
\quit
\endif
SET client_min_messages = warning;
SELECT current_database() AS here \gset
CREATE DATABASE regress_doctor LOCALE_PROVIDER icu ICU_LOCALE 'en-US' TEMPLATE template0;
\c regress_doctor
SET client_min_messages = warning;
CREATE EXTENSION pg_strom;
SELECT "check", status, detail, fix FROM pgstrom.doctor() WHERE "check" = 'collation';
\c :here
DROP DATABASE regress_doctor;
