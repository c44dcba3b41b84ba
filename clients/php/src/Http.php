<?php

declare(strict_types=1);

namespace Identity;

/** Requests events. You may use your framework's own HTTP client instead. */
interface Http
{
    /**
     * Follows no redirects, and checks certificates. Throws if the whole answer has not come in time, or if it is longer than
     * `HttpAnswer::MAX_BYTES`.
     *
     * @param array<string, string> $headers
     */
    public function get(string $url, array $headers): HttpAnswer;
}
