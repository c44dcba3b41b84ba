<?php

declare(strict_types=1);

namespace Identity;

/** For tests, and for one process that serves all requests. */
final class MemoryPosition implements EventPosition
{
    private bool $isClaimed = false;

    public function __construct(private int $position = 0)
    {
    }

    public function claim(): ?int
    {
        if ($this->isClaimed) {
            return null;
        }
        $this->isClaimed = true;
        return $this->position;
    }

    public function advance(int $position): void
    {
        $this->position = $position;
    }

    public function release(): void
    {
        $this->isClaimed = false;
    }
}
