<?php

declare(strict_types=1);

namespace Identity;

/** The tables of the stores in SQL. */
final class Tables
{
    /** Creates the tables that are missing. */
    public static function create(Database $database, string $prefix = 'identity_'): void
    {
        foreach (self::describe($database->dialect(), $prefix) as $statement) {
            $database->execute($statement);
        }
    }

    /** @return list<string> the statements; each may run again */
    public static function describe(string $dialect, string $prefix = 'identity_'): array
    {
        // Names and times are ASCII, and `a` is not `A`.
        $exact = $dialect === 'mysql' ? ' character set ascii collate ascii_bin' : '';
        $json = $dialect === 'mysql' ? 'text character set utf8mb4' : 'text';
        // MySQL has no `create index if not exists`.
        $index = static fn(string ...$columns) => $dialect !== 'mysql' ? ''
            : implode(array_map(static fn(string $column) => ",\n  index ($column)", $columns));
        $indexes = ['used' => ['keep_until'], 'sessions' => ['sid', 'user_id', 'ends_at']];
        $statements = [
            <<<SQL
                create table if not exists {$prefix}used (
                  name varchar(64)$exact not null primary key,
                  keep_until bigint not null{$index(...$indexes['used'])}
                )
                SQL,
            <<<SQL
                create table if not exists {$prefix}profiles (
                  id varchar(36)$exact not null primary key,
                  updated_at varchar(24)$exact not null,
                  profile $json not null
                )
                SQL,
            <<<SQL
                create table if not exists {$prefix}positions (
                  client varchar(63)$exact not null primary key,
                  last_seq bigint not null,
                  claimed_by varchar(32)$exact not null,
                  claimed_until bigint not null
                )
                SQL,
            <<<SQL
                create table if not exists {$prefix}sessions (
                  id varchar(64)$exact not null primary key,
                  client varchar(63)$exact not null,
                  sid varchar(22)$exact not null,
                  user_id varchar(36)$exact not null,
                  ends_at bigint not null{$index(...$indexes['sessions'])}
                )
                SQL,
            <<<SQL
                create table if not exists {$prefix}turns (
                  client varchar(63)$exact not null primary key,
                  turn_at bigint not null
                )
                SQL,
        ];
        foreach ($dialect === 'mysql' ? [] : $indexes as $table => $columns) {
            foreach ($columns as $column) {
                $statements[] = "create index if not exists {$prefix}{$table}_$column on {$prefix}$table ($column)";
            }
        }
        return $statements;
    }

    /** An insert that changes nothing if the primary key exists already. */
    public static function insertNew(Database $database, string $values): string
    {
        return $database->dialect() === 'mysql' ? "insert ignore into $values"
            : "insert into $values on conflict do nothing";
    }
}
