<?php

declare(strict_types=1);

// Tests FakeIdentity, the service for tests of clients, against the vectors and this kit.

use Identity\{Client, Configuration, FakeIdentity, Request};

$sso = json_decode(file_get_contents(__DIR__ . '/../../../test/sso-vectors.json'), true, 64, JSON_THROW_ON_ERROR)['sso'];

test('the fake service seals the worked example byte for byte, with both secrets of a rotation', function () use ($sso): void {
    $said = json_decode($sso['json'], true);
    $configuration = vectorConfiguration($sso, [$sso['secret'], $sso['signature_next_secret']]);
    $launch = "https://id.example.test/sso/launch/$said[client]";
    $made = (new FakeIdentity($configuration, fn() => $said['iat']))
        ->handOff($launch, $said + ['sid' => null, 'auth_time' => null, 'amr' => null]);
    $query = http_build_query(array_intersect_key($sso, ['payload' => 1, 'signature' => 1, 'signature_next' => 1]));
    same("{$configuration->callbackUrl}?$query", $made);
});

test('the fake service signs a nudge as the service does', function () use ($sso): void {
    ['secrets' => $secrets, 'now' => $now, 'cases' => [$one, $both]] = $sso['nudges'];
    foreach ([[$secrets, $one], [[$sso['signature_next_secret'], ...$secrets], $both]] as [$all, $example]) {
        $nudge = (new FakeIdentity(vectorConfiguration($sso, $all), fn() => $now))->webhook(17);
        same([$example['headers'], $example['body'], 'POST'], [$nudge->headers, $nudge->body, $nudge->method]);
    }
});

test('the fake service answers a login, and each other answer is refused with its code', function (): void {
    $url = 'https://shop:' . SECRET . '@id.example.test';
    $configuration = Configuration::fromUrl($url, 'https://shop.example.test', memoryNonces());
    $client = new Client($configuration, clock: fn() => Clock::$now);
    $fake = new FakeIdentity($configuration, fn() => Clock::$now);
    $browser = new Browser();
    $launch = 'https://id.example.test/sso/launch/shop?' . http_build_query($browser->start($client, '/orders', 'login'));
    $query = fn(string $url) => explode('?', $url, 2)[1];
    $codes = ['parameter_missing', 'parameter_repeated', 'payload_malformed', 'signature_malformed', 'signature_wrong', 'json_malformed',
        'member_wrong', 'issuer_wrong', 'audience_wrong', 'issued_in_future', 'expired', 'lifetime_wrong', 'state_missing', 'state_unknown',
        'auth_time_too_old', 'login_required', 'interaction_required', 'access_denied', 'error_unknown'];
    foreach ($codes as $code) {
        same($code, $browser->call($client, $query($fake->refusal($code, $launch)))->header('identity-refusal'), $code);
    }
    $answer = $browser->call($client, $query($fake->handOff($launch, ['profile' => ['role' => 'admin']])));
    same([303, 'https://shop.example.test/orders', 'admin'], [$answer->status, $answer->header('location'), $browser->sessions[0]->profile->role]);
    same(204, $client->receiveNudge($fake->webhook())->status);
    foreach ([fn() => $fake->refusal('nonce_replayed', $launch), fn() => $fake->handOff('https://id.example.test/sso/launch/other')] as $run) {
        try {
            $run();
            same(true, false, 'made');
        } catch (InvalidArgumentException $error) {
            matches('/^(No hand-off alone is refused with nonce_replayed|Not a launch of this client: .*other)$/', $error->getMessage());
        }
    }
});

test('the guide of the fake service runs, in ten lines', function (): void {
    preg_match('/## Test without a service\n.*?```php\n(.*?)```/s', file_get_contents(__DIR__ . '/../README.md'), $found);
    same(true, substr_count($found[1], "\n") <= 10);
    $configuration = Configuration::fromUrl('https://shop:' . SECRET . '@id.example.test', 'https://shop.example.test', memoryNonces());
    $client = new Client($configuration);
    $login = fn(Request $request) => $client->startLogin($request);
    $callback = fn(Request $request) => $client->handleCallback($request, fn() => null, fn() => null, log: fn() => null);
    $events = fn(Request $request) => $client->receiveNudge($request);
    eval($found[1]);
    same([401, 303, 204], [$refused, $received, $nudged]);
    $callback = fn(Request $request) => Identity\Response::unkept(303);
    try {
        eval($found[1]);
    } catch (LogicException $error) {
        same('The login is broken.', $error->getMessage());
        return;
    }
    same(true, false, 'a client that lets everybody in passes');
});
