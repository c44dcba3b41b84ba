<?php

declare(strict_types=1);

namespace Identity;

/**
 * Remembers what must work only once: nonces of hand-offs, and logins that have ended. All servers of a site share one store.
 * If the store throws anything but a Refusal, nobody is let in (503 `store_unavailable`).
 */
interface NonceStore
{
    /**
     * Uses a nonce up. Returns true to exactly one caller, even if several ask at once. Keep the nonce until `$keepUntil`
     * (Unix seconds) and for ten minutes more, in case clocks are wrong.
     */
    public function consume(string $nonce, int $keepUntil): bool;

    /** Remembers until `$keepUntil` that the login with this sid has ended. */
    public function addEnded(string $sid, int $keepUntil): void;

    public function hasEnded(string $sid): bool;
}
