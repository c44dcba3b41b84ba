<?php

declare(strict_types=1);

namespace Identity;

/** The tables of the stores in SQL. */
final class Tables
{
    /** Creates the tables that are missing. Two clients in one database need different prefixes. */
    public static function create(Database $database, string $prefix = 'identity_'): void
    {
        foreach (self::describe($database->dialect(), $prefix) as $statement) {
            $database->execute($statement);
        }
    }

    /**
     * @param string $dialect is no longer used
     * @return list<string> the statements of schema.sql, with your prefix. Each may run again
     */
    public static function describe(string $dialect, string $prefix = 'identity_'): array
    {
        $text = (string) preg_replace('/^--.*\n/m', '', (string) file_get_contents(__DIR__ . '/schema.sql'));
        $statements = array_map('trim', explode(';', str_replace('identity_', $prefix, $text)));
        return array_values(array_filter($statements));
    }

    /** Throws if the prefix is not a plain name, because it becomes a part of statements as it is. */
    public static function requirePrefix(string $prefix): void
    {
        if (!preg_match('/^[a-z_][a-z0-9_]{0,30}$/D', $prefix)) {
            throw new \InvalidArgumentException('prefix must be a plain name in lower case');
        }
    }

    /** Returns an insert that changes nothing if the primary key exists already. */
    public static function insertNew(Database $database, string $values): string
    {
        return $database->dialect() === 'mysql' ? "insert ignore into $values"
            : "insert into $values on conflict do nothing";
    }
}
