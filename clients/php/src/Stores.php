<?php

declare(strict_types=1);

namespace Identity;

/** The stores of a client: its sessions, the profiles of its people, and how far it has read events. */
final class Stores
{
    public function __construct(
        public readonly SessionStore $sessions,
        public readonly ProfileStore $profiles,
        public readonly EventPosition $position,
    ) {
    }

    /**
     * Stores in a database: MySQL, MariaDB, Postgres or SQLite.
     *
     * @param string $prefix begins the names of the tables, as given to Tables. Two clients in one database need different
     *     prefixes.
     */
    public static function inDatabase(Database $database, string $client, string $prefix = 'identity_'): self
    {
        Tables::requirePrefix($prefix);
        return new self(
            new SqlSessions($database, $client, $prefix),
            new SqlProfiles($database, $prefix),
            new SqlPosition($database, $client, $prefix),
        );
    }

    /** Stores for tests, and for one process that serves all requests. */
    public static function inMemory(): self
    {
        return new self(new MemorySessions(), new MemoryProfiles(), new MemoryPosition());
    }

    /**
     * Calls a store. Throws the Refusal `store_unavailable` if the store does not answer. If the store throws a Refusal of its
     * own, passes it on.
     */
    public static function ask(callable $question): mixed
    {
        try {
            return $question();
        } catch (Refusal $refusal) {
            throw $refusal;
        } catch (\Throwable $error) {
            throw new Refusal('store_unavailable', previous: $error);
        }
    }
}
