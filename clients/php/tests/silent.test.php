<?php

declare(strict_types=1);

// Tests logins that show no page: loginSilently.

use Identity\{Request, Response, Stores};

const SILENT = '__Host-shop_silent';

/** The callback as the service opens it after a silent launch. */
function answerSilently(Site $site, Response $start, string $error, ?string $state = null): Response
{
    parse_str((string) parse_url((string) $start->header('location'), PHP_URL_QUERY), $launch);
    return $site->open('/sso/callback?' . http_build_query(['error' => $error, 'state' => $state ?? $launch['state']]));
}

function trySilently(Site $site, string $path = '/orders', string $query = 'x=1', mixed ...$more): ?Response
{
    $answer = $site->client->loginSilently($site->request($path, $query, ...$more));
    return $answer === null ? null : $site->browser->keep($answer);
}

test('a silent login asks once, and leads back to the page without a try for ten minutes (contract 13.128 and 13.129)', function (): void {
    foreach (['login_required', 'interaction_required', 'access_denied'] as $error) {
        $site = memorySite();
        $start = trySilently($site);
        parse_str((string) parse_url((string) $start->header('location'), PHP_URL_QUERY), $launch);
        same(['none', '/orders?x=1', true], [$launch['prompt'], $launch['return_to'], (bool) preg_match('/^silent\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]+$/D', $launch['state'])]);
        same(SILENT . '=1; Path=/; Max-Age=600; HttpOnly; Secure; SameSite=Lax', $site->browser->set[1]);
        $log = logOf(function () use ($site, $start, $error): void {
            $answer = answerSilently($site, $start, $error);
            same([303, 'https://shop.example.test/orders?x=1'], [$answer->status, $answer->header('location')]);
        });
        same('', $log);
        same(true, isset($site->browser->cookies[SILENT]));
        same([null, null], [trySilently($site), trySilently($site, '/', '')]);
        // The browser deletes the cookie after ten minutes.
        unset($site->browser->cookies[SILENT]);
        same(303, trySilently($site)->status);
    }
});

test('a silent login that finds somebody leads to the page, and a later one is not needed', function (): void {
    $site = memorySite();
    $answer = $site->arrive((string) trySilently($site)->header('location'));
    same([303, 'https://shop.example.test/orders?x=1', 'Zoë O’Neil'], [$answer->status, $answer->header('location'), $site->person()?->name]);
    same(null, trySilently($site));
});

test('a login or a log-out lets it try again (contract 13.129)', function (): void {
    $site = memorySite();
    answerSilently($site, trySilently($site), 'login_required');
    $site->logIn();
    same([false, true], [isset($site->browser->cookies[SILENT]), isset($site->browser->cookies[COOKIE])]);
    $site->browser->cookies[SILENT] = '1';
    $site->logOut();
    same([], array_filter(array_keys($site->browser->cookies), fn($name) => !str_contains($name, 'attempt')));
    same(303, trySilently($site)->status);
});

test('a browser that keeps no cookie comes back to each page once, in 200 visits (contract 13.136)', function (): void {
    $site = memorySite();
    $log = logOf(function () use ($site): void {
        foreach (range(1, 200) as $visit) {
            $start = trySilently($site, '/news', "page=$visit");
            $site->browser->cookies = [];
            // Half of the visits find somebody logged in at the service, and half find nobody.
            $back = $visit % 2 ? $site->arrive((string) $start->header('location')) : answerSilently($site, $start, 'login_required');
            same([303, "https://shop.example.test/news?page=$visit&silent=no"], [$back->status, $back->header('location')]);
            same([[], null], [$site->browser->cookies, trySilently($site, '/news', "page=$visit&silent=no")]);
        }
    });
    same('', $log);
    same([null, null], [trySilently($site, '/', 'silent=x&silent=no'), $site->person()]);
});

test('a made-up state leads to no page of another site', function (): void {
    $site = memorySite();
    $where = function (string $page) use ($site): array {
        $state = 'silent.' . str_repeat('A', 22) . '.' . Identity\Envelope::encode($page);
        $answer = null;
        logOf(function () use ($site, $state, &$answer): void {
            $answer = $site->open("/sso/callback?error=login_required&state=$state");
        });
        return [$answer->status, $answer->header('location')];
    };
    foreach (['//evil.example/', '/\\evil.example', 'https://evil.example/', "/\r\nx: y", "/\xff", 'x'] as $page) {
        same([403, null], $where($page), $page);
    }
    same([303, 'https://shop.example.test/.//evil.example?silent=no'], $where('/.//evil.example#x'));
});

test('nobody else chooses the page, and no other answer leads there', function (): void {
    $site = memorySite();
    $start = trySilently($site);
    [$name, $value] = [array_key_first($site->browser->cookies), reset($site->browser->cookies)];
    matches('/attempt_silent/', $name);
    [$at, $age, $signature] = explode('.', $value);
    $site->browser->cookies[$name] = "$at.$age." . strrev($signature);
    same('https://shop.example.test/orders?x=1&silent=no', answerSilently($site, $start, 'login_required')->header('location'));
    // The cookie of an attempt for one page does not count for another page.
    $other = str_replace(Identity\Envelope::encode('/orders?x=1'), Identity\Envelope::encode('/evil'), substr($name, strlen('__Host-identity_attempt_')));
    $site->browser->cookies = ["__Host-identity_attempt_$other" => $value];
    same('https://shop.example.test/evil?silent=no', answerSilently($site, $start, 'login_required', $other)->header('location'));
    $site->browser->cookies = [$name => $value];
    foreach (['odd' => 'error_unknown', 'server_error' => 'error_unknown'] as $error => $code) {
        logOf(fn() => same([400, $code], [($answer = answerSilently($site, $start, $error))->status, $answer->header('identity-refusal')]));
    }
    // A login that the person started has no page to lead back to.
    $launch = $site->browser->keep($site->client->startLogin($site->request('/login'), prompt: 'none'));
    logOf(fn() => same('login_required', answerSilently($site, $launch, 'login_required')->header('identity-refusal')));
    // A request that has both an error and a payload counts as a hand-off.
    logOf(fn() => same(null, $site->open('/sso/callback?error=login_required&payload=x&state=' . substr($name, strlen('__Host-identity_attempt_')))->header('set-cookie')));
    same("$at.$age", NOW . '.-');
});

test('it tries only from a page that a person sees', function (): void {
    $site = memorySite();
    same([null, null, null], [trySilently($site, method: 'POST'), trySilently($site, '//evil.example'), trySilently($site, '/' . str_repeat('a', 400))]);
    foreach ([['sec-fetch-dest' => 'image'], ['sec-fetch-dest' => 'empty'], ['sec-purpose' => 'prefetch']] as $headers) {
        same(null, trySilently($site, headers: $headers));
    }
    same(null, $site->client->loginSilently(new Request('GET', 'x=1')));
    same(303, trySilently($site, headers: ['sec-fetch-dest' => 'document'])->status);
    // Clients that keep their own sessions can use silent logins, too.
    same(303, openClient()->loginSilently(new Request('GET', path: '/'))->status);
});

test('at most five attempts are kept, silent or not', function (): void {
    $site = memorySite();
    foreach (range(1, 4) as $second) {
        Clock::$now = NOW + $second;
        trySilently($site);
        unset($site->browser->cookies[SILENT]);
        $site->browser->start($site->client);
    }
    Clock::$now = NOW;
    same(5, count($site->browser->cookies));
});

test('the way back keeps the query as it was, byte by byte, and adds silent=no', function (): void {
    $query = 'a=1%20x&sig=%2B%7e+&flag&b=&b=&%c3%a9';
    $site = memorySite();
    $start = trySilently($site, '/p%2fq', $query);
    same("https://shop.example.test/p%2fq?$query", answerSilently($site, $start, 'login_required')->header('location'));
    $site->browser->cookies = [];
    same("https://shop.example.test/p%2fq?$query&silent=no", answerSilently($site, $start, 'login_required')->header('location'));
});

test('if the store is away, a silent login is answered by 503 (contract 13.132)', function (): void {
    Clock::$now = NOW;
    $site = new Site(new Stores($sessions = new AwaySessions(), new Identity\MemoryProfiles(), new Identity\MemoryPosition()));
    $site->logIn();
    $sessions->isAway = true;
    logOf(fn() => same([503, 'store_unavailable'], [($answer = trySilently($site))->status, $answer->header('identity-refusal')]));
});
