<?php

declare(strict_types=1);

namespace Identity;

/** One login that this browser has started. */
final readonly class Attempt
{
    public function __construct(public int $startedAt, public ?int $maxAge)
    {
    }

    /** Whether the person gave a credential as lately as was asked for. A hand-off is none, so it has no time of one. */
    public function isMetBy(HandOff $handOff): bool
    {
        return $this->maxAge === null
            || ($handOff->authTime !== null
                && $handOff->authTime >= $this->startedAt - $this->maxAge - Verifier::LEEWAY_SECONDS);
    }
}
