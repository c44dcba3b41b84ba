<?php

declare(strict_types=1);

// A site that leaves its sessions to the kit, and a store that can fail.

use Identity\{Client, FakeIdentity, Http, HttpAnswer, MemorySessions, Profile, Request, Response, SessionStore, Stores};

const COOKIE = '__Host-shop_session';

/** A client whose sessions the kit keeps, with a service and a browser. */
final class Site
{
    public Client $client;
    public Browser $browser;
    /**
     * @var list<HttpAnswer> the service's answers to reads of events. After the last answer, the service answers that there are
     *     no events
     */
    public array $events = [];
    /** How often events were asked for. */
    public int $asked = 0;
    private FakeIdentity $fake;

    public function __construct(public Stores $stores, array $changes = [], mixed ...$hooks)
    {
        $http = new class ($this) implements Http {
            public function __construct(private Site $site)
            {
            }

            public function get(string $url, array $headers): HttpAnswer
            {
                $this->site->asked += 1;
                return array_shift($this->site->events) ?? page();
            }
        };
        $configuration = new Identity\Configuration(...$changes + [
            'issuer' => 'https://id.example.test',
            'client' => 'shop',
            'secrets' => [SECRET],
            'callbackUrl' => 'https://shop.example.test/sso/callback',
            'loginUrl' => 'https://shop.example.test/login',
            'nonces' => memoryNonces(),
        ]);
        $this->client = new Client($configuration, $http, fn() => Clock::$now, $stores, ...$hooks);
        $this->fake = new FakeIdentity($configuration, fn() => Clock::$now);
        $this->browser = new Browser();
    }

    /** Opens a page. Returns the site's answer, or a page that says who is logged in. */
    public function open(string $page, string $method = 'GET', string $body = '', array $headers = []): Response
    {
        [$path, $query] = explode('?', $page, 2) + [1 => ''];
        $answer = $this->client->answer($this->request($path, $query, $method, $body, $headers)) ?? new Response(200);
        return $answer->status === 200 ? $answer : $this->browser->keep($answer);
    }

    public function request(string $path = '/', string $query = '', string $method = 'GET', string $body = '', array $headers = []): Request
    {
        $cookies = $this->browser->request()->headers['cookie'];
        return new Request($method, $query, $headers + ['cookie' => $cookies], $body, $path);
    }

    /** Logs in, from the login start to the callback. @param array<string, mixed> $changes of the payload */
    public function logIn(array $changes = [], string $login = '/login'): Response
    {
        return $this->arrive((string) $this->open($login)->header('location'), $changes);
    }

    public function arrive(string $launch, array $changes = []): Response
    {
        return $this->open('/sso/callback?' . explode('?', $this->fake->handOff($launch, $changes))[1]);
    }

    public function person(): ?Profile
    {
        return $this->client->currentPerson($this->request());
    }

    public function logOut(?string $token = null): Response
    {
        $token ??= $this->client->logoutToken($this->request());
        return $this->open('/logout', 'POST', http_build_query(['token' => $token]));
    }
}

function memorySite(array $changes = [], mixed ...$hooks): Site
{
    Clock::$now = NOW;
    return new Site(Stores::inMemory(), $changes, ...$hooks);
}

/** A store that throws while it is set to fail. */
final class AwaySessions implements SessionStore
{
    public bool $isAway = false;

    public function __construct(private SessionStore $store = new MemorySessions())
    {
    }

    private function store(): SessionStore
    {
        return $this->isAway ? throw new RuntimeException('away') : $this->store;
    }

    public function start(string $id, ?string $sid, string $userId, int $endsAt, int $now): void
    {
        $this->store()->start($id, $sid, $userId, $endsAt, $now);
    }

    public function find(string $id, int $now): ?string
    {
        return $this->store()->find($id, $now);
    }

    public function end(string $id): void
    {
        $this->store()->end($id);
    }

    public function endLogin(string $sid): void
    {
        $this->store()->endLogin($sid);
    }

    public function endPerson(string $userId): void
    {
        $this->store()->endPerson($userId);
    }

    public function endAll(): void
    {
        $this->store()->endAll();
    }

    public function lastRead(): ?int
    {
        return $this->store()->lastRead();
    }

    public function noteRead(int $at): void
    {
        $this->store()->noteRead($at);
    }
}
