-- The tables of the kit for PHP, for SQLite, PostgreSQL, MySQL and MariaDB. Each statement may run again. Only MySQL and
-- MariaDB read what is in /*! */: without it, they would treat `a` and `A` as equal. A unique constraint that contains the
-- primary key is there only as an index.

-- Used nonces, and logins that have ended.
create table if not exists identity_used (name varchar(64) not null primary key, keep_until bigint not null,
  unique (keep_until, name)) /*! character set ascii collate ascii_bin */;

-- The row of a deleted person has an empty profile.
create table if not exists identity_profiles (id varchar(36) not null primary key, updated_at varchar(24) not null,
  profile text /*! character set utf8mb4 */ not null) /*! character set ascii collate ascii_bin */;

-- How far events were applied, and which process applies them.
create table if not exists identity_positions (client varchar(63) not null primary key, last_seq bigint not null,
  claimed_by varchar(32) not null, claimed_until bigint not null) /*! character set ascii collate ascii_bin */;

-- The id is the SHA-256 of the browser's cookie and the client's name.
create table if not exists identity_sessions (id varchar(64) not null primary key, client varchar(63) not null,
  sid varchar(22) not null, user_id varchar(36) not null, ends_at bigint not null,
  unique (sid, id), unique (user_id, id), unique (ends_at, id)) /*! character set ascii collate ascii_bin */;

-- When events were last read.
create table if not exists identity_turns (client varchar(63) not null primary key, turn_at bigint not null)
  /*! character set ascii collate ascii_bin */;
