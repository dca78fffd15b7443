-- What a store needs of a database, for a role that owns nothing and makes nothing.
--
-- Run it as the owner, after the owner has opened the store once, which makes the tables, and again after each new version:
--   psql -v namespace=tenant_1 -v role=concertina -f roles.sql DATABASE
-- Then give the role a way in, for example: ALTER ROLE concertina LOGIN PASSWORD '...';

SELECT format('CREATE ROLE %I NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOINHERIT', :'role')
WHERE NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = :'role') \gexec

REVOKE ALL ON SCHEMA :"namespace" FROM PUBLIC;
GRANT USAGE ON SCHEMA :"namespace" TO :"role";
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA :"namespace" TO :"role";
GRANT USAGE ON ALL SEQUENCES IN SCHEMA :"namespace" TO :"role";
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA :"namespace" TO :"role";
-- Which store it is, and of which version, only the owner says.
REVOKE INSERT, UPDATE, DELETE ON :"namespace".store FROM :"role";
