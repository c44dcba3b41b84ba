<?php

declare(strict_types=1);

namespace Identity;

/**
 * Keeps profiles in a table. It inserts first, and then updates only to a later profile. So if a hand-off and an event come at
 * once, the later profile stays.
 */
final class SqlProfiles implements ProfileStore
{
    /** The time in a deleted person's row, which has no profile. It is later than any profile. */
    private const NEVER = '9999-12-31T23:59:59.999Z';

    public function __construct(private readonly Database $database, private readonly string $prefix = 'identity_')
    {
    }

    public function isNewer(Profile $profile): bool
    {
        $sql = "select id from {$this->prefix}profiles where id = ? and updated_at >= ?";
        return $this->database->value($sql, [$profile->id, $profile->updatedAt]) === null;
    }

    public function apply(Profile $profile): bool
    {
        $values = [$profile->id, $profile->updatedAt, $profile->toJson()];
        $insert = Tables::insertNew($this->database, "{$this->prefix}profiles (id, updated_at, profile) values (?, ?, ?)");
        if ($this->database->execute($insert, $values) === 1) {
            return true;
        }
        $update = "update {$this->prefix}profiles set updated_at = ?, profile = ? where id = ? and updated_at < ?";
        $values = [$profile->updatedAt, $profile->toJson(), $profile->id, $profile->updatedAt];
        return $this->database->execute($update, $values) === 1;
    }

    public function find(string $id): ?Profile
    {
        $json = $this->database->value("select profile from {$this->prefix}profiles where id = ? and profile <> ''", [$id]);
        try {
            return $json === null ? null : Profile::fromJson((string) $json);
        } catch (Refusal $refusal) {
            // This is a fault of the store, and not of what the browser sent.
            throw new \RuntimeException("a kept profile cannot be read: $refusal->reason");
        }
    }

    public function remove(string $id): void
    {
        $insert = Tables::insertNew($this->database, "{$this->prefix}profiles (id, updated_at, profile) values (?, ?, '')");
        $this->database->execute($insert, [$id, self::NEVER]);
        $update = "update {$this->prefix}profiles set updated_at = ?, profile = '' where id = ?";
        $this->database->execute($update, [self::NEVER, $id]);
    }

    public function clear(): void
    {
        $this->database->execute("delete from {$this->prefix}profiles");
    }
}
