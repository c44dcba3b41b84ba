<?php

declare(strict_types=1);

namespace Identity;

/** How events are asked for. Give your framework's own client if you like. */
interface Http
{
    /**
     * Follows no redirect, checks certificates, and throws where nothing is answered in time.
     *
     * @param array<string, string> $headers
     */
    public function get(string $url, array $headers): HttpAnswer;
}
