<?php

declare(strict_types=1);

namespace Identity;

/** A cache of profiles. The originals are at the identity service. */
interface ProfileStore
{
    /** Whether `apply` would keep this profile now. */
    public function isNewer(Profile $profile): bool;

    /** Keeps a profile if it is later than the kept profile. Returns whether it was kept. */
    public function apply(Profile $profile): bool;

    public function find(string $id): ?Profile;

    /** Deletes a person who no longer exists. A profile that is still on its way must not bring them back. */
    public function remove(string $id): void;

    /** Deletes everybody. It is called if events must start over. */
    public function clear(): void;
}
