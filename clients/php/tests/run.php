<?php

declare(strict_types=1);

// Runs all tests of the kit. Prints what failed, or nothing if all passed.

require __DIR__ . '/../autoload.php';
require __DIR__ . '/support.php';
require __DIR__ . '/site.php';

error_reporting(E_ALL);
// Shows arguments in stack traces, so that a test would notice a secret in a stack trace.
ini_set('zend.exception_ignore_args', '0');
$log = (string) tempnam(sys_get_temp_dir(), 'identity-log-');
ini_set('error_log', $log);
set_error_handler(static fn(int $level, string $message) => throw new ErrorException($message));

foreach (glob(__DIR__ . '/*.test.php') as $file) {
    Clock::$now = NOW;
    require $file;
}
// Only a login that is accepted may log a line (see login.test.php). Tests of refusals use logOf(), which catches their
// lines.
$unexpected = preg_grep('/identity-client: accepted, launch [0-9a-f]{4}-[0-9a-f]{4}$/D', file($log, FILE_IGNORE_NEW_LINES), PREG_GREP_INVERT);
array_push(Results::$failures, ...array_values($unexpected));
unlink($log);
if (Results::$failures !== [] || Results::$count === 0) {
    fwrite(STDERR, implode("\n", Results::$failures) . "\n");
    exit(1);
}
