<?php

declare(strict_types=1);

namespace Identity;

/** A request as this kit needs it. It has no addresses, because they come from the configuration. */
final class Request
{
    public const MAX_BODY_BYTES = 65_536;

    /** @var array<string, string> by their names in lower case */
    public readonly array $headers;

    /**
     * @param string $query as it arrived, without the question mark
     * @param array<string, string> $headers cookies are in `cookie`
     * @param string|null $path as it arrived, if it is known
     */
    public function __construct(
        public readonly string $method,
        public readonly string $query = '',
        array $headers = [],
        public readonly string $body = '',
        public readonly ?string $path = null,
    ) {
        $this->headers = array_change_key_case($headers);
    }

    /** The request that this process answers. */
    public static function fromGlobals(): self
    {
        $headers = [];
        foreach ($_SERVER as $name => $value) {
            if (is_string($value) && preg_match('/^(?:HTTP_(.+)|(CONTENT_.+))$/D', (string) $name, $found)) {
                $headers[strtr($found[2] ?? $found[1], '_', '-')] = $value;
            }
        }
        // QUERY_STRING comes second, because rewriting may have added to it.
        [$path, $query] = explode('?', $_SERVER['REQUEST_URI'] ?? '', 2) + [1 => $_SERVER['QUERY_STRING'] ?? ''];
        $method = $_SERVER['REQUEST_METHOD'] ?? 'GET';
        $body = $method === 'POST' ? (string) file_get_contents('php://input', length: self::MAX_BODY_BYTES + 1) : '';
        return new self($method, $query, $headers, $body, str_starts_with($path, '/') ? $path : null);
    }

    /** The value of a query parameter that is there once. */
    public function parameter(string $name): ?string
    {
        $values = Query::parse($this->query)[$name] ?? [];
        return count($values) === 1 ? $values[0] : null;
    }

    /** The value of a field of a sent form that is there once. */
    public function field(string $name): ?string
    {
        $values = $this->isTooLarge() ? [] : Query::parse($this->body)[$name] ?? [];
        return count($values) === 1 ? $values[0] : null;
    }

    /** The page that was asked for, as a way back: its path and query. Null if it is not known, or no way back. */
    public function page(): ?string
    {
        $page = $this->path . ($this->query === '' ? '' : "?$this->query");
        return $this->method === 'GET' && ReturnTo::isRight($page) ? $page : null;
    }

    /** Browsers and chat programs open links before anybody clicks. That must not use anything up. */
    public function isSpeculative(): bool
    {
        return $this->method === 'HEAD' || stripos($this->headers['sec-purpose'] ?? '', 'prefetch') !== false;
    }

    public function isTooLarge(): bool
    {
        // Of a form with parts, the body has the fields only.
        return max(strlen($this->body), (int) ($this->headers['content-length'] ?? 0)) > self::MAX_BODY_BYTES;
    }

    /** @return array<string, string> */
    public function cookies(): array
    {
        $cookies = [];
        foreach (explode(';', $this->headers['cookie'] ?? '') as $pair) {
            [$name, $value] = explode('=', trim($pair, " \t"), 2) + [1 => null];
            if ($value !== null) {
                $cookies[$name] ??= $value;
            }
        }
        return $cookies;
    }
}
