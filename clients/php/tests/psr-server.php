<?php

declare(strict_types=1);

// The two interfaces of psr/http-server-handler and psr/http-server-middleware, because Debian has no package of them.

namespace Psr\Http\Server;

use Psr\Http\Message\{ResponseInterface, ServerRequestInterface};

interface RequestHandlerInterface
{
    public function handle(ServerRequestInterface $request): ResponseInterface;
}

interface MiddlewareInterface
{
    public function process(ServerRequestInterface $request, RequestHandlerInterface $handler): ResponseInterface;
}
