<?php

declare(strict_types=1);

// Tests a login from its start to the session, and requests that must not log anybody in.

use Identity\{Client, LaunchId, NonceStore, Refusal, Request, Response};

test('a login starts with a state and a signed cookie of its own', function (): void {
    $browser = new Browser();
    $launch = $browser->start(openClient(), returnTo: '/orders?x=1', prompt: 'login', maxAge: 300);
    same(['state', 'return_to', 'prompt', 'max_age'], array_keys($launch));
    same(['/orders?x=1', 'login', '300'], [$launch['return_to'], $launch['prompt'], $launch['max_age']]);
    matches('/^[A-Za-z0-9_-]{22}$/D', $launch['state']);
    $said = NOW . '.0';
    $signature = hash_hmac('sha256', "identity attempt v1 shop {$launch['state']} $said", SECRET);
    $expected = "__Host-identity_attempt_{$launch['state']}=$said.$signature";
    same(["$expected; Path=/; Max-Age=600; HttpOnly; Secure; SameSite=Lax"], $browser->set);
});

test('what is opened elsewhere than configured says so in the log, and nowhere else', function (): void {
    $client = openClient();
    $hosts = [null, 'shop.example.test', 'SHOP.example.test:443', '127.0.0.1:4000', "evil.example\n\x1b" . str_repeat('a', 300)];
    $lines = logOf(function () use ($client, $hosts): void {
        foreach ($hosts as $host) {
            $answer = $client->startLogin(new Request('GET', '', $host === null ? [] : ['Host' => $host]));
            same([303, false], [$answer->status, str_contains(json_encode($answer->headers), '127.0.0')]);
        }
    });
    $line = fn(string $opened) => "identity-client: opened_elsewhere, launch unknown: opened at https://$opened/, "
        . 'but loginUrl is https://shop.example.test/login';
    same([$line('127.0.0.1:4000'), $line('evil.example??' . str_repeat('a', 241))], explode("\n", $lines));
    $ports = ['http://localhost:4000' => ['localhost:4000', 'localhost'], 'http://localhost' => ['localhost:80', 'localhost:443']];
    foreach ($ports as $site => [$right, $wrong]) {
        $local = openClient(['callbackUrl' => "$site/cb", 'loginUrl' => "$site/login"]);
        same('', logOf(fn() => $local->startLogin(new Request('GET', '', ['Host' => $right]))));
        matches("~opened at http://$wrong/, but~", logOf(fn() => $local->startLogin(new Request('GET', '', ['Host' => $wrong]))));
    }
    $call = fn(?string $path) => logOf(fn() => (new Browser())->call($client, '', request: new Request('GET', 'payload=x', path: $path)));
    same(['', ''], array_map($call, [null, '/sso/callback']));
    same('identity-client: opened_elsewhere, launch unknown: opened at https://shop.example.test/callback.php, '
        . 'but callbackUrl is https://shop.example.test/sso/callback', $call('/callback.php'));
});

test('on plain http of this machine the cookie does without Secure and __Host-', function (): void {
    $browser = new Browser();
    $browser->start(openClient([
        'callbackUrl' => 'http://localhost:4000/callback',
        'loginUrl' => 'http://localhost:4000/login',
    ]));
    matches('/^identity_attempt_[A-Za-z0-9_-]{22}=\d+\.-\.[0-9a-f]{64}; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/D', $browser->set[0]);
});

test('a return_to to another site is left out, and faulty demands are thrown back', function (): void {
    foreach (['//evil.example', '/\\evil.example', 'https://evil.example', "/a\nb", '', '/' . str_repeat('a', 2048)] as $path) {
        same(false, isset((new Browser())->start(openClient(), returnTo: $path)['return_to']), $path);
    }
    foreach ([['prompt' => 'select'], ['maxAge' => -1], ['maxAge' => 2_592_001]] as $demand) {
        try {
            openClient()->startLogin(new Request('GET'), ...$demand);
            throw new LogicException('taken');
        } catch (InvalidArgumentException) {
        }
    }
});

test('a genuine hand-off of this browser starts a session, and leads away from the signed address', function (): void {
    foreach ([null => 'https://shop.example.test/', '/orders?x=1#é "' => 'https://shop.example.test/orders?x=1#%C3%A9%20%22'] as $path => $url) {
        $browser = new Browser();
        $state = $browser->start(openClient())['state'];
        $answer = $browser->call(openClient(), seal(payload(['state' => $state, 'return_to' => $path === '' ? null : $path])));
        same([303, $url, ['session=1; Path=/']], [$answer->status, $answer->header('location'), $browser->set]);
        same([1, []], [count($browser->sessions), $browser->log]);
        same('Zoë O’Neil', $browser->sessions[0]->profile->name);
    }
});

test('several tabs can log in, at most five, and the oldest attempt goes', function (): void {
    $browser = new Browser();
    $client = openClient();
    $states = [];
    foreach (range(1, 7) as $second) {
        Clock::$now = NOW + $second;
        $states[] = $browser->start($client)['state'];
    }
    same(5, count($browser->cookies));
    foreach ($states as $at => $state) {
        $answer = $browser->call($client, seal(payload(['state' => $state])));
        same($at < 2 ? 403 : 303, $answer->status, "tab $at");
    }
    Clock::$now = NOW;
});

test('of attempts of one second, too, the oldest goes', function (): void {
    $browser = new Browser();
    foreach (range(1, 6) as $tab) {
        $states[] = $browser->start(openClient())['state'];
    }
    $kept = array_map(static fn($name) => substr($name, -22), array_keys($browser->cookies));
    same(array_slice($states, 1), $kept);
});

test('a refusal has the id of the launch wherever one payload can be read', function (): void {
    $nonce = 'AAECAwQFBgcICQoLDA0ODw';
    $query = seal(json_encode(payload(['nonce' => $nonce]), JSON_PRETTY_PRINT));
    [$payload] = explode('&', $query);
    $idOf = fn(string $asked) => (new Browser())->call(openClient(), $asked)->header('identity-launch');
    same([LaunchId::of($nonce), LaunchId::of($nonce)], [$idOf("$query&state=a&state=b"), $idOf($payload)]);
    foreach (["$query&$payload", "$payload=", "$payload!", $payload . str_repeat('A', 8192)] as $none) {
        same(null, $idOf($none), $none);
    }
});

test('an attempt ends after ten minutes, and with a secret that is gone', function (): void {
    $browser = new Browser();
    $state = $browser->start(openClient())['state'];
    $ask = fn(array $secrets) => $browser->call(openClient(['secrets' => $secrets]), seal(payload(['state' => $state]), NEXT));
    Clock::$now = NOW + 599;
    same(403, $ask([NEXT])->status);
    same(303, $ask([NEXT, SECRET])->status);
    Clock::$now = NOW + 600;
    same('state_unknown', $ask([NEXT, SECRET])->header('identity-refusal'));
    Clock::$now = NOW;
});

test('a cookie that the person changed is none', function (): void {
    $browser = new Browser();
    $state = $browser->start(openClient(), prompt: 'login')['state'];
    [$name] = array_keys($browser->cookies);
    $genuine = $browser->cookies[$name];
    foreach ([strtr($genuine, ['.0.' => '.-.']), (NOW - 500) . substr($genuine, 10), 'x', '', "$genuine "] as $at => $value) {
        $browser->cookies[$name] = $value;
        $answer = $browser->call(openClient(), seal(payload(['state' => $state])));
        same($at === 4 ? 303 : 403, $answer->status, $value);
    }
});

test('a second use is nonce_replayed, and a page with the code and the launch id', function (): void {
    $browser = new Browser();
    $client = openClient();
    $payload = payload(['state' => $browser->start($client)['state']]);
    same(303, $browser->call($client, seal($payload))->status);
    $answer = $browser->call($client, seal($payload));
    $id = implode('-', str_split(substr(hash('sha256', $payload['nonce']), 0, 8), 4));
    same([409, 'nonce_replayed', $id], [$answer->status, $answer->header('identity-refusal'), $answer->header('identity-launch')]);
    matches("~Code: <code>nonce_replayed</code> · <code>$id</code>~", $answer->body);
    matches('~<a href="https://shop\.example\.test/">Go on</a>~', $answer->body);
    matches('~<a href="https://shop\.example\.test/login">Log in</a>~', $answer->body);
    same("default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'", $answer->header('content-security-policy'));
    same([1, 'nonce_replayed', $id], [count($browser->sessions), $browser->log[0]->refusalCode, $browser->log[0]->launchId]);
});

test('a planted hand-off is state_unknown, repeats nothing, and its nonce stays for its owner', function (): void {
    $client = openClient();
    $owner = new Browser();
    $query = seal(payload(['state' => $owner->start($client)['state'], 'profile.name' => '<b>Mallory']));
    $victim = new Browser();
    $victim->start($client);
    foreach ([new Browser(), $victim] as $browser) {
        $answer = $browser->call($client, $query);
        same([403, 'state_unknown', []], [$answer->status, $answer->header('identity-refusal'), $browser->sessions]);
        same(false, str_contains($answer->body, 'Mallory'));
    }
    same(303, $owner->call($client, $query)->status);
});

test('a hand-off without a state leads to the login, or home, and stays unused', function (): void {
    $client = openClient(['nonces' => $nonces = memoryNonces(), 'homeUrl' => 'https://shop.example.test/home']);
    $browser = new Browser();
    $payload = payload();
    foreach ([false => 'login', true => 'home'] as $isLoggedIn => $path) {
        $browser->isLoggedIn = (bool) $isLoggedIn;
        $answer = $browser->call($client, seal($payload));
        same([303, "https://shop.example.test/$path"], [$answer->status, $answer->header('location')]);
        same(['state_missing', LaunchId::of($payload['nonce'])], [$answer->header('identity-refusal'), $answer->header('identity-launch')]);
    }
    same([[], true], [$browser->sessions, $nonces->consume($payload['nonce'], NOW)]);
});

test('prompt=login and max_age want a late enough auth_time', function (): void {
    foreach ([['login', null, 0], [null, 100, 100], ['login', 100, 0]] as [$prompt, $maxAge, $demand]) {
        foreach ([[-$demand - 30, 303], [-$demand - 31, 403], [null, 403]] as [$at, $status]) {
            $browser = new Browser();
            $state = $browser->start(openClient(), prompt: $prompt, maxAge: $maxAge)['state'];
            $authTime = $at === null ? null : NOW + $at;
            $answer = $browser->call(openClient(), seal(payload(['state' => $state, 'auth_time' => $authTime])));
            same($status, $answer->status, "$prompt $maxAge $at");
            same($status === 403 ? 'auth_time_too_old' : null, $answer->header('identity-refusal'));
        }
    }
});

test('an error chooses a page, and only for an attempt of this browser', function (): void {
    $codes = ['login_required' => 403, 'interaction_required' => 403, 'access_denied' => 403, 'odd<b>' => 400];
    foreach ($codes as $error => $status) {
        $browser = new Browser();
        $state = $browser->start(openClient(), prompt: 'none')['state'];
        $query = http_build_query(['error' => $error, 'state' => $state]);
        $answer = $browser->call(openClient(), $query);
        same([$status, $status === 400 ? 'error_unknown' : $error], [$answer->status, $answer->header('identity-refusal')]);
        same(false, str_contains($answer->body, 'odd'));
        $code = $status === 400 ? 'error_unknown' : $error;
        $own = $browser->call(openClient(), $query, onError: fn(Refusal $refusal) => new Response(200, [
            ['cache-control', 'public'], ['X-Own', 'yes'],
        ], $refusal->refusalCode));
        same([200, $code, $code, 'yes'], [$own->status, $own->body, $own->header('identity-refusal'), $own->header('x-own')]);
        same(1, count(array_filter($own->headers, fn($header) => strtolower($header[0]) === 'cache-control')));
        foreach (["error=$error", "error=$error&state=x"] as $other) {
            same('state_unknown', $browser->call(openClient(), $other)->header('identity-refusal'));
        }
        same('parameter_repeated', $browser->call(openClient(), "$query&error=x")->header('identity-refusal'));
    }
});

test('what opens links ahead of the click uses nothing up, and other methods are refused', function (): void {
    $client = openClient();
    $browser = new Browser();
    $query = seal(payload(['state' => $browser->start($client)['state']]));
    same(204, $browser->call($client, $query, 'HEAD')->status);
    $prefetch = $browser->request($query, 'GET', ['Sec-Purpose' => 'prefetch;prerender']);
    same(204, $browser->call($client, $query, request: $prefetch)->status);
    same([204, null], [$client->startLogin($prefetch)->status, $client->startLogin($prefetch)->header('set-cookie')]);
    foreach (['POST', 'PUT', 'get'] as $method) {
        $answer = $browser->call($client, $query, $method);
        same([405, 'method_not_allowed', 'GET, HEAD'], [$answer->status, $answer->header('identity-refusal'), $answer->header('allow')]);
    }
    $lines = logOf(fn() => same(405, $client->startLogin(new Request('POST'))->status));
    matches('/^identity-client: method_not_allowed, /', $lines);
    same([[], 303], [$browser->sessions, $browser->call($client, $query)->status]);
});

test('a store that throws lets nobody in, and a site that lets nobody in says so', function (): void {
    $client = openClient(['nonces' => new BrokenNonces()]);
    $browser = new Browser();
    foreach (['Vt1n0cVtSh2mV0y0rU3y8Q', null] as $sid) {
        $answer = $browser->call($client, seal(payload(['state' => $browser->start($client)['state'], 'sid' => $sid])));
        same([503, 'store_unavailable', '5'], [$answer->status, $answer->header('identity-refusal'), $answer->header('retry-after')]);
        same([[], 'away'], [$browser->sessions, $browser->log[0]->getPrevious()?->getMessage()]);
    }
    $payload = payload(['state' => $browser->start(openClient())['state']]);
    $answer = $browser->call(openClient(), seal($payload), startSession: fn() => throw new Refusal('person_refused'));
    same([403, 'person_refused', LaunchId::of($payload['nonce'])], [$answer->status, $answer->header('identity-refusal'), $answer->header('identity-launch')]);
});

test('what a store refuses by itself is said', function (): void {
    $store = new class implements NonceStore {
        public function consume(string $nonce, int $keepUntil): bool
        {
            throw new Refusal('expired', detail: 'It is from before a restore');
        }

        public function addEnded(string $sid, int $keepUntil): void
        {
        }

        public function hasEnded(string $sid): bool
        {
            return false;
        }
    };
    $client = openClient(['nonces' => $store]);
    $browser = new Browser();
    $answer = $browser->call($client, seal(payload(['state' => $browser->start($client)['state']])));
    same([401, 'expired', []], [$answer->status, $answer->header('identity-refusal'), $browser->sessions]);
});

test('a login that has ended starts no session, also if it ends meanwhile', function (): void {
    $client = openClient(['nonces' => $nonces = memoryNonces()]);
    $browser = new Browser();
    $payload = payload(['state' => $browser->start($client)['state']]);
    $ended = [];
    $answer = $browser->call(
        $client,
        seal($payload),
        startSession: fn($handOff) => $nonces->addEnded($handOff->sid, time() + 60),
        endSession: function (string $sid) use (&$ended): void {
            $ended[] = $sid;
        },
    );
    same([403, 'session_ended', [$payload['sid']], []], [$answer->status, $answer->header('identity-refusal'), $ended, $browser->set]);
    $again = payload(['state' => $payload['state']]);
    same('session_ended', $browser->call($client, seal($again))->header('identity-refusal'));
    same(true, $nonces->consume($again['nonce'], NOW));
});

test('the logout goes to the identity service, and comes back to a path', function (): void {
    same('https://id.example.test/logout?client=shop&return_to=%2Fbye%3Fx%3D1', openClient()->logoutUrl('/bye?x=1'));
    same('https://id.example.test/logout?client=shop', openClient()->logoutUrl('//evil.example'));
});

test('PHP\'s own log hears of a refusal, with the reason and where it is explained', function (): void {
    $client = openClient(['issuer' => 'https://id.example.test/']);
    $payload = payload(['iat' => NOW - 400, 'exp' => NOW - 100, 'iss' => 'https://id.example.test/']);
    $id = LaunchId::of($payload['nonce']);
    $call = fn(Client $client, string $query) => logOf(fn() => (new Browser())->call($client, $query, log: null));
    $expired = $call($client, seal($payload));
    matches("~^identity-client: expired, launch $id: Expired 100 s ago by our clock; issued 400 s ago\. The hand-off has "
        . 'expired\. Log in again\. .* https://id\.example\.test/developers/refusals#expired$~D', $expired);
    $others = $call($client, seal(payload(['iss' => "https://other.example\n" . str_repeat('a', 300)])));
    matches('~: issuer_wrong, .*: It says https://other\.example\?a+, and we have https://id\.example\.test/\. The hand-off~', $others);
    same(true, strlen($others) < 700);
    matches("~: signature_wrong, launch $id: No signature was made .* Compare the secret~", $call($client, seal($payload, NEXT)));
    matches('~: parameter_missing, launch unknown: There is no payload\. ~', $call($client, ''));
    matches('~: member_wrong, .*: email is missing or wrong\. ~', $call($client, seal(payload(['profile.email' => 1]))));
    $broken = openClient(['nonces' => new BrokenNonces()]);
    matches('~: store_unavailable, .* RuntimeException: away https~', $call($broken, seal(payload())));
    $nudge = fn() => $client->receiveNudge(new Request('POST'));
    matches('~: nudge_malformed, launch unknown: A header~', logOf($nudge));
});

test('an accepted login is logged by its launch id, and nothing else of it is', function (): void {
    $browser = new Browser();
    $payload = payload(['state' => $browser->start(openClient())['state']]);
    $log = logOf(fn() => same(303, $browser->call(openClient(), seal($payload))->status));
    same('identity-client: accepted, launch ' . LaunchId::of($payload['nonce']), $log);
});

test('the log gets no control characters', function (): void {
    foreach (["a\x1b[2J\x00\x7f\u{9b}2J\r\nb" => 'a [2J 2J b', "é\x9b\x1b[b" => '[b'] as $said => $line) {
        $own = logOf(fn() => openClient()->refuse(new Refusal('person_refused', detail: $said)));
        matches('~^identity-client: person_refused, launch unknown: ' . preg_quote($line) . '\. This site~', $own);
        $cause = logOf(fn() => openClient()->refuse(new Refusal('store_unavailable', previous: new RuntimeException($said))));
        matches('~ RuntimeException: ' . preg_quote($line) . ' https~', $cause);
    }
});

test('of cookies of one name the first counts, and only spaces and tabs around one are no part of it', function (): void {
    $read = fn(string $header) => (new Request('GET', '', ['Cookie' => $header]))->cookies();
    same(['a' => '1', 'b' => '', 'c' => 'x=y'], $read("a=1; a=2;\tb= ;c=x=y;d; "));
    same(["\xa0e", "\x0bf", "\x00g"], array_keys($read("\xa0e=1; \x0bf=2;\x00g=3")));
});

test('a login start with return_to twice has none', function (): void {
    $client = memorySite()->client;
    $start = fn(string $query) => $client->answer(new Request('GET', $query, path: '/login'))->header('location');
    same([true, false], array_map(fn($query) => str_contains($start($query), 'return_to'), ['return_to=/a', 'return_to=/a&return_to=/a']));
});
