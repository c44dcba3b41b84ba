-- The tables of the kit for Python, for SQLite, PostgreSQL, MySQL and MariaDB. Each statement may run again. Only MySQL and
-- MariaDB read what is in /*! */: without it, they would treat `a` and `A` as equal. A unique constraint that contains the
-- primary key is there only as an index.

create table if not exists identity_nonces (nonce varchar(64) not null primary key, keep_until bigint not null)
  /*! character set ascii collate ascii_bin */;

create table if not exists identity_ended (sid varchar(64) not null primary key, keep_until bigint not null)
  /*! character set ascii collate ascii_bin */;

-- The row of a deleted person has an empty profile.
create table if not exists identity_profiles (id varchar(36) not null primary key, updated_at varchar(24) not null,
  profile text not null) /*! character set ascii collate ascii_bin */;

-- `holder` is empty while no pull is at work.
create table if not exists identity_positions (client varchar(63) not null primary key, position bigint not null,
  holder varchar(32) not null, signs bigint not null) /*! character set ascii collate ascii_bin */;

-- `digest` is the SHA-256 of the client's name and the browser's cookie.
create table if not exists identity_sessions (digest varchar(64) not null primary key, sid varchar(64), user_id varchar(36) not null,
  ends_at bigint not null, unique (sid, digest), unique (user_id, digest), unique (ends_at, digest))
  /*! character set ascii collate ascii_bin */;
