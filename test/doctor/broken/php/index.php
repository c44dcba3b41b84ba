<?php

declare(strict_types=1);

// /{name}/… is the client that has the deviation of that name. /right/… has no deviation, and /kit/… is the kit.

require __DIR__ . '/store.php';

set_error_handler(static fn(int $level, string $message) => throw new ErrorException($message));

[$path] = explode('?', $_SERVER['REQUEST_URI'], 2);
if (!preg_match('~^/([a-z0-9_]+)/(login|callback|events|)$~', $path, $found)) {
    http_response_code(404);
    exit;
}
define('NAME', $found[1]);
define('PLACE', $found[2]);
define('ORIGIN', "http://127.0.0.1:$_SERVER[SERVER_PORT]");
define('SECRETS', explode(',', (string) getenv('SECRET')));

require NAME === 'kit' ? __DIR__ . '/kit.php' : __DIR__ . '/client.php';
