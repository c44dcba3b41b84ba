<?php

declare(strict_types=1);

namespace Identity;

/**
 * Keeps profiles in a table. It first inserts a row, and then updates the row only if the profile is later. So if a hand-off
 * and an event come at once, the later profile stays.
 */
final class SqlProfiles implements ProfileStore
{
    /** Stands for the time in the row of a deleted person, which has no profile. It is later than the time of any profile. */
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
            // The store is at fault, and not the browser's request, so this is no Refusal.
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
