<?php

declare(strict_types=1);

namespace Identity;

/** What the stores in SQL need from a database. Each call throws if it fails. */
interface Database
{
    /** `mysql` (MariaDB, too), `pgsql` or `sqlite`. */
    public function dialect(): string;

    /**
     * Runs a statement with a `?` for each value, and returns how many rows it changed.
     *
     * @param list<string|int> $values
     */
    public function execute(string $sql, array $values = []): int;

    /**
     * The first column of the first row, or null if there is no row.
     *
     * @param list<string|int> $values
     */
    public function value(string $sql, array $values = []): string|int|null;
}
