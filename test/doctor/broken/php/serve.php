<?php

declare(strict_types=1);

// Serves all clients of this folder, and prints its port. When it is told to stop, it ends its web server and deletes its state.
// Needs ISSUER, CLIENT, SECRET (one or two, with a comma between them) and TTL.

require __DIR__ . '/store.php';

// This process leads a group of its own, so that one signal ends the workers of the web server, too.
posix_setpgid(0, 0);
$folder = sys_get_temp_dir() . '/identity-verifiers-' . bin2hex(random_bytes(8));
mkdir($folder, 0700);
putenv("STATE=$folder");
database();
$environment = ['PHP_CLI_SERVER_WORKERS' => '4'] + getenv();
// The web server chooses a free port itself, and writes the port into its log.
$command = [PHP_BINARY, '-d', 'display_errors=stderr', '-S', '127.0.0.1:0', __DIR__ . '/index.php'];
$log = ['file', "$folder/log", 'a'];
$server = proc_open($command, [1 => $log, 2 => $log], $pipes, null, $environment);

$isStopping = false;
pcntl_async_signals(true);
foreach ([SIGTERM, SIGINT, SIGHUP] as $signal) {
    pcntl_signal($signal, function () use (&$isStopping): void {
        $isStopping = true;
    });
}
$parent = posix_getppid();
$isRunning = fn() => proc_get_status($server)['running'];
$readLog = fn() => (string) file_get_contents("$folder/log");
$found = [];
while (!$isStopping && $isRunning() && !preg_match('~http://127\.0\.0\.1:(\d+)\) started~', $readLog(), $found)) {
    usleep(20_000);
}
if ($found === []) {
    fwrite(STDERR, $readLog());
} else {
    echo "$found[1]\n";
}
// Ends if the parent process has ended without sending a signal.
while (!$isStopping && $isRunning() && posix_getppid() === $parent) {
    usleep(100_000);
}
pcntl_signal(SIGTERM, SIG_IGN);
posix_kill(0, SIGTERM);
proc_close($server);
array_map(unlink(...), glob("$folder/*"));
rmdir($folder);
