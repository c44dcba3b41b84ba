<?php

declare(strict_types=1);

// Tests the function of the guide for Laravel and Symfony (Debian: php-symfony-http-foundation), if HttpFoundation is here.

use Symfony\Component\HttpFoundation\Request;

if (stream_resolve_include_path('Symfony/Component/HttpFoundation/autoload.php') === false) {
    return;
}
require_once 'Symfony/Component/HttpFoundation/autoload.php';

test('the function of the guide logs in and out with the requests of HttpFoundation', function (): void {
    preg_match('/```php\n(function answerByIdentity.*?)```/s', file_get_contents(__DIR__ . '/../README.md'), $found);
    eval($found[1]);
    $site = memorySite();
    $send = function (string $url, string $method = 'GET', array $fields = []) use ($site): array {
        $body = http_build_query($fields);
        $request = Request::create("https://shop.example.test$url", $method, $fields, content: $body);
        $request->headers->set('Cookie', (string) $site->browser->request()->headers['cookie']);
        $response = answerByIdentity($site->client, $request);
        foreach ($response?->headers->all('set-cookie') ?? [] as $line) {
            preg_match('/^([^=]+)=([^;]*)(.*)$/', $line, $found);
            $site->browser->cookies[$found[1]] = str_contains($found[3], 'Max-Age=0;') ? '' : $found[2];
        }
        return [$response, $request];
    };
    [$start] = $send('/login?return_to=%2Forders');
    $fake = new Identity\FakeIdentity((fn() => $this->configuration)->call($site->client), fn() => Clock::$now);
    [$back] = $send('/sso/callback?' . explode('?', $fake->handOff($start->headers->get('location')))[1]);
    same([303, 'https://shop.example.test/orders'], [$back->getStatusCode(), $back->headers->get('location')]);
    same(43, strlen($site->browser->cookies[COOKIE]));
    [$none, $request] = $send('/orders');
    same([null, 'Zoë O’Neil'], [$none, $request->attributes->get('person')->name]);
    logOf(fn() => same(403, $send('/logout', 'POST', ['token' => 'x'])[0]->getStatusCode()));
    [$left] = $send('/logout', 'POST', ['token' => $request->attributes->get('logoutToken')]);
    same([303, ''], [$left->getStatusCode(), $site->browser->cookies[COOKIE]]);
    same(null, $send('/orders')[1]->attributes->get('person'));
});
