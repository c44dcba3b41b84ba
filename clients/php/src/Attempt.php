<?php

declare(strict_types=1);

namespace Identity;

/** One login that this browser has started. */
final class Attempt
{
    public function __construct(public readonly int $startedAt, public readonly ?int $maxAge)
    {
    }

    /** Whether the person gave a credential recently enough. A session that a hand-off started has no `$authTime`. */
    public function isMetBy(HandOff $handOff): bool
    {
        return $this->maxAge === null
            || ($handOff->authTime !== null
                && $handOff->authTime >= $this->startedAt - $this->maxAge - Verifier::LEEWAY_SECONDS);
    }
}
