<?php

declare(strict_types=1);

namespace Identity;

/** How events are requested. You may pass your framework's own client. */
interface Http
{
    /**
     * Follows no redirect, checks certificates, and throws if not all of the answer came in time, or if it is longer than
     * `HttpAnswer::MAX_BYTES`.
     *
     * @param array<string, string> $headers
     */
    public function get(string $url, array $headers): HttpAnswer;
}
