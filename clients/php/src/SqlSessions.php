<?php

declare(strict_types=1);

namespace Identity;

/** Keeps sessions in a table. Each row says its client, so a session at one client is none at another that shares the table. */
final class SqlSessions implements SessionStore
{
    /** @param string $prefix of the names of tables, as given to Tables */
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

    public function takeTurn(int $now, int $seconds): bool
    {
        $table = "{$this->prefix}turns";
        $turnAt = $this->database->value("select turn_at from $table where client = ?", [$this->client]);
        if ($turnAt !== null && (int) $turnAt > $now - $seconds && (int) $turnAt <= $now) {
            return false;
        }
        if ($turnAt === null) {
            $insert = Tables::insertNew($this->database, "$table (client, turn_at) values (?, ?)");
            return $this->database->execute($insert, [$this->client, $now]) === 1;
        }
        $update = "update $table set turn_at = ? where client = ? and turn_at = ?";
        return $this->database->execute($update, [$now, $this->client, (int) $turnAt]) === 1;
    }

    private function delete(string $column, string $value): void
    {
        $this->database->execute(
            "delete from {$this->prefix}sessions where $column = ? and client = ?",
            [$value, $this->client],
        );
    }
}
