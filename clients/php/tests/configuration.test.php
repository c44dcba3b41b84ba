<?php

declare(strict_types=1);

// Tests configurations, and that the codes of refusals are the documented codes.

use Identity\{Configuration, ConfigurationError, Refusal, RefusalPage, Request};

/** The faults, by the names of the parameters. */
function faultsOf(array $changes): array
{
    try {
        openClient($changes);
        return [];
    } catch (ConfigurationError $error) {
        matches('/configuration of this client is wrong:\n- /', $error->getMessage());
        return array_keys($error->faults);
    }
}

test('a faulty configuration names all faults at once, and no secret', function (): void {
    $secret = 'too-short-and-secret';
    $faulty = ['issuer' => 'id.example.test', 'client' => 'The Shop', 'secrets' => [$secret],
        'callbackUrl' => 'http://shop.example.test/cb', 'loginUrl' => '/login', 'ttlSeconds' => 0];
    same(['issuer', 'client', 'secrets', 'callbackUrl', 'loginUrl', 'ttlSeconds'], faultsOf($faulty));
    try {
        openClient($faulty);
    } catch (ConfigurationError $error) {
        same(false, str_contains((string) $error, $secret));
    }
});

test('each parameter is checked', function (): void {
    $wrong = [
        'issuer' => ['', 'http://id.example.test', 'https://id.example.test/path', 'https://id.example.test?x',
            'https://u:p@id.example.test', 'https://id.example.test#x', "https://id.example.test\n"],
        'client' => ['', 'shop-1', "shop\n", '1shop'],
        'secrets' => [[], [SECRET, NEXT, SECRET . 'x'], [SECRET, SECRET], [''], [str_repeat('x', 31)], [SECRET . "\n"],
            [' ' . SECRET], [SECRET . ',' . NEXT], [1], ['a' => SECRET]],
        'callbackUrl' => ['https://shop.example.test/cb?state=1', 'https://shop.example.test/cb?x&%70ayload=1',
            'https://shop.example.test/cb#x'],
        'loginUrl' => ['https://www.example.test/login', 'http://shop.example.test/login', 'javascript:alert(1)',
            'https://shop.example.test:444/login', 'https:\\\\shop.example.test'],
        'homeUrl' => ['https://www.example.test/', '/'],
        'ttlSeconds' => [-1, 29, 3601],
    ];
    foreach ($wrong as $name => $values) {
        foreach ($values as $value) {
            same(true, in_array($name, faultsOf([$name => $value]), true), "$name " . json_encode($value));
        }
    }
    $local = ['callbackUrl' => 'http://localhost:4000/sso/callback', 'loginUrl' => 'http://localhost:4000/login'];
    foreach ([[''], ['short', ' short'], ['short', 'short']] as $secrets) {
        same(['secrets'], faultsOf(['secrets' => $secrets] + $local));
    }
    same(['secrets'], faultsOf(['secrets' => ['short'], 'issuer' => 'http://localhost:3000']));
    $right = [['secrets' => ['short', 'other']] + $local, ['ttlSeconds' => 30], ['issuer' => 'http://localhost:3000'], ['issuer' => 'http://127.0.0.1:3000'],
        ['issuer' => 'http://[::1]:3000'], ['callbackUrl' => 'https://shop.example.test:443/wp-login.php?action=x'],
        ['callbackUrl' => 'https://SHOP.example.test/cb'], ['homeUrl' => 'https://shop.example.test/home'], ['secrets' => [SECRET, NEXT]]];
    foreach ($right as $changes) {
        same([], faultsOf($changes), json_encode($changes));
    }
});

test('IDENTITY_URL says service, client and secrets, or is refused without its values', function (): void {
    $cases = json_decode(file_get_contents(__DIR__ . '/../../identity-urls.json'), true, flags: JSON_THROW_ON_ERROR);
    same(true, count($cases) > 20);
    foreach ($cases as $case) {
        try {
            $made = Configuration::fromUrl($case['url'], 'https://shop.example.test/', memoryNonces());
            same([$case['issuer'] ?? null, $case['client'] ?? null, $case['secrets'] ?? null], [$made->issuer, $made->client, $made->secrets], $case['why']);
            same(['https://shop.example.test/sso/callback', 'https://shop.example.test/login'], [$made->callbackUrl, $made->loginUrl]);
        } catch (ConfigurationError $error) {
            same([false, ['identityUrl']], [isset($case['issuer']), array_keys($error->faults)], $case['why']);
            same(0, preg_match('/kanarienvogel/', $error . print_r($error->getTrace(), true)), $case['why']);
        }
    }
    $url = $cases[0]['url'];
    $other = Configuration::fromUrl($url, 'https://shop.example.test', memoryNonces(), callbackUrl: 'https://shop.example.test/cb', ttlSeconds: 60);
    same(['https://shop.example.test/cb', 60], [$other->callbackUrl, $other->ttlSeconds]);
    $site = 'https://shop.example.test';
    $byHand = fn() => new Configuration($url, 'shop', [SECRET], "$site/cb", "$site/login", memoryNonces());
    foreach ([$byHand, fn() => Configuration::fromUrl($url, 'shop', memoryNonces(), ttlSeconds: 1)] as $run) {
        try {
            $run();
            same(true, false, 'not refused');
        } catch (ConfigurationError $error) {
            same(0, preg_match('/kanarienvogel/', $error . print_r($error->getTrace(), true)));
        }
    }
});

test('IDENTITY_URL is in no log and no answer', function (): void {
    $url = 'https://shop:kanarienvogel-0123456789-0123456789@id.example.test';
    $client = new Identity\Client(Configuration::fromUrl($url, 'https://shop.example.test', memoryNonces()), new class implements Identity\Http {
        public function get(string $url, array $headers): Identity\HttpAnswer
        {
            return new Identity\HttpAnswer(401, '{}');
        }
    });
    $seen = '';
    $seen .= logOf(function () use ($client, &$seen): void {
        $answers = [
            $client->startLogin(new Request('GET', '', ['Host' => 'elsewhere.example'])),
            $client->handleCallback(new Request('GET', 'payload=x&signature=y', path: '/other'), fn() => null, fn() => null),
            $client->receiveNudge(new Request('POST')),
        ];
        $seen .= print_r($answers, true);
        try {
            $client->pullEvents(new Identity\MemoryPosition(), fn() => null, fn() => null);
        } catch (Throwable $error) {
            $seen .= $error . print_r($error->getTrace(), true);
        }
    });
    matches('/opened_elsewhere.*payload_malformed.*nudge_malformed/s', $seen);
    same(0, preg_match('/kanarienvogel|shop:/', $seen));
});

test('a dump and a trace do not show secrets', function (): void {
    $client = openClient();
    ob_start();
    var_dump($client);
    print_r($client);
    same(false, str_contains((string) ob_get_clean(), SECRET));
});

test('the codes are those of all kits', function (): void {
    $refusals = json_decode(file_get_contents(__DIR__ . '/../../refusals.json'), true);
    same(array_column($refusals, 'status', 'code'), Refusal::STATUSES);
    foreach ($refusals as $refusal) {
        $expected = strtr("$refusal[meaning] $refusal[remedy]", ['’' => "'"]);
        same($expected, (new Refusal($refusal['code']))->reason);
        foreach (['Because', 'Because.'] as $detail) {
            same("Because. $expected", (new Refusal($refusal['code'], detail: $detail))->reason);
        }
    }
});

test('the sentences to people are those of all kits', function (): void {
    $people = array_column(json_decode(file_get_contents(__DIR__ . '/../../refusals.json'), true), 'person', 'code');
    same(true, count($people) > 20);
    $our = new Configuration('https://id.example.test', 'shop', [SECRET], 'https://shop.example.test/cb', 'https://shop.example.test/login', memoryNonces());
    foreach ($people as $code => $sentence) {
        $page = RefusalPage::build(new Refusal($code, detail: 'For the log.'), $our)->body;
        same(true, str_contains($page, "<p>$sentence</p>"), $code);
        same(false, str_contains($page, 'For the log.'));
    }
});

test('a request of this process is read as it arrived', function (): void {
    $_SERVER = ['REQUEST_METHOD' => 'GET', 'REQUEST_URI' => '/cb?payload=a&payload=b', 'QUERY_STRING' => 'more=1&payload=a',
        'HTTP_COOKIE' => 'a=1; b=2=3; a=4', 'HTTP_WEBHOOK_ID' => 'x', 'CONTENT_TYPE' => 'application/json', 'HTTP_HOST' => 'evil.example'];
    $request = Request::fromGlobals();
    same(['GET', 'payload=a&payload=b', ['a' => '1', 'b' => '2=3']], [$request->method, $request->query, $request->cookies()]);
    same(['/cb', 'evil.example'], [$request->path, $request->headers['host']]);
    same(['x', 'application/json', null], [$request->headers['webhook-id'], $request->headers['content-type'], $request->parameter('payload')]);
});
