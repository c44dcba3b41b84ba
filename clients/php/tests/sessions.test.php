<?php

declare(strict_types=1);

// Tests the sessions of the kit, with stores in memory and in the databases that PDO_DSNS names.

use Identity\{Event, HttpAnswer, MemoryPosition, MemoryProfiles, MemorySessions, PdoDatabase, Request, Response, SqlSessions, Stores, Tables};

$stores = ['memory' => [new MemorySessions(), new MemorySessions(), fn() => null]];
foreach (array_filter(['sqlite::memory:', ...explode(' ', (string) getenv('PDO_DSNS'))]) as $dsn) {
    $database = new PdoDatabase(new PDO($dsn));
    $prefix = 'kit_' . bin2hex(random_bytes(4)) . '_';
    Tables::create($database, $prefix);
    Tables::create($database, $prefix);
    $stores[$dsn] = [new SqlSessions($database, 'shop', $prefix), new SqlSessions($database, 'other', $prefix), function () use ($database, $prefix): void {
        foreach (['used', 'profiles', 'positions', 'sessions', 'turns'] as $table) {
            $database->execute("drop table {$prefix}$table");
        }
    }];
}

foreach ($stores as $kind => [$store, $other, $drop]) {
    test("$kind keeps sessions until they end, by each of their names (contract 13.124)", function () use ($store): void {
        [$a, $b, $c] = array_map(fn($letter) => str_repeat($letter, 64), ['a', 'b', 'c']);
        $start = function () use ($store, $a, $b, $c): void {
            $store->endAll();
            $store->start($a, 'sid-one', 'ann', 100, 0);
            $store->start($b, 'sid-two', 'ann', 100, 0);
            $store->start($c, null, 'bob', 50, 0);
        };
        $found = fn(int $now = 0) => array_map(fn($id) => $store->find($id, $now), [$a, $b, $c]);
        $ends = [
            [fn() => null, ['ann', 'ann', 'bob']],
            [fn() => $store->end($b), ['ann', null, 'bob']],
            [fn() => $store->endLogin('sid-one'), [null, 'ann', 'bob']],
            [fn() => $store->endLogin('SID-one'), ['ann', 'ann', 'bob']],
            [fn() => $store->endPerson('ann'), [null, null, 'bob']],
            [fn() => $store->endAll(), [null, null, null]],
        ];
        foreach ($ends as $at => [$end, $expected]) {
            $start();
            $end();
            same($expected, $found(), "end $at");
        }
        $start();
        same([['ann', 'ann', 'bob'], ['ann', 'ann', null], [null, null, null]], [$found(49), $found(50), $found(100)]);
    });

    test("$kind notes when events were last read, for each client", function () use ($store, $other): void {
        same(null, $store->lastRead());
        foreach ([1000, 1000, 1060, 900] as $at) {
            $store->noteRead($at);
            same([$at, null], [$store->lastRead(), $other->lastRead()]);
        }
    });

    test("$kind keeps the sessions of another client apart", function () use ($store, $other): void {
        $id = str_repeat('d', 64);
        $store->start($id, 'sid', 'ann', 100, 0);
        $other->endLogin('sid');
        $other->endPerson('ann');
        $other->end($id);
        $other->endAll();
        same(['ann', null], [$store->find($id, 0), $other->find($id, 0)]);
    });

    test("$kind leaves nothing behind", $drop);
}

test('a login gives 256 random bits, new at each login, which end with the browser (contract 13.121 and 13.122)', function (): void {
    $site = memorySite();
    same([null, '', 0], [$site->person(), $site->client->logoutToken($site->request()), $site->asked]);
    $answer = $site->logIn(['return_to' => null]);
    same([303, 'https://shop.example.test/'], [$answer->status, $answer->header('location')]);
    matches('/^__Host-shop_session=[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; Secure; SameSite=Lax$/D', $site->browser->set[0]);
    $first = $site->browser->cookies[COOKIE];
    same([32, 'Zoë O’Neil'], [strlen(base64_decode(strtr($first, '-_', '+/'))), $site->person()?->name]);
    $site->logIn();
    $second = $site->browser->cookies[COOKIE];
    same([false, 'Zoë O’Neil'], [$first === $second, $site->person()?->name]);
    // Another browser sends the earlier cookie, a made-up one, or the hash that the store has.
    foreach ([$first, str_repeat('A', 43), hash('sha256', $second), "$second ", substr($second, 1), '', "$second'"] as $value) {
        $site->browser->cookies[COOKIE] = $value;
        same($value === "$second ", $site->person() !== null, $value);
    }
    $local = new Site(Stores::inMemory(), ['callbackUrl' => 'http://localhost:4000/sso/callback', 'loginUrl' => 'http://localhost:4000/login']);
    $local->logIn();
    matches('/^shop_session=[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; SameSite=Lax$/D', $local->browser->set[0]);
});

test('a cookie that somebody planted is not taken over by the login (contract 13.121)', function (): void {
    $site = memorySite();
    $site->browser->cookies[COOKIE] = $planted = str_repeat('B', 43);
    $site->logIn();
    same([false, true], [$site->browser->cookies[COOKIE] === $planted, $site->person() !== null]);
    $site->browser->cookies[COOKIE] = $planted;
    same(null, $site->person());
});

test('a session lasts for maxSeconds, 12 hours by default (contract 13.123)', function (): void {
    foreach ([[], ['maxSeconds' => 60]] as $changes) {
        $site = memorySite($changes);
        $site->logIn();
        $lasts = $changes['maxSeconds'] ?? 43_200;
        Clock::$now = NOW + $lasts - 1;
        same(true, $site->person() !== null);
        Clock::$now = NOW + $lasts;
        same(null, $site->person());
    }
    Clock::$now = NOW;
    foreach ([59, 2_592_001] as $wrong) {
        try {
            memorySite(['maxSeconds' => $wrong]);
            throw new LogicException('taken');
        } catch (Identity\ConfigurationError $error) {
            same(['maxSeconds'], array_keys($error->faults));
        }
    }
});

test('events end sessions, at the latest a minute later, and so does 410 (contract 13.124 and 13.125)', function (): void {
    $id = '0190f5a0-0000-7000-8000-000000000001';
    $sid = 'Vt1n0cVtSh2mV0y0rU3y8Q';
    $ends = [
        [['type' => 'session.ended', 'user_id' => $id, 'sid' => $sid], false],
        [['type' => 'session.ended', 'user_id' => $id, 'sid' => strrev($sid)], true],
        [['type' => 'user.suspended', 'user_id' => $id], false],
        [['type' => 'user.deleted', 'user_id' => $id], false],
        [['type' => 'user.restored', 'user_id' => $id], true],
        [['type' => 'profile.updated', 'user_id' => $id, 'profile' => ['id' => $id] + profile('2026-02-01T00:00:00.000Z', 'New')], true],
        [null, false],
    ];
    foreach ($ends as [$event, $isThere]) {
        $site = memorySite();
        $site->logIn(['sid' => $sid]);
        $site->person();
        $site->events = [$event === null ? new HttpAnswer(410, '{"oldest":9}') : page(['seq' => 1] + $event)];
        Clock::$now = NOW + 59;
        same([true, 1], [$site->person() !== null, $site->asked]);
        Clock::$now = NOW + 60;
        same($isThere, $site->person() !== null, json_encode($event));
        $kept = $site->stores->sessions->find(hash('sha256', "shop {$site->browser->cookies[COOKIE]}"), Clock::$now);
        same($isThere, $kept !== null, 'at the store');
        if ($event['profile'] ?? false) {
            same('New', $site->person()->name);
        }
    }
    Clock::$now = NOW;
});

test('a nudge ends sessions at once, and is sent again if the events could not be read', function (): void {
    $site = memorySite();
    $site->logIn(['sid' => 'Vt1n0cVtSh2mV0y0rU3y8Q']);
    $nudge = function () use ($site): Response {
        $nudge = nudge();
        return $site->client->answer(new Request('POST', '', $nudge->headers, $nudge->body, '/sso/events'));
    };
    $site->events = [new HttpAnswer(503, '')];
    $log = logOf(fn() => same([503, '1'], [$nudge()->status, $nudge->__invoke()->status === 204 ? '1' : '0']));
    matches('/^identity-client: events_unread, .*answered 503/', $log);
    $site->events = [page(['seq' => 1, 'type' => 'session.ended', 'user_id' => 'u', 'sid' => 'Vt1n0cVtSh2mV0y0rU3y8Q'])];
    same([204, null], [$nudge()->status, $site->person()]);
    $asked = $site->asked;
    logOf(fn() => same([401, $asked], [$site->client->answer(new Request('POST', '', nudge([], NEXT)->headers, nudge()->body, '/sso/events'))->status, $site->asked]));
});

test('a person is shown without a read where events were read within a minute', function (): void {
    $site = memorySite();
    $site->logIn();
    $site->client->pullEvents();
    same([true, 1], [$site->person() !== null, $site->asked]);
});

test('a short read leaves the rest for later, and waits for no other (contract 13.125)', function (): void {
    $configuration = openClient();
    $events = array_map(fn($seq) => ['seq' => $seq, 'type' => 'erased'], range(1, 50));
    $our = (fn() => $this->configuration)->call($configuration);
    $read = fn(MemoryPosition $position, array $answers) => (new Identity\EventReader($our, new PlayedService($answers)))
        ->pull($position, fn() => usleep(20_000), fn() => null, microtime(true) + 0.1);
    $position = new MemoryPosition();
    same(false, $read($position, [page(...$events)]));
    $at = $position->claim();
    same(true, $at > 0 && $at < 50, "read to $at");
    $started = microtime(true);
    same([false, true], [$read($position, []), microtime(true) - $started < 1]);
});

test('the form that logs out is read up to a limit', function (): void {
    $body = 'token=x' . str_repeat(' ', Request::MAX_BODY_BYTES);
    same(['x', null], [(new Request('POST', body: 'token=x'))->field('token'), (new Request('POST', body: $body))->field('token')]);
});

test('a service that is away costs one try in ten seconds, and nobody is logged out (contract 13.135)', function (): void {
    $site = memorySite();
    $site->logIn();
    $site->events = array_fill(0, 9, new HttpAnswer(503, ''));
    $log = logOf(fn() => same([true, true], [$site->person() !== null, $site->person() !== null]));
    same([1, 1], [$site->asked, substr_count($log, 'events_unread')]);
    $site->events = [];
    Clock::$now = NOW + 9;
    same([true, 1], [$site->person() !== null, $site->asked]);
    Clock::$now = NOW + 10;
    same([true, 2], [$site->person() !== null, $site->asked]);
    Clock::$now = NOW + 69;
    same([true, 2], [$site->person() !== null, $site->asked]);
    Clock::$now = NOW;
});

test('the client\'s own hooks hear of each event, by any read', function (): void {
    $heard = [];
    $site = memorySite([], apply: function (Event $event, bool $isNewer) use (&$heard): void {
        $heard[] = [$event->type, $isNewer];
    }, startOver: function () use (&$heard): void {
        $heard[] = 'over';
    });
    $site->logIn();
    $site->events = [page(['seq' => 1, 'type' => 'user.restored', 'user_id' => 'u']), new HttpAnswer(410, '{"oldest":9}')];
    $site->person();
    $site->client->pullEvents();
    same([['user.restored', false], 'over'], $heard);
    foreach ([[null, fn() => null], [new MemoryPosition()]] as $half) {
        try {
            $site->client->pullEvents(...$half);
            throw new Exception('pulled');
        } catch (LogicException) {
        }
    }
});

test('the client turns somebody away, who gets no session and keeps the one of before', function (): void {
    $isOpen = true;
    $site = memorySite([], onLogin: function (Identity\HandOff $handOff) use (&$isOpen): void {
        same(['zoe@example.test', 'Vt1n0cVtSh2mV0y0rU3y8Q'], [$handOff->profile->email, $handOff->sid]);
        $isOpen || throw new Identity\Refusal('person_refused', detail: 'closed');
    });
    $in = fn() => $site->logIn(['sid' => 'Vt1n0cVtSh2mV0y0rU3y8Q']);
    $in();
    [$cookie, $isOpen] = [$site->browser->cookies[COOKIE], false];
    $log = logOf(fn() => same([403, 'person_refused', null], [($answer = $in())->status, $answer->header('identity-refusal'), $answer->header('set-cookie')]));
    matches('/person_refused, launch [0-9a-f]{4}-[0-9a-f]{4}: closed\./', $log);
    same([$cookie, true], [$site->browser->cookies[COOKIE], $site->person() !== null]);
    $site->browser->cookies = [];
    logOf($in);
    same(null, $site->person());
});

test('a clock that is wrong by ten minutes lets nobody in, and logs nobody out', function (): void {
    $site = memorySite();
    $site->logIn();
    foreach ([600 => 'expired', -600 => 'issued_in_future'] as $wrong => $code) {
        Clock::$now = NOW + $wrong;
        $launch = (string) $site->open('/login')->header('location');
        $log = logOf(fn() => same($code, $site->arrive($launch, ['iat' => NOW, 'exp' => NOW + 300])->header('identity-refusal')));
        matches("/$code, .*clock/", $log);
        same(true, $site->person() !== null, $code);
    }
    Clock::$now = NOW;
    same(303, $site->logIn()->status);
});

test('requireLogin leads to the login, which leads back to a page that was got (contract 13.126)', function (): void {
    $site = memorySite();
    $ask = fn(mixed ...$request) => $site->client->requireLogin($site->request(...$request))->header('location');
    $login = 'https://shop.example.test/login';
    same("$login?return_to=%2Forders%3Fx%3D1%262", $ask('/orders', 'x=1&2'));
    same([$login, $login], [$ask('/orders', 'x=1', 'POST'), $ask('//evil.example')]);
    same($login, $site->client->requireLogin(new Request('GET', 'x=1'))->header('location'));
    $site->logIn(login: '/login?return_to=%2Forders%3Fx%3D1');
    same('https://shop.example.test/orders?x=1', $site->logIn(login: '/login?return_to=%2Forders%3Fx%3D1')->header('location'));
    same('Zoë O’Neil', $site->client->requireLogin($site->request('/orders'))->name);
});

test('the log-out is a POST with the token of this session (contract 13.127)', function (): void {
    $site = memorySite();
    $site->logIn();
    $other = memorySite();
    $other->logIn();
    $token = $site->client->logoutToken($site->request());
    matches('/^[0-9a-f]{64}$/D', $token);
    foreach (['', 'x', strtoupper($token), $other->client->logoutToken($other->request())] as $wrong) {
        logOf(fn() => same([403, 'logout_token_wrong'], [($answer = $site->logOut($wrong))->status, $answer->header('identity-refusal')]));
    }
    logOf(function () use ($site, $token): void {
        $twice = $site->open('/logout', 'POST', "token=$token&token=$token");
        $long = ["token=$token&pad=" . str_repeat('x', Request::MAX_BODY_BYTES), "token=$token"];
        $headers = [[], ['content-length' => '65537']];
        $statuses = array_map(fn($body, $more) => $site->open('/logout', 'POST', $body, $more)->status, $long, $headers);
        same([403, 403], $statuses);
        $asked = $site->open("/logout?token=$token");
        same([403, 405, 'POST'], [$twice->status, $asked->status, $asked->header('allow')]);
    });
    same(true, $site->person() !== null);
    $cookie = $site->browser->cookies[COOKIE];
    $answer = $site->logOut();
    same([303, 'https://id.example.test/logout?client=shop&return_to=%2F'], [$answer->status, $answer->header('location')]);
    same([COOKIE . '=; Path=/; Max-Age=0; HttpOnly; Secure; SameSite=Lax'], $site->browser->set);
    // After the log-out, not even a copy of the cookie logs anybody in.
    $site->browser->cookies[COOKIE] = $cookie;
    same(null, $site->person());
    logOf(fn() => same(403, memorySite()->logOut()->status));
});

test('a login that ends while it arrives starts no session, and one that was there stays (contract 13.121)', function (): void {
    $site = memorySite(['nonces' => $nonces = new class extends stdClass implements Identity\NonceStore {
        public array $answers = [];

        public function consume(string $nonce, int $keepUntil): bool
        {
            return true;
        }

        public function addEnded(string $sid, int $keepUntil): void
        {
        }

        public function hasEnded(string $sid): bool
        {
            return (array_shift($this->answers) ?? fn() => false)();
        }
    }]);
    $site->logIn();
    $cookie = $site->browser->cookies[COOKIE];
    foreach (['session_ended' => fn() => true, 'store_unavailable' => fn() => throw new RuntimeException('away')] as $code => $second) {
        $nonces->answers = [fn() => false, $second];
        logOf(fn() => same($code, $site->logIn()->header('identity-refusal')));
        same([$cookie, true], [$site->browser->cookies[COOKIE], $site->person() !== null]);
    }
    $site->stores->profiles->remove('0190f5a0-0000-7000-8000-000000000001');
    logOf(fn() => same('session_ended', $site->logIn()->header('identity-refusal')));
});

test('if a store is away, nobody is logged in and nobody is logged out (contract 13.132)', function (): void {
    Clock::$now = NOW;
    $site = new Site(new Stores($sessions = new AwaySessions(), new MemoryProfiles(), new MemoryPosition()));
    $site->logIn();
    $launch = (string) $site->open('/login')->header('location');
    $sessions->isAway = true;
    $log = logOf(function () use ($site, $launch): void {
        same('store_unavailable', refusalOf(fn() => $site->person()));
        $guard = $site->client->requireLogin($site->request('/orders'));
        $answers = [$guard, $site->logOut(), $site->arrive($launch)];
        foreach ($answers as $at => $answer) {
            same([503, 'store_unavailable', '5'], [$answer->status, $answer->header('identity-refusal'), $answer->header('retry-after')], "answer $at");
            same(null, $answer->header('set-cookie'));
        }
    });
    same(3, substr_count($log, 'RuntimeException: away https://id.example.test/developers/refusals#store_unavailable'));
    $sessions->isAway = false;
    same(true, $site->person() !== null);
});

test('a database that is away is a refusal, is not asked without a need, and is asked again (contract 13.132)', function (): void {
    $opened = 0;
    $isAway = false;
    $path = (string) tempnam(sys_get_temp_dir(), 'identity-kit-');
    $database = new PdoDatabase(function () use (&$opened, &$isAway, $path): PDO {
        $opened += 1;
        return $isAway ? throw new PDOException('no such host') : new PDO("sqlite:$path");
    });
    try {
        Clock::$now = NOW;
        $site = new Site(Stores::inDatabase($database, 'shop'));
        same([null, 303, 0], [$site->person(), $site->client->requireLogin($site->request())->status, $opened]);
        Tables::create($database);
        $site->logIn();
        same([true, 1], [$site->person() !== null, $opened]);
        $database->execute('alter table identity_sessions rename to away');
        $isAway = true;
        logOf(fn() => same([503, 503], [$site->client->requireLogin($site->request())->status, $site->logOut()->status]));
        $isAway = false;
        $database->execute('alter table away rename to identity_sessions');
        same(true, $site->person() !== null);
        $other = new Site(Stores::inDatabase($database, 'other'), ['client' => 'other']);
        $other->browser->cookies['__Host-other_session'] = $site->browser->cookies[COOKIE];
        same(null, $other->person());
        // The stored id is not just the SHA-256 of the cookie: the client's name is in it, too.
        same(false, $database->value('select id from identity_sessions') === hash('sha256', $site->browser->cookies[COOKIE]));
    } finally {
        unlink($path);
    }
});

test('a hand-off that nobody asked for leads a person with a session home', function (): void {
    $site = memorySite();
    $query = seal(payload());
    $where = function () use ($site, $query): string {
        $answer = null;
        logOf(function () use ($site, $query, &$answer): void {
            $answer = $site->open("/sso/callback?$query");
        });
        return (string) $answer->header('location');
    };
    same('https://shop.example.test/login', $where());
    $site->logIn();
    same('https://shop.example.test/', $where());
});

test('profiles are kept and found by the client (contract 13.130)', function (): void {
    $client = memorySite()->client;
    same(null, $client->findPerson(profile()['id']));
    same([true, false], [$client->applyProfile(readProfile('2026-01-02T00:00:00.000Z', 'Ann')), $client->applyProfile(readProfile('2026-01-01T00:00:00.000Z', 'Old'))]);
    same('Ann', $client->findPerson(profile()['id'])->name);
});

test('a client without stores says what it lacks', function (): void {
    $request = new Request('GET');
    $client = openClient();
    foreach ([fn() => $client->currentPerson($request), fn() => $client->handleCallback($request), fn() => $client->pullEvents(),
        fn() => $client->findPerson('x'), fn() => $client->applyProfile(readProfile('2026-01-01T00:00:00.000Z', 'Ann')),
        fn() => $client->endSession($request), fn() => $client->handleCallback($request, fn() => null)] as $call) {
        try {
            $call();
            throw new Exception('done');
        } catch (LogicException $error) {
            matches('/stores|endSession/', $error->getMessage());
        }
    }
});

test('a request that comes while another reads events waits for it, for two seconds at most (contract 13.125)', function (): void {
    $id = '0190f5a0-0000-7000-8000-000000000001';
    $sessions = new MemorySessions();
    // Another process holds the position. It applies the event between the first and the second time that this process looks
    // when events were last read.
    $watched = new class ($sessions, $id) implements Identity\SessionStore {
        public int $looks = 0;
        public bool $isOver = true;

        public function __construct(private MemorySessions $store, private string $id)
        {
        }

        public function lastRead(): ?int
        {
            if ($this->isOver && ++$this->looks === 3) {
                $this->store->endPerson($this->id);
                $this->store->noteRead(Clock::$now);
            }
            return $this->store->lastRead();
        }

        public function noteRead(int $at): void
        {
            $this->store->noteRead($at);
        }

        public function start(string $id, ?string $sid, string $userId, int $endsAt, int $now): void
        {
            $this->store->start($id, $sid, $userId, $endsAt, $now);
        }

        public function find(string $id, int $now): ?string
        {
            return $this->store->find($id, $now);
        }

        public function end(string $id): void
        {
            $this->store->end($id);
        }

        public function endLogin(string $sid): void
        {
            $this->store->endLogin($sid);
        }

        public function endPerson(string $userId): void
        {
            $this->store->endPerson($userId);
        }

        public function endAll(): void
        {
            $this->store->endAll();
        }
    };
    Clock::$now = NOW;
    $position = new MemoryPosition();
    $site = new Site(new Stores($watched, new MemoryProfiles(), $position));
    $site->logIn();
    $position->claim();
    same([null, 0, 3], [$site->person(), $site->asked, $watched->looks]);
    // If the other process goes on for too long, no request waits for it in the next ten seconds (contract 13.135).
    $watched->isOver = false;
    Clock::$now = NOW + 60;
    $site->logIn();
    $started = microtime(true);
    same([true, true], [$site->person() !== null, microtime(true) - $started > 1.9]);
    $waited = microtime(true) - $started;
    same([true, true], [$site->person() !== null, microtime(true) - $started - $waited < 1]);
    same([true, 0], [$waited < 4, $site->asked]);
    Clock::$now = NOW;
});

test('servers whose clocks differ by less than a minute do not read for each other', function (): void {
    $site = memorySite();
    $site->logIn();
    $site->person();
    foreach ([59 => 1, -59 => 1, 60 => 2, -1 => 3] as $seconds => $asked) {
        Clock::$now = NOW + $seconds;
        same([true, $asked], [$site->person() !== null, $site->asked], "$seconds");
    }
    Clock::$now = NOW;
});

test('a hand-off that nobody asked for is 503 if the store is away (contract 13.132)', function (): void {
    Clock::$now = NOW;
    $site = new Site(new Stores($sessions = new AwaySessions(), new MemoryProfiles(), new MemoryPosition()));
    $site->logIn();
    $sessions->isAway = true;
    $query = seal(payload(['sid' => null]));
    logOf(fn() => same([503, 'store_unavailable'], [($answer = $site->open("/sso/callback?$query"))->status, $answer->header('identity-refusal')]));
});
