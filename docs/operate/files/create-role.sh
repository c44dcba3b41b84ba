#!/bin/sh
# Makes the role and the database of the service: no superuser, and the owner of nothing else. The Postgres of compose.yaml
# runs it once, when its volume is empty. DATABASE_PASSWORD is the password of the role.
set -e
psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --username=postgres --dbname=postgres <<'SQL'
\getenv password DATABASE_PASSWORD
create role identity login nosuperuser nocreatedb nocreaterole password :'password';
create database identity owner identity;
SQL
