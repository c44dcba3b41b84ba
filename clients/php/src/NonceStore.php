<?php

declare(strict_types=1);

namespace Identity;

/**
 * Remembers what must work only once: nonces of hand-offs, and logins that have ended. All servers of a site share one.
 * Whatever it throws but a Refusal is 503 `store_unavailable`, and nobody is let in.
 */
interface NonceStore
{
    /**
     * Uses a nonce up: true for the first who asks, and false for each other, also of several at once. It must be kept
     * until that time (Unix seconds) and ten minutes more, in case clocks are wrong.
     */
    public function consume(string $nonce, int $keepUntil): bool;

    /** Remembers for as long that the login with this sid has ended. */
    public function addEnded(string $sid, int $keepUntil): void;

    public function hasEnded(string $sid): bool;
}
