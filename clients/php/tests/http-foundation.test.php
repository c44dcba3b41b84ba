<?php

declare(strict_types=1);

// Tests the kit with requests of HttpFoundation (Debian: php-symfony-http-foundation), if it is installed.

use Identity\{HttpFoundation, MemoryPosition, MemoryProfiles, Stores};
use Symfony\Component\HttpFoundation\{Request, Response};

if (stream_resolve_include_path('Symfony/Component/HttpFoundation/autoload.php') === false) {
    return;
}
require_once 'Symfony/Component/HttpFoundation/autoload.php';

/** Sends a request, and keeps cookies. @return array{?Response, Request} */
function sendAsSymfony(Site $site, string $url, string $method = 'GET', array $fields = [], string $body = ''): array
{
    $request = Request::create("https://shop.example.test$url", $method, $fields, content: $body);
    $request->headers->set('Cookie', (string) $site->browser->request()->headers['cookie']);
    $response = (new HttpFoundation($site->client))->answer($request);
    foreach ($response?->headers->all('set-cookie') ?? [] as $line) {
        preg_match('/^([^=]+)=([^;]*)(.*)$/', $line, $found);
        $site->browser->cookies[$found[1]] = str_contains($found[3], 'Max-Age=0;') ? '' : $found[2];
    }
    return [$response, $request];
}

test('requests of HttpFoundation log in and out', function (): void {
    $site = memorySite();
    $send = fn(mixed ...$request) => sendAsSymfony($site, ...$request);
    $start = $send('/login?return_to=%2Forders')[0];
    $fake = new Identity\FakeIdentity((fn() => $this->configuration)->call($site->client), fn() => Clock::$now);
    // After PHP has read a multipart form, the request has the fields, but no body.
    foreach ([fn($token) => [['token' => $token], ''], fn($token) => [[], "token=$token"]] as $form) {
        $back = $send('/sso/callback?' . explode('?', $fake->handOff($start->headers->get('location')))[1])[0];
        same([303, 'https://shop.example.test/orders'], [$back->getStatusCode(), $back->headers->get('location')]);
        same(43, strlen($site->browser->cookies[COOKIE]));
        [$none, $request] = $send('/orders');
        same([null, 'Zoë O’Neil'], [$none, $request->attributes->get('person')->name]);
        logOf(fn() => same(403, $send('/logout', 'POST', ...$form('x'))[0]->getStatusCode()));
        $left = $send('/logout', 'POST', ...$form($request->attributes->get('logoutToken')))[0];
        same([303, ''], [$left->getStatusCode(), $site->browser->cookies[COOKIE]]);
        $attributes = $send('/orders')[1]->attributes;
        same([null, ''], [$attributes->get('person', 'none'), $attributes->get('logoutToken')]);
    }
    same([204, 401], array_map(function (string $secret) use ($site): int {
        $nudge = nudge([], $secret);
        $request = Request::create('https://shop.example.test/sso/events', 'POST', content: $nudge->body);
        $request->headers->add($nudge->headers);
        $status = 0;
        logOf(function () use ($site, $request, &$status): void {
            $status = (new HttpFoundation($site->client))->answer($request)->getStatusCode();
        });
        return $status;
    }, [SECRET, NEXT]));
});

test('HttpFoundation gets 503 if a store is away', function (): void {
    $site = new Site(new Stores($sessions = new AwaySessions(), new MemoryProfiles(), new MemoryPosition()));
    $site->logIn();
    $sessions->isAway = true;
    logOf(fn() => same([503, 'store_unavailable'], [($answer = sendAsSymfony($site, '/')[0])->getStatusCode(), $answer->headers->get('identity-refusal')]));
});

test('of a request for the log-out that is no POST, HttpFoundation gives no body', function (): void {
    $read = fn(string $method) => (new HttpFoundation(memorySite()->client))
        ->read(Request::create('https://shop.example.test/logout', $method, content: 'token=x'))->body;
    same(['token=x', '', ''], array_map($read, ['POST', 'PUT', 'GET']));
});
