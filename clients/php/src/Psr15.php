<?php

declare(strict_types=1);

namespace Identity;

use Psr\Http\Message\{ResponseFactoryInterface, ResponseInterface, ServerRequestInterface};
use Psr\Http\Server\{MiddlewareInterface, RequestHandlerInterface};

/**
 * The kit as a middleware of PSR-15. It answers the login start, the callback, nudges and the log-out. Other pages get the
 * attributes `person` (a Profile, or null for nobody) and `logoutToken`. It needs the interfaces of PSR-7, 15 and 17.
 */
final class Psr15 implements MiddlewareInterface
{
    public function __construct(
        private readonly Client $client,
        private readonly ResponseFactoryInterface $responses,
        private readonly string $eventsPath = '/sso/events',
        private readonly string $logoutPath = '/logout',
    ) {
    }

    public function process(ServerRequestInterface $request, RequestHandlerInterface $handler): ResponseInterface
    {
        $isOurs = $request->getMethod() === 'POST'
            && in_array($request->getUri()->getPath(), [$this->eventsPath, $this->logoutPath], true);
        $read = self::read($request, $isOurs ? self::readBody($request) : '');
        $answer = $this->client->answer($read, $this->eventsPath, $this->logoutPath);
        if ($answer !== null) {
            return $this->write($answer);
        }
        try {
            $person = $this->client->currentPerson($read);
        } catch (Refusal $refusal) {
            return $this->write($this->client->refuse($refusal));
        }
        $token = $person === null ? '' : $this->client->logoutToken($read);
        return $handler->handle($request->withAttribute('person', $person)->withAttribute('logoutToken', $token));
    }

    /** Converts a request for `requireLogin` or `loginSilently`. */
    public static function read(ServerRequestInterface $request, string $body = ''): Request
    {
        $uri = $request->getUri();
        $headers = [];
        foreach ($request->getHeaders() as $name => $values) {
            // Slim 3 gives headers the names that they have in PHP, such as HTTP_HOST.
            $headers[strtolower(strtr(preg_replace('/^HTTP_/', '', (string) $name), '_', '-'))] = implode(', ', $values);
        }
        $headers['cookie'] = implode('; ', $request->getHeader('cookie'));
        return new Request($request->getMethod(), $uri->getQuery(), $headers, $body, $uri->getPath() ?: '/');
    }

    public function write(Response $answer): ResponseInterface
    {
        $response = $this->responses->createResponse($answer->status);
        foreach ($answer->headers as [$name, $value]) {
            $response = $response->withAddedHeader($name, $value);
        }
        $response->getBody()->write($answer->body);
        return $response;
    }

    private static function readBody(ServerRequestInterface $request): string
    {
        $body = $request->getBody();
        if ($body->isSeekable()) {
            $body->rewind();
        }
        for ($text = ''; !$body->eof() && strlen($text) <= Request::MAX_BODY_BYTES;) {
            $text .= $body->read(8192);
        }
        $fields = $request->getParsedBody();
        $forms = '~^(?:multipart/form-data|application/x-www-form-urlencoded)\b~i';
        $isForm = preg_match($forms, $request->getHeaderLine('content-type'));
        // If a form came as multipart, PHP has read its body already. So the body is built again from the fields.
        return $text === '' && $isForm && is_array($fields) ? http_build_query($fields) : $text;
    }
}
