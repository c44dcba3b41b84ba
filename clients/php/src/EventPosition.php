<?php

declare(strict_types=1);

namespace Identity;

/** How far events were applied. Only one process holds the position at a time, so that events are applied in order. */
interface EventPosition
{
    /**
     * Claims the position. Returns the number of the last applied event, or 0 at first. Null while another process holds the
     * position.
     */
    public function claim(): ?int;

    /** Stores a number, and goes on holding the position. Throws if another process has taken over. */
    public function advance(int $position): void;

    public function release(): void;
}
