<?php

declare(strict_types=1);

namespace Identity;

/** Uses curl if PHP has it, and otherwise PHP's own streams. The whole answer must come in time. */
final class SystemHttp implements Http
{
    /** How many bytes the head of an answer, and the lines around its chunks, may add to the body. */
    private const MAX_FRAME_BYTES = 65_536;
    private const TOO_LONG = 'the answer is longer than 8 MiB';

    public function __construct(private readonly int|float $timeoutSeconds = 30, private readonly bool $useCurl = true)
    {
    }

    /** Limits how long each request may take. */
    public function within(float $seconds): self
    {
        return new self(max(0.001, min($seconds, $this->timeoutSeconds)), $this->useCurl);
    }

    public function get(string $url, array $headers): HttpAnswer
    {
        $lines = array_map(static fn(string $name, string $value) => "$name: $value", array_keys($headers), $headers);
        return $this->useCurl && function_exists('curl_init') ? $this->askCurl($url, $lines)
            : $this->askStream($url, $lines);
    }

    /** @param list<string> $headers */
    private function askCurl(string $url, array $headers): HttpAnswer
    {
        $body = '';
        $curl = curl_init($url);
        curl_setopt_array($curl, [
            CURLOPT_HTTPHEADER => $headers,
            CURLOPT_FOLLOWLOCATION => false,
            CURLOPT_PROTOCOLS => CURLPROTO_HTTP | CURLPROTO_HTTPS,
            CURLOPT_TIMEOUT_MS => (int) ceil($this->timeoutSeconds * 1000),
            // Without this option, curl may refuse a timeout of less than a second.
            CURLOPT_NOSIGNAL => true,
            CURLOPT_WRITEFUNCTION => static function ($curl, string $piece) use (&$body): int {
                $body .= $piece;
                // If this function returns any number but the length, curl ends the transfer.
                return strlen($body) > HttpAnswer::MAX_BYTES ? -1 : strlen($piece);
            },
        ]);
        if (curl_exec($curl) === false) {
            throw self::fail(strlen($body) > HttpAnswer::MAX_BYTES ? self::TOO_LONG : curl_error($curl));
        }
        return new HttpAnswer(curl_getinfo($curl, CURLINFO_RESPONSE_CODE), $body);
    }

    /**
     * Uses a socket, because in PHP's own http wrapper the timeout starts again with each byte.
     *
     * @param list<string> $headers
     */
    private function askStream(string $url, array $headers): HttpAnswer
    {
        $until = microtime(true) + $this->timeoutSeconds;
        preg_match('~^(https?)://([^/?#]+)([^#]*)~', $url, $found);
        [, $scheme, $host, $target] = $found;
        $socket = $this->connect($scheme, $host, $until);
        try {
            $rest = implode("\r\n", ["GET $target HTTP/1.1", "Host: $host", ...$headers, 'Connection: close', '', '']);
            while ($rest !== '') {
                $written = @fwrite($socket, $rest);
                $rest = $written === false ? throw self::fail('the connection ended') : substr($rest, $written);
                self::wait($socket, $until, $written !== 0);
            }
            $text = '';
            while (!feof($socket)) {
                $piece = (string) @fread($socket, 65_536);
                $text .= $piece;
                if (strlen($text) > HttpAnswer::MAX_BYTES + self::MAX_FRAME_BYTES) {
                    throw self::fail(self::TOO_LONG);
                }
                self::wait($socket, $until, $piece !== '');
            }
        } finally {
            fclose($socket);
        }
        return self::parse($text);
    }

    /** @return resource a socket that does not block */
    private function connect(string $scheme, string $host, float $until)
    {
        preg_match('/^(.+?)(?::(\d+))?$/D', $host, $found);
        [, $name, $port] = $found + [2 => $scheme === 'https' ? 443 : 80];
        $context = stream_context_create(['ssl' => ['peer_name' => trim($name, '[]')]]);
        $flags = STREAM_CLIENT_CONNECT;
        $socket = @stream_socket_client("tcp://$name:$port", $code, $message, $this->timeoutSeconds, $flags, $context);
        if ($socket === false) {
            throw self::fail($message);
        }
        stream_set_blocking($socket, false);
        while ($scheme === 'https') {
            $isDone = @stream_socket_enable_crypto($socket, true, STREAM_CRYPTO_METHOD_TLS_CLIENT);
            if ($isDone === true) {
                break;
            }
            $isDone === 0 || throw self::fail(error_get_last()['message'] ?? 'TLS failed');
            self::wait($socket, $until, false);
        }
        return $socket;
    }

    /** Waits a moment for the socket to become readable. Does not wait if bytes have just moved. Throws if the time is over. */
    private static function wait($socket, float $until, bool $hasMoved): void
    {
        if (microtime(true) >= $until) {
            throw self::fail('no answer in time');
        }
        [$read, $write, $except] = [[$socket], [], []];
        $hasMoved || stream_select($read, $write, $except, 0, 20_000);
    }

    private static function parse(string $text): HttpAnswer
    {
        // An interim answer, such as 103, may come before the final answer.
        $form = '~\A(?:HTTP/\S+ 1\d\d.*?\r\n\r\n)*HTTP/\S+ (\d{3})(.*?\r\n)\r\n~s';
        if (!preg_match($form, $text, $found)) {
            throw self::fail('the answer is not HTTP');
        }
        [$head, $status, $lines] = $found;
        $body = substr($text, strlen($head));
        if (preg_match('/\r\ntransfer-encoding: *chunked/i', $lines)) {
            $body = self::joinChunks($body);
        } elseif (preg_match('/\r\ncontent-length: *(\d+)/i', $lines, $length) && strlen($body) < (int) $length[1]) {
            throw self::fail('the answer ends early');
        }
        return new HttpAnswer((int) $status, $body);
    }

    private static function joinChunks(string $text): string
    {
        $body = '';
        for ($at = 0; preg_match('/\G([0-9a-f]{1,7})[^\n]*\r\n/i', $text, $found, 0, $at); $at += $size + 2) {
            $size = (int) hexdec($found[1]);
            $at += strlen($found[0]);
            if ($size === 0) {
                return $body;
            }
            if (strlen($text) < $at + $size) {
                break;
            }
            $body .= substr($text, $at, $size);
        }
        throw self::fail('the answer ends early');
    }

    private static function fail(string $why): \RuntimeException
    {
        return new \RuntimeException("the identity service cannot be reached: $why");
    }
}
