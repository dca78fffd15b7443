-- Grants the privileges that a store needs to a role that owns and creates nothing.
--
-- Run it as the owner, after the owner has opened the store once, which creates the tables, and again after each new
-- version:
--   psql -v namespace=tenant_1 -v role=concertina -f roles.sql DATABASE
-- Then let the role connect, for example: ALTER ROLE concertina LOGIN PASSWORD '...';

SELECT format('CREATE ROLE %I NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOINHERIT', :'role')
WHERE NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = :'role') \gexec

REVOKE ALL ON SCHEMA :"namespace" FROM PUBLIC;
GRANT USAGE ON SCHEMA :"namespace" TO :"role";
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA :"namespace" TO :"role";
GRANT USAGE ON ALL SEQUENCES IN SCHEMA :"namespace" TO :"role";
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA :"namespace" TO :"role";
-- Only the owner may change the identity and the version of the store.
REVOKE INSERT, UPDATE, DELETE ON :"namespace".store FROM :"role";
