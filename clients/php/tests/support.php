<?php

declare(strict_types=1);

// Helpers for the tests of the kit. They use no test framework, so that they run wherever PHP runs.

use Identity\{Client, Configuration, HandOff, Members, MemoryNonces, NonceStore, Profile, Refusal, Request, Response};

const SECRET = 'a-secret-of-the-shop-for-this-test';
const NEXT = 'the-next-secret-of-the-shop-for-it';
const NOW = 1_767_225_700;

final class Results
{
    /** @var list<string> */
    public static array $failures = [];
    public static int $count = 0;
}

function test(string $name, callable $run): void
{
    Results::$count += 1;
    try {
        $run();
    } catch (Throwable $error) {
        $file = basename($error->getFile());
        Results::$failures[] = "$name\n  {$error->getMessage()} ($file:{$error->getLine()})";
    }
}

function same(mixed $expected, mixed $actual, string $what = ''): void
{
    if ($expected !== $actual) {
        [$wanted, $got] = array_map(static fn($value) => var_export($value, true), [$expected, $actual]);
        throw new LogicException("$what: expected $wanted and got $got");
    }
}

function matches(string $form, string $text): void
{
    if (!preg_match($form, $text)) {
        throw new LogicException("$form is not in: $text");
    }
}

/** The code of the refusal that a call throws, or null. */
function refusalOf(callable $run): ?string
{
    try {
        $run();
        return null;
    } catch (Refusal $refusal) {
        return $refusal->refusalCode;
    }
}

/** Runs a function, and returns what it writes to PHP's own log, without the times. */
function logOf(callable $run): string
{
    $file = (string) tempnam(sys_get_temp_dir(), 'identity-log-');
    $before = (string) ini_set('error_log', $file);
    try {
        $run();
        return (string) preg_replace('/^\[[^]]+\] |\n$/m', '', trim((string) file_get_contents($file)));
    } finally {
        ini_set('error_log', $before);
        unlink($file);
    }
}

/** A clock that tests set. */
final class Clock
{
    public static int $now = NOW;
}

function memoryNonces(): MemoryNonces
{
    return new MemoryNonces(static fn() => Clock::$now);
}

/** @param array<string, mixed> $changes of the configuration */
function openClient(array $changes = [], ?Identity\Http $http = null): Client
{
    $configuration = new Configuration(...$changes + [
        'issuer' => 'https://id.example.test',
        'client' => 'shop',
        'secrets' => [SECRET],
        'callbackUrl' => 'https://shop.example.test/sso/callback',
        'loginUrl' => 'https://shop.example.test/login',
        'nonces' => memoryNonces(),
    ]);
    return new Client($configuration, $http ?? new Identity\SystemHttp(), static fn() => Clock::$now);
}

/** The members of a payload. @param array<string, mixed> $changes by their paths. A member that is null is left out */
function payload(array $changes = []): array
{
    $payload = [
        'iss' => 'https://id.example.test',
        'aud' => 'shop',
        'iat' => Clock::$now,
        'exp' => Clock::$now + 300,
        'nonce' => rtrim(strtr(base64_encode(random_bytes(16)), '+/', '-_'), '='),
        'client' => 'shop',
        'sid' => 'Vt1n0cVtSh2mV0y0rU3y8Q',
        'auth_time' => Clock::$now - 10,
        'amr' => ['pwd'],
        'profile' => profile(),
    ];
    foreach ($changes as $path => $value) {
        $at = &$payload;
        $names = explode('.', $path);
        $last = array_pop($names);
        foreach ($names as $name) {
            $at = &$at[$name];
        }
        if ($value === null) {
            unset($at[$last]);
        } else {
            $at[$last] = $value;
        }
        unset($at);
    }
    return $payload;
}

function profile(string $updatedAt = '2026-01-01T00:00:00.000Z', string $name = 'Zoë O’Neil'): array
{
    return [
        'id' => '0190f5a0-0000-7000-8000-000000000001',
        'email' => 'zoe@example.test',
        'name' => $name,
        'role' => 'merchant',
        'account' => ['capabilities' => ['manage_storefront', 'sell_products']],
        'profile_updated_at' => $updatedAt,
    ];
}

function readProfile(string $updatedAt, string $name): Profile
{
    return Profile::read(new Members(json_decode(json_encode(profile($updatedAt, $name)))));
}

/** The query of a hand-off. */
function seal(array|string $payload, string ...$secrets): string
{
    $json = is_string($payload) ? $payload : json_encode($payload, JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE);
    $wire = rtrim(strtr(base64_encode($json), '+/', '-_'), '=');
    [$secret, $next] = $secrets + [SECRET, null];
    return http_build_query([
        'payload' => $wire,
        'signature' => hash_hmac('sha256', $wire, $secret),
        'signature_next' => $next === null ? null : hash_hmac('sha256', $wire, $next),
    ]);
}

/** The client in the test vectors. */
function vectorConfiguration(array $sso, array $secrets, ?NonceStore $nonces = null): Configuration
{
    $given = $sso['callbacks']['configuration'];
    return new Configuration(
        $given['issuer'],
        $given['client'],
        $secrets,
        $given['callback_url'],
        $given['login_url'],
        $nonces ?? memoryNonces(),
        $given['home_url'],
        $given['ttl_seconds'],
    );
}

/** A browser that keeps cookies. */
final class Browser
{
    /** @var array<string, string> */
    public array $cookies = [];
    /** @var list<string> */
    public array $set = [];
    /** @var list<HandOff> */
    public array $sessions = [];
    /** @var list<Refusal> */
    public array $log = [];
    public bool $isLoggedIn = false;

    public function request(string $query = '', string $method = 'GET', array $headers = []): Request
    {
        $pairs = array_map(fn($name, $value) => "$name=$value", array_keys($this->cookies), $this->cookies);
        return new Request($method, $query, $headers + ['Cookie' => implode('; ', $pairs)]);
    }

    /** Starts a login, and returns the parameters of the launch. */
    public function start(Client $client, ?string $returnTo = null, ?string $prompt = null, ?int $maxAge = null): array
    {
        $response = $this->keep($client->startLogin($this->request(), $returnTo, $prompt, $maxAge));
        same(303, $response->status);
        [$url, $query] = explode('?', (string) $response->header('location'));
        same('https://id.example.test/sso/launch/shop', $url);
        parse_str($query, $parameters);
        return $parameters;
    }

    public function call(Client $client, string $query, string $method = 'GET', mixed ...$more): Response
    {
        return $this->keep($client->handleCallback(...$more + [
            'request' => $this->request($query, $method),
            'startSession' => function (HandOff $handOff): array {
                $this->sessions[] = $handOff;
                return ['session=1; Path=/'];
            },
            'endSession' => fn() => throw new LogicException('ended'),
            'isLoggedIn' => fn() => $this->isLoggedIn,
            'log' => function (Refusal $refusal): void {
                $this->log[] = $refusal;
            },
        ]));
    }

    public function keep(Response $response): Response
    {
        $this->set = array_column(array_filter($response->headers, fn($header) => $header[0] === 'Set-Cookie'), 1);
        foreach ($this->set as $cookie) {
            preg_match('/^([^=]+)=([^;]*)(.*)$/', $cookie, $found);
            if (str_contains($found[3], 'Max-Age=0;')) {
                unset($this->cookies[$found[1]]);
            } else {
                $this->cookies[$found[1]] = $found[2];
            }
        }
        foreach (['cache-control' => 'no-store', 'referrer-policy' => 'no-referrer'] as $name => $value) {
            same($value, $response->header($name), $name);
        }
        return $response;
    }
}

/** A nonce store that throws. */
final class BrokenNonces implements NonceStore
{
    public function consume(string $nonce, int $keepUntil): bool
    {
        throw new RuntimeException('away');
    }

    public function addEnded(string $sid, int $keepUntil): void
    {
        throw new RuntimeException('away');
    }

    public function hasEnded(string $sid): bool
    {
        throw new RuntimeException('away');
    }
}
