<?php

declare(strict_types=1);

namespace Identity;

/** For tests, and for one process that serves all requests. Most PHP processes forget everything after each request. */
final class MemoryNonces implements NonceStore
{
    /** @var array<string, int> */
    private array $keepUntil = [];
    private readonly \Closure $clock;

    /** @param (callable(): int)|null $clock Unix seconds */
    public function __construct(?callable $clock = null)
    {
        $this->clock = ($clock ?? time(...))(...);
    }

    public function consume(string $nonce, int $keepUntil): bool
    {
        $this->sweep();
        $isNew = !isset($this->keepUntil["nonce $nonce"]);
        $this->keepUntil["nonce $nonce"] ??= $keepUntil;
        return $isNew;
    }

    public function addEnded(string $sid, int $keepUntil): void
    {
        $this->keepUntil["sid $sid"] ??= $keepUntil;
    }

    public function hasEnded(string $sid): bool
    {
        return isset($this->keepUntil["sid $sid"]);
    }

    private function sweep(): void
    {
        $past = ($this->clock)() - SqlNonces::MARGIN_SECONDS;
        $this->keepUntil = array_filter($this->keepUntil, static fn(int $until) => $until >= $past);
    }
}
