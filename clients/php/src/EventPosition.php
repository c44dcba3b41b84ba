<?php

declare(strict_types=1);

namespace Identity;

/**
 * How far events were applied. One process at a time holds it, so that none applies an event after another has applied a
 * later one.
 */
interface EventPosition
{
    /** The number of the last event that was applied, 0 at first; or null while another process holds it. */
    public function claim(): ?int;

    /** Stores a number, and holds it on. Throws where another process has taken over. */
    public function advance(int $position): void;

    public function release(): void;
}
