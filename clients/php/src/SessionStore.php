<?php

declare(strict_types=1);

namespace Identity;

/**
 * Keeps the sessions of one client. All servers of a site share one store. The store never sees the value of a cookie, only
 * its SHA-256. Each call throws if the store does not answer.
 */
interface SessionStore
{
    /**
     * Keeps a new session.
     *
     * @param string $id 64 hex digits
     * @param string|null $sid names the login at the identity service
     * @param int $endsAt Unix seconds
     */
    public function start(string $id, ?string $sid, string $userId, int $endsAt, int $now): void;

    /** The id of the person whose session this is. Null if the session has ended. */
    public function find(string $id, int $now): ?string;

    public function end(string $id): void;

    /** Ends the sessions of a login. */
    public function endLogin(string $sid): void;

    /** Ends the sessions of a person. */
    public function endPerson(string $userId): void;

    public function endAll(): void;

    /** When events were last read (Unix seconds). Null if they were never read. */
    public function lastRead(): ?int;

    public function noteRead(int $at): void;
}
