<?php

declare(strict_types=1);

namespace Identity;

/** Pulls events in order until there are no more. */
final class EventReader
{
    private const LIMIT = 1000;
    private const CLAIM_WITHIN_SECONDS = 3;
    private const PAGE_WITHIN_SECONDS = 30;

    public function __construct(
        private readonly Configuration $configuration,
        private readonly Http $http,
        private readonly ?ProfileStore $profiles = null,
        private readonly ?SessionStore $sessions = null,
    ) {
    }

    /**
     * @param callable(Event, bool): void $apply
     * @param callable(): void $startOver
     * @param float|null $until when to stop and leave the rest for the next read, in Unix seconds
     * @return bool false if another process is reading, or if some events are left
     */
    public function pull(EventPosition $position, callable $apply, callable $startOver, ?float $until = null): bool
    {
        $after = $until === null ? $this->claim($position) : $position->claim();
        if ($after === null) {
            return false;
        }
        try {
            return $this->pullAll($after, $position, $apply, $startOver, $until);
        } finally {
            $position->release();
        }
    }

    /**
     * Waits for the process that is reading. Its read may have begun before the newest event came, so this process still has to
     * read.
     */
    private function claim(EventPosition $position): ?int
    {
        $until = microtime(true) + self::CLAIM_WITHIN_SECONDS;
        while (($after = $position->claim()) === null && microtime(true) < $until) {
            usleep(100_000);
        }
        return $after;
    }

    private function pullAll(
        int $after,
        EventPosition $position,
        callable $apply,
        callable $startOver,
        ?float $until,
    ): bool {
        // Reads until a page is empty. The request for that page tells the service that all events were read.
        for (;;) {
            $answer = $this->ask($after, $until);
            if ($answer->status === 410) {
                $next = self::parse($answer->body)->integer('oldest') - 1;
                if ($next === $after || $next < 0) {
                    throw new \RuntimeException('the identity service says to go on from where this was');
                }
                $this->sessions?->endAll();
                $startOver();
                $this->profiles?->clear();
                $position->advance($after = $next);
                continue;
            }
            if ($answer->status === 401) {
                throw new \RuntimeException('the identity service answered 401 to a read of events: compare the secret and '
                    . "the client's name with the operator's (invalid_token)");
            }
            if ($answer->status !== 200) {
                throw new \RuntimeException("the identity service answered $answer->status to a read of events");
            }
            $events = self::parse($answer->body)->list('events');
            if ($events === []) {
                return true;
            }
            foreach ($events as $wire) {
                if ($until !== null && microtime(true) > $until) {
                    return false;
                }
                $event = Event::read($wire);
                if ($event->seq !== $after + 1) {
                    throw new \RuntimeException("event $event->seq came behind event $after");
                }
                $this->apply($event, $apply);
                $position->advance($after = $event->seq);
            }
        }
    }

    private function apply(Event $event, callable $apply): void
    {
        if ($event->sid !== null) {
            // The end of the login is kept first. A hand-off of this login that is on its way is then refused.
            $keepUntil = time() + $this->configuration->ttlSeconds + 60;
            $this->configuration->nonces->addEnded($event->sid, $keepUntil);
            $this->sessions?->endLogin($event->sid);
        }
        if (in_array($event->type, ['user.suspended', 'user.deleted'], true) && $event->userId !== null) {
            $this->sessions?->endPerson($event->userId);
        }
        if ($event->type === 'user.deleted' && $event->userId !== null) {
            $this->profiles?->remove($event->userId);
        }
        $isNewer = $event->profile !== null && $this->profiles?->isNewer($event->profile) === true;
        $apply($event, $isNewer);
        if ($isNewer) {
            // The profile is kept last. If $apply throws, the event comes again, and its profile must then still count as
            // newer. If a callback has kept a later profile since, that profile stays.
            $this->profiles->apply($event->profile);
        }
    }

    /** Tries each secret. During a rotation, the service may have only one of the two secrets. */
    private function ask(int $after, ?float $until): HttpAnswer
    {
        $our = $this->configuration;
        $http = $this->http;
        $url = Query::append("$our->baseUrl/sso/events", ['after' => $after, 'limit' => self::LIMIT]);
        $pageUntil = min($until ?? INF, microtime(true) + self::PAGE_WITHIN_SECONDS);
        foreach ($our->secrets as $secret) {
            $token = hash_hmac('sha256', "identity events v1 $our->client", $secret);
            if ($http instanceof SystemHttp) {
                $http = $http->within($pageUntil - microtime(true));
            }
            $answer = $http->get($url, ['Authorization' => "Bearer $token", 'Accept' => 'application/json']);
            if (strlen($answer->body) > HttpAnswer::MAX_BYTES) {
                throw new \RuntimeException('the identity service sent a page of events that is longer than 8 MiB');
            }
            if ($answer->status !== 401) {
                break;
            }
        }
        return $answer;
    }

    private static function parse(string $body): Members
    {
        return new Members(json_decode($body, false, 64, JSON_THROW_ON_ERROR));
    }
}
