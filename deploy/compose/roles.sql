-- Makes the roles and the database of the service when the container of the database starts for the first time:
-- innsigli_owner, which migrates and owns the tables, innsigli, which the servers use, and innsigli_evidence, whose members
-- delete from the evidence log. "innsigli migrate --server-role innsigli" grants the last two what they need.
\set owner `cat /var/lib/postgresql/owner.password`
\set server `cat /var/lib/postgresql/server.password`
CREATE ROLE innsigli_owner LOGIN PASSWORD :'owner';
CREATE ROLE innsigli LOGIN PASSWORD :'server';
CREATE ROLE innsigli_evidence;
CREATE DATABASE innsigli OWNER innsigli_owner;
