-- The tables of the kit for TypeScript, for SQLite, PostgreSQL, MySQL and MariaDB. Only MySQL and MariaDB read what is in /*!
-- */. The names of the tables begin with the prefix of createSqlStores.

create table if not exists identity_nonces (nonce varchar(64) primary key, keep_until bigint not null)
  /*! character set ascii collate ascii_bin */;

create table if not exists identity_ended_logins (sid varchar(64) primary key, keep_until bigint not null)
  /*! character set ascii collate ascii_bin */;

create table if not exists identity_profiles (id varchar(36) primary key, updated_at bigint not null, profile text /*! character set utf8mb4 */)
  /*! character set ascii collate ascii_bin */;

create table if not exists identity_position (name varchar(16) primary key, seq bigint not null, holder varchar(36) not null,
  signs bigint not null)
  /*! character set ascii collate ascii_bin */;

create table if not exists identity_sessions (id varchar(64) primary key, sid varchar(64) not null, user_id varchar(36) not null,
  expires_at bigint not null, unique (sid, id), unique (user_id, id), unique (expires_at, id))
  /*! character set ascii collate ascii_bin */;
