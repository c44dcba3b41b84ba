<?php

declare(strict_types=1);

namespace Identity;

/** An answer. `send()` sends it to the browser. If your framework sends the answer, you need not call `send()`. */
final class Response
{
    public const UNKEPT = ['Cache-Control' => 'no-store', 'Referrer-Policy' => 'no-referrer'];

    /** @param list<array{string, string}> $headers names and values. There may be several `Set-Cookie` */
    public function __construct(public readonly int $status, public readonly array $headers = [], public readonly string $body = '')
    {
    }

    /**
     * An answer that no cache keeps. Browsers do not send its URL to other sites.
     *
     * @param array<string, string> $headers
     * @param list<string> $cookies `Set-Cookie` values
     */
    public static function unkept(int $status, array $headers = [], array $cookies = [], string $body = ''): self
    {
        $all = self::UNKEPT + $headers;
        $list = array_map(null, array_keys($all), array_values($all));
        foreach ($cookies as $cookie) {
            $list[] = ['Set-Cookie', $cookie];
        }
        return new self($status, $list, $body);
    }

    /**
     * Returns this answer with other headers in place of its own.
     *
     * @param array<string, string> $headers
     */
    public function with(array $headers): self
    {
        $ours = array_change_key_case($headers);
        $others = array_filter($this->headers, static fn(array $header) => !isset($ours[strtolower($header[0])]));
        return new self($this->status, [...$others, ...array_map(null, array_keys($headers), array_values($headers))], $this->body);
    }

    /** The first value of a header. */
    public function header(string $name): ?string
    {
        foreach ($this->headers as [$other, $value]) {
            if (strcasecmp($name, $other) === 0) {
                return $value;
            }
        }
        return null;
    }

    public function send(): void
    {
        foreach ($this->headers as [$name, $value]) {
            header("$name: $value", $name !== 'Set-Cookie');
        }
        // The status comes after the headers, because PHP changes it when it sees a Location.
        http_response_code($this->status);
        echo $this->body;
    }
}
