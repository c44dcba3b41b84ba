<?php

declare(strict_types=1);

namespace Identity;

/** How events are requested. You may pass your framework's own client. */
interface Http
{
    /**
     * Follows no redirect, checks certificates, and throws if there is no answer in time.
     *
     * @param array<string, string> $headers
     */
    public function get(string $url, array $headers): HttpAnswer;
}
