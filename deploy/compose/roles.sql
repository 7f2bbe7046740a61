-- Makes the roles and the database of the service when the container of the database starts for the first time:
-- innsigli_owner, which migrates and owns the tables, and innsigli, which the servers use. "innsigli migrate
-- --server-role innsigli" grants the second what it needs.
\set owner `cat /var/lib/postgresql/owner.password`
\set server `cat /var/lib/postgresql/server.password`
CREATE ROLE innsigli_owner LOGIN PASSWORD :'owner';
CREATE ROLE innsigli LOGIN PASSWORD :'server';
CREATE DATABASE innsigli OWNER innsigli_owner;
