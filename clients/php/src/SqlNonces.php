<?php

declare(strict_types=1);

namespace Identity;

/**
 * Keeps nonces in a table. If several requests use one nonce at once, a unique index lets only one of them insert it. Do not
 * use this store inside your own transaction, because after a rollback the nonce could be used again.
 */
final class SqlNonces implements NonceStore
{
    /** Each row is kept for this much longer than needed, in case clocks are wrong. */
    public const MARGIN_SECONDS = 600;

    /** @param string $prefix begins the names of the tables, as given to Tables */
    public function __construct(private readonly Database $database, private readonly string $prefix = 'identity_')
    {
    }

    public function consume(string $nonce, int $keepUntil): bool
    {
        $isNew = $this->insert("nonce $nonce", $keepUntil);
        if ($isNew && random_int(1, 100) === 1) {
            $this->sweep();
        }
        return $isNew;
    }

    public function addEnded(string $sid, int $keepUntil): void
    {
        $this->insert("sid $sid", $keepUntil);
    }

    public function hasEnded(string $sid): bool
    {
        $sql = "select keep_until from {$this->prefix}used where name = ?";
        return $this->database->value($sql, ["sid $sid"]) !== null;
    }

    /** Deletes rows that are no longer needed. `consume` calls this now and then. */
    public function sweep(): void
    {
        $this->database->execute(
            "delete from {$this->prefix}used where keep_until < ?",
            [time() - self::MARGIN_SECONDS],
        );
    }

    private function insert(string $name, int $keepUntil): bool
    {
        $values = "{$this->prefix}used (name, keep_until) values (?, ?)";
        return $this->database->execute(Tables::insertNew($this->database, $values), [$name, $keepUntil]) === 1;
    }
}
