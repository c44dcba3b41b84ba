<?php

declare(strict_types=1);

namespace Identity;

/**
 * Keeps sessions in a table. Each row names its client, so a session of one client is not valid at another client on the same
 * table.
 */
final class SqlSessions implements SessionStore
{
    /** @param string $prefix begins the names of the tables, as given to Tables */
    public function __construct(
        private readonly Database $database,
        private readonly string $client,
        private readonly string $prefix = 'identity_',
    ) {
    }

    public function start(string $id, ?string $sid, string $userId, int $endsAt, int $now): void
    {
        $this->database->execute(
            "insert into {$this->prefix}sessions (id, client, sid, user_id, ends_at) values (?, ?, ?, ?, ?)",
            [$id, $this->client, (string) $sid, $userId, $endsAt],
        );
        if (random_int(1, 100) === 1) {
            $this->database->execute("delete from {$this->prefix}sessions where ends_at <= ?", [$now]);
        }
    }

    public function find(string $id, int $now): ?string
    {
        $sql = "select user_id from {$this->prefix}sessions where id = ? and client = ? and ends_at > ?";
        $userId = $this->database->value($sql, [$id, $this->client, $now]);
        return $userId === null ? null : (string) $userId;
    }

    public function end(string $id): void
    {
        $this->delete('id', $id);
    }

    public function endLogin(string $sid): void
    {
        $this->delete('sid', $sid);
    }

    public function endPerson(string $userId): void
    {
        $this->delete('user_id', $userId);
    }

    public function endAll(): void
    {
        $this->delete('client', $this->client);
    }

    public function lastRead(): ?int
    {
        $at = $this->database->value("select turn_at from {$this->prefix}turns where client = ?", [$this->client]);
        return $at === null ? null : (int) $at;
    }

    public function noteRead(int $at): void
    {
        $insert = Tables::insertNew($this->database, "{$this->prefix}turns (client, turn_at) values (?, ?)");
        if ($this->database->execute($insert, [$this->client, $at]) !== 1) {
            $this->database->execute("update {$this->prefix}turns set turn_at = ? where client = ?", [$at, $this->client]);
        }
    }

    private function delete(string $column, string $value): void
    {
        $this->database->execute(
            "delete from {$this->prefix}sessions where $column = ? and client = ?",
            [$value, $this->client],
        );
    }
}
