<?php

declare(strict_types=1);

namespace Identity;

/** In a table, by one statement, so that of a hand-off and an event at once the newer profile stays. */
final readonly class SqlProfiles implements ProfileStore
{
    public function __construct(private Database $database, private string $prefix = 'identity_')
    {
    }

    public function apply(Profile $profile): bool
    {
        $table = "{$this->prefix}profiles";
        $insert = "insert into $table (id, updated_at, profile) values (?, ?, ?)";
        // MySQL assigns from left to right, so `updated_at` is the old one until the end.
        $sql = $this->database->dialect() === 'mysql'
            ? "$insert on duplicate key update
                profile = if(values(updated_at) > updated_at, values(profile), profile),
                updated_at = greatest(updated_at, values(updated_at))"
            : "$insert on conflict (id) do update set profile = excluded.profile, updated_at = excluded.updated_at
                where excluded.updated_at > $table.updated_at";
        return $this->database->execute($sql, [$profile->id, $profile->updatedAt, $profile->toJson()]) > 0;
    }

    public function find(string $id): ?Profile
    {
        $json = $this->database->value("select profile from {$this->prefix}profiles where id = ?", [$id]);
        return $json === null ? null : Profile::fromJson((string) $json);
    }

    public function remove(string $id): void
    {
        $this->database->execute("delete from {$this->prefix}profiles where id = ?", [$id]);
    }

    public function clear(): void
    {
        $this->database->execute("delete from {$this->prefix}profiles");
    }
}
