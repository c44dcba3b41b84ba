<?php

declare(strict_types=1);

namespace Identity;

/**
 * Keeps nonces in a table with a unique index, so that only one of several requests gets through. Do not use it inside your own
 * transaction: after a rollback the nonce could be used again.
 */
final class SqlNonces implements NonceStore
{
    /** Nothing is forgotten earlier than this, in case clocks are wrong. */
    public const MARGIN_SECONDS = 600;

    /** @param string $prefix of the names of tables, as given to Tables */
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

    /** Deletes what need not be kept any longer. `consume` does this now and then. */
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
