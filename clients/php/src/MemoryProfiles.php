<?php

declare(strict_types=1);

namespace Identity;

/** For tests, and for one process that serves all requests. */
final class MemoryProfiles implements ProfileStore
{
    /** @var array<string, ?Profile> null for a person who was deleted */
    private array $profiles = [];

    public function isNewer(Profile $profile): bool
    {
        $known = $this->profiles[$profile->id] ?? null;
        return $known === null ? !array_key_exists($profile->id, $this->profiles)
            : strcmp($profile->updatedAt, $known->updatedAt) > 0;
    }

    public function apply(Profile $profile): bool
    {
        if (!$this->isNewer($profile)) {
            return false;
        }
        $this->profiles[$profile->id] = $profile;
        return true;
    }

    public function find(string $id): ?Profile
    {
        return $this->profiles[$id] ?? null;
    }

    public function remove(string $id): void
    {
        $this->profiles[$id] = null;
    }

    public function clear(): void
    {
        $this->profiles = [];
    }
}
