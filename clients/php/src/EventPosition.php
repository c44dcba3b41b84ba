<?php

declare(strict_types=1);

namespace Identity;

/** How far events were applied. One process at a time holds it, so that events are applied in order. */
interface EventPosition
{
    /** Returns the number of the last applied event, or 0 at first. Null while another process holds the position. */
    public function claim(): ?int;

    /** Stores a number and keeps the position. Throws if another process has taken over. */
    public function advance(int $position): void;

    public function release(): void;
}
