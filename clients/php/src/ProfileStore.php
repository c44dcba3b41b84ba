<?php

declare(strict_types=1);

namespace Identity;

/** A cache of profiles. The identity service has the truth. */
interface ProfileStore
{
    /** Whether `apply` would keep this profile now. */
    public function isNewer(Profile $profile): bool;

    /** Keeps a profile if it is later than the kept one. True if it was kept. */
    public function apply(Profile $profile): bool;

    public function find(string $id): ?Profile;

    /** Forgets a person who was deleted. No profile that is still on its way brings them back. */
    public function remove(string $id): void;

    /** Forgets everybody, if events must start over. */
    public function clear(): void;
}
