<?php

declare(strict_types=1);

namespace Identity;

/** A request as this kit needs it. It has no scheme and no host, because these come from the configuration. */
final class Request
{
    public const MAX_BODY_BYTES = 65_536;

    /** @var array<string, string> values, by the header's name in lower case */
    public readonly array $headers;

    /**
     * @param string $query as it arrived, without the question mark
     * @param array<string, string> $headers values by name. Cookies are in `cookie`
     * @param string|null $path as it arrived. Null if it is not known
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

    /** The request that this process is answering. */
    public static function fromGlobals(): self
    {
        $headers = [];
        foreach ($_SERVER as $name => $value) {
            if (is_string($value) && preg_match('/^(?:HTTP_(.+)|(CONTENT_.+))$/D', (string) $name, $found)) {
                $headers[strtr($found[2] ?? $found[1], '_', '-')] = $value;
            }
        }
        // REQUEST_URI is read first, because the web server may have added parameters to QUERY_STRING.
        [$path, $query] = explode('?', $_SERVER['REQUEST_URI'] ?? '', 2) + [1 => $_SERVER['QUERY_STRING'] ?? ''];
        $method = $_SERVER['REQUEST_METHOD'] ?? 'GET';
        $body = $method === 'POST' ? (string) file_get_contents('php://input', length: self::MAX_BODY_BYTES + 1) : '';
        return new self($method, $query, $headers, $body, str_starts_with($path, '/') ? $path : null);
    }

    /** The value of a query parameter. Null if it is missing or repeated. */
    public function parameter(string $name): ?string
    {
        $values = Query::parse($this->query)[$name] ?? [];
        return count($values) === 1 ? $values[0] : null;
    }

    /** The value of a field of a posted form. Null if it is missing or repeated. */
    public function field(string $name): ?string
    {
        $values = $this->isTooLarge() ? [] : Query::parse($this->body)[$name] ?? [];
        return count($values) === 1 ? $values[0] : null;
    }

    /** The path and query of the requested page. Null if they are not known, or if no login can lead back there. */
    public function page(): ?string
    {
        $page = $this->path . ($this->query === '' ? '' : "?$this->query");
        return $this->method === 'GET' && ReturnTo::isRight($page) ? $page : null;
    }

    /** Browsers and chat programs open links before anybody clicks. Such a request must use nothing up. */
    public function isSpeculative(): bool
    {
        return $this->method === 'HEAD' || stripos($this->headers['sec-purpose'] ?? '', 'prefetch') !== false;
    }

    public function isTooLarge(): bool
    {
        // The body of a multipart form was made again from its fields, and may be shorter than what was sent.
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
