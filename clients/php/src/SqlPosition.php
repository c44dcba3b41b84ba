<?php

declare(strict_types=1);

namespace Identity;

/**
 * Keeps the position in a row. A process claims the row for a minute at a time. If the process is killed, another process
 * goes on after that minute.
 */
final class SqlPosition implements EventPosition
{
    private const CLAIM_SECONDS = 60;

    private readonly string $claimer;

    public function __construct(
        private readonly Database $database,
        private readonly string $client,
        private readonly string $prefix = 'identity_',
    ) {
        $this->claimer = bin2hex(random_bytes(16));
    }

    public function claim(): ?int
    {
        $values = "{$this->prefix}positions (client, last_seq, claimed_by, claimed_until) values (?, 0, '', 0)";
        $this->database->execute(Tables::insertNew($this->database, $values), [$this->client]);
        $claimed = $this->database->execute(
            "update {$this->prefix}positions set claimed_by = ?, claimed_until = ? where client = ? and claimed_until < ?",
            [$this->claimer, time() + self::CLAIM_SECONDS, $this->client, time()],
        );
        if ($claimed === 0) {
            return null;
        }
        $sql = "select last_seq from {$this->prefix}positions where client = ?";
        return (int) $this->database->value($sql, [$this->client]);
    }

    public function advance(int $position): void
    {
        $advanced = $this->database->execute(
            "update {$this->prefix}positions set last_seq = ?, claimed_until = ? where client = ? and claimed_by = ?",
            [$position, time() + self::CLAIM_SECONDS, $this->client, $this->claimer],
        );
        if ($advanced === 0) {
            throw new \RuntimeException('another process reads events now');
        }
    }

    public function release(): void
    {
        $this->database->execute(
            "update {$this->prefix}positions set claimed_by = '', claimed_until = 0 where client = ? and claimed_by = ?",
            [$this->client, $this->claimer],
        );
    }
}
