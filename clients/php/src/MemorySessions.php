<?php

declare(strict_types=1);

namespace Identity;

/** For tests, and for one process that serves all requests. */
final class MemorySessions implements SessionStore
{
    /** @var array<string, array{?string, string, int}> sid, person and end */
    private array $sessions = [];
    private ?int $lastRead = null;

    public function start(string $id, ?string $sid, string $userId, int $endsAt, int $now): void
    {
        $this->keep(static fn(array $session) => $session[2] > $now);
        $this->sessions[$id] = [$sid, $userId, $endsAt];
    }

    public function find(string $id, int $now): ?string
    {
        [, $userId, $endsAt] = $this->sessions[$id] ?? [null, null, 0];
        return $endsAt > $now ? $userId : null;
    }

    public function end(string $id): void
    {
        unset($this->sessions[$id]);
    }

    public function endLogin(string $sid): void
    {
        $this->keep(static fn(array $session) => $session[0] !== $sid);
    }

    public function endPerson(string $userId): void
    {
        $this->keep(static fn(array $session) => $session[1] !== $userId);
    }

    public function endAll(): void
    {
        $this->sessions = [];
    }

    public function lastRead(): ?int
    {
        return $this->lastRead;
    }

    public function noteRead(int $at): void
    {
        $this->lastRead = $at;
    }

    private function keep(callable $isKept): void
    {
        $this->sessions = array_filter($this->sessions, $isKept);
    }
}
