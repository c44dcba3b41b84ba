<?php

declare(strict_types=1);

namespace Identity;

/** Logs people in with the identity service, and hears of changes. README.md starts with an example. */
final class Client
{
    private const MAX_MAX_AGE = 2_592_000;

    private readonly Attempts $attempts;
    private readonly \Closure $clock;

    /** @param (callable(): int)|null $clock Unix seconds */
    public function __construct(
        private readonly Configuration $configuration,
        private readonly Http $http = new SystemHttp(),
        ?callable $clock = null,
    ) {
        $this->attempts = new Attempts($configuration);
        $this->clock = ($clock ?? time(...))(...);
    }

    /**
     * Answers the login start: sends the browser to the identity service.
     *
     * @param string|null $returnTo where to go after the login: a path on your site. Anything else is left out.
     * @param string|null $prompt `login` asks for a credential again; `none` shows no page
     * @param int|null $maxAge asks for a credential again if the last one was given more than this many seconds ago
     */
    public function startLogin(
        Request $request,
        ?string $returnTo = null,
        ?string $prompt = null,
        ?int $maxAge = null,
    ): Response {
        if (!in_array($prompt, [null, 'login', 'none'], true)) {
            throw new \InvalidArgumentException('prompt must be login or none');
        }
        if ($maxAge !== null && ($maxAge < 0 || $maxAge > self::MAX_MAX_AGE)) {
            throw new \InvalidArgumentException('maxAge must be from 0 to ' . self::MAX_MAX_AGE);
        }
        if ($refused = $this->refuseMethod($request, $this->log(...))) {
            return $refused;
        }
        $this->logElsewhere(Elsewhere::findHost($this->configuration, $request));
        $demand = $prompt === 'login' ? 0 : $maxAge;
        [$state, $cookies] = $this->attempts->start($request, $demand, ($this->clock)());
        $url = Query::append("{$this->configuration->baseUrl}/sso/launch/{$this->configuration->client}", [
            'state' => $state,
            'return_to' => $returnTo !== null && ReturnTo::isRight($returnTo) ? $returnTo : null,
            'prompt' => $prompt,
            'max_age' => $maxAge,
        ]);
        return Response::unkept(303, ['Location' => $url], $cookies);
    }

    /**
     * Answers the callback: starts a session for a genuine hand-off that this browser asked for, and refuses any other.
     *
     * @param callable(HandOff): (list<string>|null) $startSession starts a session of your own, with a new id. It may
     *     return `Set-Cookie` values, and throws `new Refusal('person_refused')` if you do not let the person in.
     * @param callable(string): void $endSession ends the sessions with that sid: a login can end while you start its
     *     session
     * @param (callable(): bool)|null $isLoggedIn whether somebody is logged in at your site
     * @param (callable(Refusal): ?Response)|null $onError your own answer if the service has no hand-off for a login
     *     that this browser asked for: with `prompt=none`. Null for the usual page.
     * @param (callable(Refusal): void)|null $log hears of each refusal; by default PHP's own error log does
     */
    public function handleCallback(
        Request $request,
        callable $startSession,
        callable $endSession,
        ?callable $isLoggedIn = null,
        ?callable $onError = null,
        ?callable $log = null,
    ): Response {
        $log ??= $this->log(...);
        if ($refused = $this->refuseMethod($request, $log)) {
            return $refused;
        }
        $this->logElsewhere(Elsewhere::findPath($this->configuration, $request));
        $callback = new Callback($this->configuration, $request, ($this->clock)());
        return $callback->answer($startSession, $endSession, $isLoggedIn, $onError, $log);
    }

    /**
     * Checks whether a hand-off is genuine, for this client, and at the right time. Uses nothing up. Throws a Refusal.
     * `handleCallback` does this, and everything else that is needed before a session starts.
     *
     * @param string $query as it arrived
     */
    public function verifyHandOff(string $query, int $now): HandOff
    {
        return Verifier::verify($this->configuration, $query, $now);
    }

    /**
     * The address that logs a browser out of the identity service, too. It leads back to the path `$returnTo` on your site.
     * Anything else is left out.
     */
    public function logoutUrl(string $returnTo = '/'): string
    {
        return Query::append("{$this->configuration->baseUrl}/logout", [
            'client' => $this->configuration->client,
            'return_to' => ReturnTo::isRight($returnTo) ? $returnTo : null,
        ]);
    }

    /**
     * Answers a nudge. Send the answer. If its status is 204, pull events after that.
     *
     * @param (callable(Refusal): void)|null $log as for the callback
     */
    public function receiveNudge(Request $request, ?callable $log = null): Response
    {
        try {
            if ($request->method !== 'POST') {
                throw new Refusal('method_not_allowed');
            }
            (new Nudges($this->configuration))->verify($request, ($this->clock)());
            return Response::unkept(204);
        } catch (Refusal $refusal) {
            ($log ?? $this->log(...))($refusal);
            $headers = ['Content-Type' => 'text/plain; charset=utf-8', 'X-Content-Type-Options' => 'nosniff'];
            $allow = $refusal->refusalCode === 'method_not_allowed' ? ['Allow' => 'POST'] : [];
            return Response::unkept($refusal->status, $headers + $allow + $refusal->headers(), [], "$refusal->refusalCode\n");
        }
    }

    /**
     * Reads events in order until there are no more. It remembers by itself which logins have ended.
     *
     * @param callable(Event, bool): void $apply does what the event says. If it threw or stopped, the event comes again.
     *     The second value says whether the profile of the event is later than the one in `$profiles`.
     * @param callable(): void $startOver ends all your sessions and forgets the people that you keep: you have not read
     *     for too long, or the service was restored from a backup
     * @param ProfileStore|null $profiles is kept up to date
     * @return bool false if another process is still at it
     */
    public function pullEvents(
        EventPosition $position,
        callable $apply,
        callable $startOver,
        ?ProfileStore $profiles = null,
    ): bool {
        return (new EventReader($this->configuration, $this->http, $profiles))->pull($position, $apply, $startOver);
    }

    /** What to answer to a request that is no plain GET. */
    private function refuseMethod(Request $request, callable $log): ?Response
    {
        if ($request->isSpeculative()) {
            return Response::unkept(204);
        }
        if ($request->method === 'GET') {
            return null;
        }
        $refusal = new Refusal('method_not_allowed');
        $log($refusal);
        return RefusalPage::build($refusal, $this->configuration);
    }

    private function logElsewhere(?string $reason): void
    {
        if ($reason !== null) {
            error_log("identity-client: opened_elsewhere, launch unknown: $reason");
        }
    }

    private function log(Refusal $refusal): void
    {
        error_log($refusal->describe($this->configuration->baseUrl));
    }
}
