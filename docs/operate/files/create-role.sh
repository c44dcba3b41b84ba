#!/bin/sh
# Makes the role and the database of the service: no superuser, and the owner of nothing else. The Postgres of compose.yaml
# runs it once, when its volume is empty. DATABASE_PASSWORD_FILE names a file with the password of the role.
set -e
DATABASE_PASSWORD=$(cat "$DATABASE_PASSWORD_FILE")
export DATABASE_PASSWORD
psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --username=postgres --dbname=postgres <<'SQL'
\getenv password DATABASE_PASSWORD
create role identity login nosuperuser nocreatedb nocreaterole password :'password';
create database identity owner identity;
SQL
