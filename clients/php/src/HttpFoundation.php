<?php

declare(strict_types=1);

namespace Identity;

use Symfony\Component\HttpFoundation as Symfony;

/**
 * The kit for frameworks that use Symfony's HttpFoundation, such as Symfony and Laravel. It answers the same paths as `Psr15`.
 * Other requests get the attributes `person` (a Profile, or null for nobody) and `logoutToken`.
 */
final class HttpFoundation
{
    public function __construct(
        private readonly Client $client,
        private readonly string $eventsPath = '/sso/events',
        private readonly string $logoutPath = '/logout',
    ) {
    }

    /** Answers a request for one of the kit's paths. Null for any other page. */
    public function answer(Symfony\Request $request): ?Symfony\Response
    {
        $read = $this->read($request);
        try {
            $answer = $this->client->answer($read, $this->eventsPath, $this->logoutPath);
            if ($answer === null) {
                $person = $this->client->currentPerson($read);
                $token = $person === null ? '' : $this->client->logoutToken($read);
                $request->attributes->add(['person' => $person, 'logoutToken' => $token]);
                return null;
            }
        } catch (Refusal $refusal) {
            $answer = $this->client->refuse($refusal);
        }
        return self::write($answer);
    }

    /** Converts a request for `requireLogin` or `loginSilently`. */
    public function read(Symfony\Request $request): Request
    {
        [$path] = explode('?', $request->getRequestUri());
        $headers = array_map(static fn(array $values) => implode('; ', $values), $request->headers->all());
        $isOurs = $request->getMethod() === 'POST' && in_array($path, [$this->eventsPath, $this->logoutPath], true);
        $body = $isOurs ? (string) stream_get_contents($request->getContent(true), Request::MAX_BODY_BYTES + 1) : '';
        // If a form came as multipart, PHP has read its body already. So the body is built again from the fields.
        $body = $isOurs && $body === '' ? http_build_query($request->request->all()) : $body;
        return new Request($request->getMethod(), (string) $request->server->get('QUERY_STRING'), $headers, $body, $path);
    }

    public static function write(Response $answer): Symfony\Response
    {
        $response = new Symfony\Response($answer->body, $answer->status);
        foreach ($answer->headers as [$name, $value]) {
            $response->headers->set($name, $value, $name !== 'Set-Cookie');
        }
        return $response;
    }
}
