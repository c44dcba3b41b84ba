<?php

declare(strict_types=1);

namespace Identity;

/** Logs people in with the identity service, and reads what has changed about them. README.md starts with an example. */
final class Client
{
    private const MAX_MAX_AGE = 2_592_000;
    /** If the last read of events is older than this, `currentPerson` reads events before it returns. */
    private const READ_AFTER_SECONDS = 60;
    private const READ_WITHIN_SECONDS = 2;
    /** After a read that failed or was late, requests do not wait for the next read until this time has passed. */
    private const READ_AGAIN_SECONDS = 10;

    private readonly Attempts $attempts;
    private readonly Silence $silence;
    private readonly \Closure $clock;
    private readonly \Closure $apply;
    private readonly \Closure $startOver;
    private readonly \Closure $onLogin;

    /**
     * @param (callable(): int)|null $clock Unix seconds
     * @param Stores|null $stores where the kit keeps sessions and profiles. Null if you keep them yourself.
     * @param (callable(Event, bool): void)|null $apply with stores: does more with an event, as in `pullEvents`
     * @param (callable(): void)|null $startOver with stores: deletes what you keep elsewhere, as in `pullEvents`
     * @param (callable(HandOff): void)|null $onLogin with stores: is called at each login, before the session starts. Throws
     *     `new Refusal('person_refused')` if you do not let the person in.
     */
    public function __construct(
        private readonly Configuration $configuration,
        private readonly Http $http = new SystemHttp(),
        ?callable $clock = null,
        private readonly ?Stores $stores = null,
        ?callable $apply = null,
        ?callable $startOver = null,
        ?callable $onLogin = null,
    ) {
        $this->attempts = new Attempts($configuration);
        $this->silence = new Silence($configuration);
        $this->clock = ($clock ?? time(...))(...);
        $this->apply = ($apply ?? static fn() => null)(...);
        $this->startOver = ($startOver ?? static fn() => null)(...);
        $this->onLogin = ($onLogin ?? static fn() => null)(...);
    }

    /**
     * A client that keeps everything in a database, including its sessions. `Tables` creates the tables.
     *
     * @param string $identityUrl such as `https://shop:SECRET@id.example.com`
     * @param string $origin scheme, host and port of your site
     * @param string $prefix begins the names of the tables, as given to Tables. Two clients in one database need different
     *     prefixes.
     * @param string|int ...$more further parameters of Configuration, by their names
     */
    public static function fromUrl(
        #[\SensitiveParameter] string $identityUrl,
        string $origin,
        Database $database,
        ?callable $apply = null,
        ?callable $startOver = null,
        ?callable $onLogin = null,
        string $prefix = 'identity_',
        string|int ...$more,
    ): self {
        $configuration = Configuration::fromUrl($identityUrl, $origin, new SqlNonces($database, $prefix), ...$more);
        $stores = Stores::inDatabase($database, $configuration->client, $prefix);
        return new self($configuration, stores: $stores, apply: $apply, startOver: $startOver, onLogin: $onLogin);
    }

    /**
     * Answers the login start, the callback, nudges and the log-out. Null for any other page.
     *
     * @param string $eventsPath where the service sends nudges
     */
    public function answer(
        Request $request,
        string $eventsPath = '/sso/events',
        string $logoutPath = '/logout',
    ): ?Response {
        $path = static fn(string $url) => parse_url($url, PHP_URL_PATH) ?? '/';
        return match ($request->path) {
            $path($this->configuration->loginUrl) => $this->startLogin($request, $request->parameter('return_to')),
            $path($this->configuration->callbackUrl) => $this->handleCallback($request),
            $eventsPath => $this->answerNudge($request),
            $logoutPath => $this->endSession($request),
            default => null,
        };
    }

    /**
     * Returns who is logged in, with the newest profile that the kit knows. Null if nobody is. If events were last read over
     * a minute ago, it reads them first, for two seconds at most. Throws the Refusal `store_unavailable` if a store does not
     * answer.
     */
    public function currentPerson(Request $request): ?Profile
    {
        $now = ($this->clock)();
        $sessions = $this->sessions();
        $userId = $sessions->find($request, $now);
        if ($userId !== null && $this->readEventsFirst($now)) {
            $userId = $sessions->find($request, $now);
        }
        return $userId === null ? null : $this->findPerson($userId);
    }

    /**
     * Returns who is logged in. If nobody is, returns the answer to send instead: a redirect to the login start, which leads
     * back to this page.
     */
    public function requireLogin(Request $request): Profile|Response
    {
        try {
            $person = $this->currentPerson($request);
        } catch (Refusal $refusal) {
            return $this->refuse($refusal);
        }
        $page = $request->page();
        $login = $this->configuration->loginUrl;
        return $person ?? Response::unkept(303, [
            'Location' => $page === null ? $login : Query::append($login, ['return_to' => $page]),
        ]);
    }

    /** The value of the field `token` in the form that logs out. Empty if this browser has no session. */
    public function logoutToken(Request $request): string
    {
        return $this->sessions()->logoutToken($request);
    }

    /**
     * Answers the form that logs out: ends the session, and leads to the log-out at the identity service.
     *
     * @param string $returnTo where the log-out leads in the end: a path on your site
     */
    public function endSession(Request $request, string $returnTo = '/'): Response
    {
        $sessions = $this->sessions();
        try {
            if ($request->method !== 'POST') {
                throw new Refusal('method_not_allowed', detail: 'The log-out takes POST only');
            }
            $token = $sessions->logoutToken($request);
            if ($token === '' || !hash_equals($token, (string) $request->field('token'))) {
                throw new Refusal('logout_token_wrong');
            }
            $sessions->end($sessions->read($request));
        } catch (Refusal $refusal) {
            $allow = $refusal->refusalCode === 'method_not_allowed' ? ['Allow' => 'POST'] : [];
            return $this->refuse($refusal)->with($allow);
        }
        $cookies = [$sessions->endCookie(), ...$this->silence->end($request)];
        return Response::unkept(303, ['Location' => $this->logoutUrl($returnTo)], $cookies);
    }

    /**
     * Asks the identity service whether this browser is logged in there. The browser sees no page of the service, and comes
     * back to this page. Null if somebody is logged in here, if the same was tried in the last ten minutes, or if a login
     * cannot lead back to this page. If a store does not answer, the answer is 503.
     */
    public function loginSilently(Request $request): ?Response
    {
        $page = $this->silence->findPage($request);
        $state = $page === null ? null : Attempts::drawSilent($page);
        try {
            if ($state === null || ($this->stores !== null && $this->currentPerson($request) !== null)) {
                return null;
            }
        } catch (Refusal $refusal) {
            return $this->refuse($refusal);
        }
        [, $cookies] = $this->attempts->start($request, null, ($this->clock)(), $state);
        $launch = ['state' => $state, 'return_to' => $page, 'prompt' => 'none'];
        return $this->launch($launch, [...$cookies, $this->silence->start()]);
    }

    /** Keeps a profile if it is later than the kept profile. Returns whether it was kept. */
    public function applyProfile(Profile $profile): bool
    {
        $profiles = $this->stores()->profiles;
        return Stores::ask(static fn() => $profiles->apply($profile));
    }

    /** The kept profile of a person. Null if they were deleted, or were never here. */
    public function findPerson(string $id): ?Profile
    {
        $profiles = $this->stores()->profiles;
        return Stores::ask(static fn() => $profiles->find($id));
    }

    /** Returns the page for a refusal that the kit has thrown, and logs the refusal. */
    public function refuse(Refusal $refusal): Response
    {
        $this->log($refusal);
        return RefusalPage::build($refusal, $this->configuration);
    }

    /**
     * Answers the login start: sends the browser to the identity service.
     *
     * @param string|null $returnTo where to go after the login: a path on your site. Any other value is ignored.
     * @param string|null $prompt `login` asks for a credential again; `none` shows no page
     * @param int|null $maxAge if the last credential is older than this many seconds, asks for one again
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
        return $this->launch([
            'state' => $state,
            'return_to' => $returnTo !== null && ReturnTo::isRight($returnTo) ? $returnTo : null,
            'prompt' => $prompt,
            'max_age' => $maxAge,
        ], $cookies);
    }

    /**
     * Answers the callback: starts a session for a genuine hand-off that this browser asked for, and refuses any other. With
     * stores, `$request` is enough.
     *
     * @param (callable(HandOff): (list<string>|null))|null $startSession starts a session of your own, with a new id. It may
     *     return `Set-Cookie` values, and throws `new Refusal('person_refused')` if you do not let the person in.
     * @param (callable(string): void)|null $endSession ends the sessions with this sid. It is needed because a login can end
     *     while you start its session
     * @param (callable(): bool)|null $isLoggedIn whether somebody is logged in at your site
     * @param (callable(Refusal): ?Response)|null $onError your own answer if the service sent an error for a login of this
     *     browser, for example after `prompt=none`. Null for the usual page.
     * @param (callable(Refusal): void)|null $log gets each refusal. By default, PHP's own error log gets them
     */
    public function handleCallback(
        Request $request,
        ?callable $startSession = null,
        ?callable $endSession = null,
        ?callable $isLoggedIn = null,
        ?callable $onError = null,
        ?callable $log = null,
    ): Response {
        $log ??= $this->log(...);
        if ($refused = $this->refuseMethod($request, $log)) {
            return $refused;
        }
        $this->logElsewhere(Elsewhere::findPath($this->configuration, $request));
        $now = ($this->clock)();
        $finish = fn() => $this->silence->end($request);
        if ($startSession === null) {
            $sessions = $this->sessions();
            $secret = Sessions::draw();
            $startSession = function (HandOff $handOff) use ($sessions, $secret, $now): array {
                ($this->onLogin)($handOff);
                return $sessions->start($secret, $handOff, $now);
            };
            $endSession = static fn() => $sessions->end($secret);
            $isLoggedIn ??= static fn() => $sessions->find($request, $now) !== null;
            $finish = function () use ($sessions, $request): array {
                // The earlier session ends last. If a store fails before that, the browser still has that session.
                $sessions->end($sessions->read($request));
                return $this->silence->end($request);
            };
        } elseif ($endSession === null) {
            throw new \LogicException('startSession needs endSession');
        }
        $callback = new Callback($this->configuration, $request, $now);
        return $callback->answer($startSession, $endSession, $finish, $isLoggedIn, $onError, $log);
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
     * The URL that logs a browser out of the identity service, too. From there, the browser goes to the path `$returnTo` on
     * your site. Any other value is ignored.
     */
    public function logoutUrl(string $returnTo = '/'): string
    {
        return Query::append("{$this->configuration->baseUrl}/logout", [
            'client' => $this->configuration->client,
            'return_to' => ReturnTo::isRight($returnTo) ? $returnTo : null,
        ]);
    }

    /**
     * Returns the answer to a nudge. Send it. If its status is 204, pull events next.
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
     * Reads events in order until there are no more. It always remembers which logins have ended. With stores, it needs no
     * parameter, and also ends sessions and keeps profiles.
     *
     * @param (callable(Event, bool): void)|null $apply does what the event says. If it throws, or the process is killed, the
     *     event comes again. The second value says whether the profile of the event is later than the one in `$profiles`.
     * @param (callable(): void)|null $startOver ends all your sessions and deletes the people that you keep. It is called if
     *     you have not read for too long, or if the service was restored from a backup
     * @param ProfileStore|null $profiles gets each newer profile
     * @return bool false if another process is still reading
     */
    public function pullEvents(
        ?EventPosition $position = null,
        ?callable $apply = null,
        ?callable $startOver = null,
        ?ProfileStore $profiles = null,
    ): bool {
        if ($position !== null && $apply !== null && $startOver !== null) {
            return (new EventReader($this->configuration, $this->http, $profiles))->pull($position, $apply, $startOver);
        }
        if ($position !== null || $apply !== null || $startOver !== null || $profiles !== null) {
            // Each event is read only one time, by pullEvents or by currentPerson. If currentPerson reads it, a function that
            // only pullEvents gets would miss it.
            throw new \LogicException('with stores, give apply and startOver to the Client, else pullEvents a position, too');
        }
        return $this->readEvents(null);
    }

    private function readEvents(?float $until): bool
    {
        $stores = $this->stores();
        $reader = new EventReader($this->configuration, $this->http, $stores->profiles, $stores->sessions);
        $isDone = $reader->pull($stores->position, $this->apply, $this->startOver, $until);
        if ($isDone) {
            $stores->sessions->noteRead(($this->clock)());
        }
        return $isDone;
    }

    /** Reads events if the last read is too old. If several requests come at once, one reads, and the others wait for it. */
    private function readEventsFirst(int $now): bool
    {
        if (!$this->isReadDue($now)) {
            return false;
        }
        $until = microtime(true) + self::READ_WITHIN_SECONDS;
        try {
            $isDone = $this->readEvents($until);
        } catch (\Throwable $error) {
            $this->logUnread($error);
            $until = 0;
            $isDone = false;
        }
        while (!$isDone && microtime(true) < $until) {
            usleep(50_000);
            $isDone = !$this->isReadDue($now);
        }
        if (!$isDone) {
            $sessions = $this->stores()->sessions;
            Stores::ask(static fn() => $sessions->noteRead($now - self::READ_AFTER_SECONDS + self::READ_AGAIN_SECONDS));
        }
        return true;
    }

    private function isReadDue(int $now): bool
    {
        $sessions = $this->stores()->sessions;
        $lastRead = Stores::ask(static fn() => $sessions->lastRead());
        // The last read may seem to be in the future, because the clock of another server may be ahead.
        return $lastRead === null || abs($now - $lastRead) >= self::READ_AFTER_SECONDS;
    }

    private function answerNudge(Request $request): Response
    {
        $answer = $this->receiveNudge($request);
        try {
            $answer->status === 204 && $this->pullEvents();
            return $answer;
        } catch (\Throwable $error) {
            // After a 503, the service sends the nudge again.
            $this->logUnread($error);
            return Response::unkept(503, ['Retry-After' => '1']);
        }
    }

    private function stores(): Stores
    {
        return $this->stores ?? throw new \LogicException('give the Client its stores, or keep sessions and profiles yourself');
    }

    private function sessions(): Sessions
    {
        return new Sessions($this->configuration, $this->stores());
    }

    /** @param array<string, string|int|null> $parameters @param list<string> $cookies `Set-Cookie` values */
    private function launch(array $parameters, array $cookies): Response
    {
        $url = Query::append("{$this->configuration->baseUrl}/sso/launch/{$this->configuration->client}", $parameters);
        return Response::unkept(303, ['Location' => $url], $cookies);
    }

    /** The answer to a request that is no plain GET. */
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

    private function logUnread(\Throwable $error): void
    {
        error_log(Refusal::flatten('identity-client: events_unread, launch unknown: ' . $error::class . ": {$error->getMessage()}"));
    }

    private function log(Refusal $refusal): void
    {
        error_log($refusal->describe($this->configuration->baseUrl));
    }
}
