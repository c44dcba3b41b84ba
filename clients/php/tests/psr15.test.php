<?php

declare(strict_types=1);

// Tests the middleware with messages of nyholm/psr7 (Debian: php-nyholm-psr7), if it is installed.

use Identity\{Psr15, Stores};
use Nyholm\Psr7\{Factory\Psr17Factory, ServerRequest};
use Psr\Http\Message\{ResponseInterface, ServerRequestInterface};
use Psr\Http\Server\RequestHandlerInterface;

if (stream_resolve_include_path('Nyholm/Psr7/autoload.php') === false) {
    return;
}
require_once 'Nyholm/Psr7/autoload.php';
if (!interface_exists(Psr\Http\Server\MiddlewareInterface::class)) {
    require_once __DIR__ . '/psr-server.php';
}

/** A handler whose pages say who is logged in. */
final class Pages implements RequestHandlerInterface
{
    public function handle(ServerRequestInterface $request): ResponseInterface
    {
        $response = (new Psr17Factory())->createResponse();
        $response->getBody()->write(json_encode([$request->getAttribute('person')?->name, $request->getAttribute('logoutToken')]));
        return $response;
    }
}

/** Sends a request through the middleware, and keeps cookies. */
function sendThrough(Site $site, string $url, string $method = 'GET', array $headers = [], string $body = '', ?array $fields = null): ResponseInterface
{
    $cookie = $site->browser->request()->headers['cookie'];
    $request = (new ServerRequest($method, "https://shop.example.test$url", $headers + ['Cookie' => $cookie], $body))->withParsedBody($fields);
    $response = (new Psr15($site->client, new Psr17Factory()))->process($request, new Pages());
    foreach ($response->getHeader('set-cookie') as $line) {
        preg_match('/^([^=]+)=([^;]*)(.*)$/', $line, $found);
        if (str_contains($found[3], 'Max-Age=0;')) {
            unset($site->browser->cookies[$found[1]]);
        } else {
            $site->browser->cookies[$found[1]] = $found[2];
        }
    }
    return $response;
}

test('the middleware answers the whole login and log-out, and tells pages who is there', function (): void {
    $site = memorySite();
    same('[null,""]', (string) sendThrough($site, '/')->getBody());
    $launch = sendThrough($site, '/login?return_to=/orders')->getHeaderLine('location');
    $fake = new Identity\FakeIdentity((fn() => $this->configuration)->call($site->client), fn() => Clock::$now);
    $back = sendThrough($site, '/sso/callback?' . explode('?', $fake->handOff($launch))[1]);
    same([303, 'https://shop.example.test/orders'], [$back->getStatusCode(), $back->getHeaderLine('location')]);
    [$name, $token] = json_decode((string) sendThrough($site, '/orders')->getBody());
    same(['Zoë O’Neil', 64], [$name, strlen($token)]);
    $nudge = nudge();
    same(204, sendThrough($site, '/sso/events', 'POST', $nudge->headers + ['Content-Type' => 'application/json'], $nudge->body, ['read' => 'before'])->getStatusCode());
    logOf(fn() => same(403, sendThrough($site, '/logout', 'POST', [], 'token=x')->getStatusCode()));
    $form = ['Content-Type' => 'multipart/form-data; boundary=x'];
    same(303, sendThrough($site, '/logout', 'POST', $form, '', ['token' => $token])->getStatusCode());
    same('[null,""]', (string) sendThrough($site, '/')->getBody());
});

test('the middleware answers 503 if a store is away', function (): void {
    $site = new Site(new Stores($sessions = new AwaySessions(), new Identity\MemoryProfiles(), new Identity\MemoryPosition()));
    $site->logIn();
    $sessions->isAway = true;
    logOf(fn() => same([503, 'store_unavailable'], [($answer = sendThrough($site, '/'))->getStatusCode(), $answer->getHeaderLine('identity-refusal')]));
});

test('the middleware reads bodies of POST only, and a token given twice is none', function (): void {
    $site = memorySite();
    $site->logIn();
    $body = Nyholm\Psr7\Stream::create('token=x');
    $body->seek(3);
    $request = fn(string $method) => (new ServerRequest($method, 'https://shop.example.test/logout'))->withBody($body);
    $send = fn($request) => (new Psr15($site->client, new Psr17Factory()))->process($request, new Pages())->getStatusCode();
    logOf(fn() => same([405, 3, 403, 7], [$send($request('PUT')), $body->tell(), $send($request('POST')), $body->tell()]));
    $token = $site->client->logoutToken($site->request());
    $form = ['Content-Type' => 'application/x-www-form-urlencoded'];
    logOf(fn() => same(403, sendThrough($site, '/logout', 'POST', $form, "token=x&token=$token", ['token' => $token])->getStatusCode()));
    same(true, $site->person() !== null);
});
