<?php

declare(strict_types=1);

// Tests how the kit sends requests to the service, and how it reads requests. The servers run in processes of their own.

use Identity\{HttpAnswer, SystemHttp};

/**
 * Starts a server, and calls `$use` with the server's URL. For each connection, the server runs the PHP code `$answer`, which
 * writes to `$s`.
 */
function withServer(string $answer, callable $use, string $certificate = ''): void
{
    $code = '$c = stream_context_create(["ssl" => ["local_cert" => ' . var_export($certificate, true) . ']]);'
        . '$l = stream_socket_server("' . ($certificate === '' ? 'tcp' : 'ssl') . '://127.0.0.1:0", $n, $m, STREAM_SERVER_BIND | STREAM_SERVER_LISTEN, $c);'
        . 'echo stream_socket_get_name($l, false), "\n";'
        . 'for (;;) { if ($s = @stream_socket_accept($l, 20)) { $r = @fread($s, 8192); ' . $answer . ' @fclose($s); } }';
    $null = ['file', '/dev/null', 'w'];
    $process = proc_open([PHP_BINARY, '-r', $code], [['file', '/dev/null', 'r'], ['pipe', 'w'], $null], $pipes);
    try {
        $use(trim((string) fgets($pipes[1])));
    } finally {
        proc_terminate($process, 9);
        fclose($pipes[1]);
        proc_close($process);
    }
}

/** Returns the status and the body of an answer, or why the request failed. */
function askBy(SystemHttp $http, string $url): array|string
{
    try {
        return array_values((array) $http->get($url, ['X-Test' => 'yes']));
    } catch (RuntimeException | ErrorException $error) {
        return $error->getMessage();
    }
}

foreach (function_exists('curl_init') ? ['curl' => true, 'streams' => false] : ['streams' => false] as $kind => $useCurl) {
    test("by $kind, an answer that trickles ends at the deadline, in its head and in its body (contract 13.140)", function () use ($useCurl): void {
        foreach (['HTTP/1.1 200 OK\r\nX: ', 'HTTP/1.1 200 OK\r\n\r\n'] as $start) {
            $answer = '@fwrite($s, "' . $start . '"); for ($i = 0; $i < 80; $i += 1) { if (!@fwrite($s, "a")) break; usleep(50000); }';
            withServer($answer, function (string $address) use ($useCurl): void {
                $started = microtime(true);
                matches('/cannot be reached/', askBy(new SystemHttp(0.5, $useCurl), "http://$address/"));
                same(true, microtime(true) - $started < 2);
            });
        }
    });

    test("by $kind, an answer over 8 MiB fails before all of it is read, also in chunks", function () use ($useCurl): void {
        $heads = ['HTTP/1.1 200 OK\r\n\r\n' => '', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n' => '10000\r\n'];
        foreach ($heads as $head => $size) {
            $answer = '@fwrite($s, "' . $head . '"); $p = "' . $size . '" . str_repeat("a", 65536) . ("' . $size . '" ? "\r\n" : "");'
                . 'for ($i = 0; $i < 800; $i += 1) { if (!@fwrite($s, $p)) break; }';
            withServer($answer, function (string $address) use ($useCurl): void {
                $before = memory_get_peak_usage();
                matches('/longer than 8 MiB/', askBy(new SystemHttp(20, $useCurl), "http://$address/"));
                same(true, memory_get_peak_usage() - $before < 3 * HttpAnswer::MAX_BYTES);
            });
        }
    });

    test("by $kind, an answer of 8 MiB is taken", function () use ($useCurl): void {
        $answer = '@fwrite($s, "HTTP/1.1 200 OK\r\n\r\n"); for ($i = 0; $i < 128; $i += 1) { @fwrite($s, str_repeat("a", 65536)); }';
        withServer($answer, function (string $address) use ($useCurl): void {
            [$status, $body] = askBy(new SystemHttp(20, $useCurl), "http://$address/");
            same([200, HttpAnswer::MAX_BYTES], [$status, strlen($body)]);
        });
    });

    test("by $kind, answers are read in each of their forms, and half of one is none", function () use ($useCurl): void {
        $forms = [
            'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab' => [200, 'ab'],
            'HTTP/1.0 404 No\r\n\r\nab' => [404, 'ab'],
            'HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\n\r\nab' => [200, 'ab'],
            'HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n' => [302, ''],
            'HTTP/1.1 200 OK\r\ntransfer-encoding:chunked\r\n\r\n3;x=y\r\na\r\n\r\nA\r\n0123456789\r\n0\r\n\r\n' => [200, "a\r\n0123456789"],
            'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nab' => 'fails',
            'HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab' => 'fails',
            'HTTP/1.1 200 OK\r\n' => 'fails',
            'nonsense' => 'fails',
        ];
        foreach ($forms as $wire => $expected) {
            withServer('fwrite($s, "' . $wire . '");', function (string $address) use ($useCurl, $wire, $expected): void {
                $found = askBy(new SystemHttp(5, $useCurl), "http://$address/");
                if ($useCurl && !is_array($expected)) {
                    // Curl accepts a head that ends early. EventReader then refuses the body.
                    return;
                }
                same($expected, is_array($found) ? $found : 'fails', $wire);
            });
        }
    });

    test("by $kind, the request has its path, query and headers", function () use ($useCurl): void {
        withServer('fwrite($s, "HTTP/1.1 200 OK\r\n\r\n" . $r);', function (string $address) use ($useCurl): void {
            [, $request] = askBy(new SystemHttp(5, $useCurl), "http://$address/sso/events?after=0&limit=2");
            matches("~^GET /sso/events\?after=0&limit=2 HTTP/1\.1\r\nHost: $address\r\n(?:.*\r\n)*X-Test: yes\r\n~", $request);
        });
    });
}

test('without curl, https is asked, and its certificate is checked', function (): void {
    if (!extension_loaded('openssl')) {
        return;
    }
    $file = (string) tempnam(sys_get_temp_dir(), 'identity-tls-');
    try {
        $key = openssl_pkey_new(['private_key_bits' => 2048]);
        $signed = openssl_csr_sign(openssl_csr_new(['commonName' => 'localhost'], $key), null, $key, 1);
        openssl_x509_export($signed, $pem);
        openssl_pkey_export($key, $secret);
        file_put_contents($file, $pem . $secret);
        withServer('fwrite($s, "HTTP/1.1 200 OK\r\nContent-Length: 90000\r\n\r\n" . str_repeat("a", 90000));', function (string $address) use ($file): void {
            $ask = function (string $host, string ...$options) use ($address): string {
                $code = 'require ' . var_export(dirname(__DIR__) . '/autoload.php', true) . ';'
                    . 'try { echo strlen((new Identity\SystemHttp(5, false))->get("https://' . $host . strrchr($address, ':') . '/", [])->body); }'
                    . 'catch (RuntimeException $error) { echo "failed"; }';
                $command = array_map('escapeshellarg', [PHP_BINARY, ...$options, '-r', $code]);
                return (string) shell_exec(implode(' ', $command));
            };
            same(['90000', 'failed', 'failed'], [
                $ask('localhost', '-d', "openssl.cafile=$file"),
                $ask('127.0.0.1', '-d', "openssl.cafile=$file"),
                $ask('localhost'),
            ]);
        }, $file);
    } finally {
        unlink($file);
    }
});

test('without curl, a server that never finishes TLS is left at the deadline', function (): void {
    withServer('usleep(3000000);', function (string $address): void {
        $started = microtime(true);
        matches('/cannot be reached/', askBy(new SystemHttp(0.5, false), "https://$address/"));
        same(true, microtime(true) - $started < 2);
    });
});

test('a person is shown in two seconds even if the service trickles (contract 13.125)', function (): void {
    $answer = '@fwrite($s, "HTTP/1.1 200 OK\r\n"); for ($i = 0; $i < 90; $i += 1) { if (!@fwrite($s, "X: a\r\n")) break; usleep(50000); }';
    withServer($answer, function (string $address): void {
        Clock::$now = NOW;
        $configuration = new Identity\Configuration(...[
            'issuer' => "http://$address",
            'client' => 'shop',
            'secrets' => [SECRET],
            'callbackUrl' => 'http://localhost/sso/callback',
            'loginUrl' => 'http://localhost/login',
            'nonces' => memoryNonces(),
        ]);
        foreach (['curl' => true, 'streams' => false] as $kind => $useCurl) {
            $client = new Identity\Client($configuration, new SystemHttp(30, $useCurl), fn() => Clock::$now, Identity\Stores::inMemory());
            $started = microtime(true);
            $launch = $client->startLogin(new Identity\Request('GET'));
            $url = (new Identity\FakeIdentity($configuration, fn() => Clock::$now))->handOff((string) $launch->header('location'));
            $cookie = explode(';', (string) $launch->header('set-cookie'))[0];
            $back = $client->handleCallback(new Identity\Request('GET', explode('?', $url)[1], ['cookie' => $cookie]));
            $session = explode(';', (string) $back->header('set-cookie'))[0];
            $person = null;
            $log = logOf(function () use ($client, $session, &$person): void {
                $person = $client->currentPerson(new Identity\Request('GET', '', ['cookie' => $session]));
            });
            same(['Zoë O’Neil', true], [$person?->name, microtime(true) - $started < 3.5], $kind);
            matches('/events_unread/', $log);
        }
    });
});

test('only of a POST, the body is read', function (): void {
    $folder = sys_get_temp_dir() . '/identity-http-' . bin2hex(random_bytes(6));
    mkdir($folder);
    file_put_contents("$folder/index.php", '<?php require ' . var_export(dirname(__DIR__) . '/autoload.php', true)
        . '; echo Identity\Request::fromGlobals()->body;');
    $probe = stream_socket_server('tcp://127.0.0.1:0');
    $address = stream_socket_get_name($probe, false);
    fclose($probe);
    $null = ['file', '/dev/null', 'w'];
    $process = proc_open([PHP_BINARY, '-S', $address, "$folder/index.php"], [['file', '/dev/null', 'r'], $null, $null], $pipes);
    try {
        for ($tries = 0; $tries < 200 && is_string(askBy(new SystemHttp(1, false), "http://$address/")); $tries += 1) {
            usleep(50_000);
        }
        $send = fn(string $method) => file_get_contents("http://$address/", false, stream_context_create(['http' => [
            'method' => $method, 'content' => 'token=x', 'header' => 'Content-Type: text/plain',
        ]]));
        same(['token=x', '', ''], array_map($send, ['POST', 'PUT', 'GET']));
    } finally {
        proc_terminate($process, 9);
        proc_close($process);
        unlink("$folder/index.php");
        rmdir($folder);
    }
});
