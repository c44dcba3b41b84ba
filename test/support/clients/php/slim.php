<?php

// A site on Slim 3 (Debian: php-slim) with the sample of the README for Slim 4, whose middleware is of PSR-15.

use Psr\Http\Message\{ResponseInterface, ServerRequestInterface};
use Psr\Http\Server\{MiddlewareInterface, RequestHandlerInterface};

require __DIR__ . '/samples.php';
require KIT . '/tests/psr-server.php';
require 'Slim/autoload.php';
require 'Nyholm/Psr7/autoload.php';

final class Bridge extends Slim\App
{
    public function add($middleware)
    {
        return parent::add(fn($request, $response, $next) => $middleware->process($request, new Rest($next, $response)));
    }
}

final class Rest implements RequestHandlerInterface
{
    public function __construct(private $next, private ResponseInterface $response)
    {
    }

    public function handle(ServerRequestInterface $request): ResponseInterface
    {
        return ($this->next)($request, $this->response);
    }
}

$database = new Identity\PdoDatabase(openDatabase());
$client = Identity\Client::fromUrl((string) getenv('IDENTITY_URL'), (string) getenv('ORIGIN'), $database);
$app = new Bridge();
eval(sample('Psr17Factory()'));
$app->run();
