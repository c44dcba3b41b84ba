<?php

declare(strict_types=1);

namespace Identity;

/**
 * Where a browser opened one of our addresses, unless it is the configured place. For the log, and nothing else: whoever asks
 * chooses it.
 */
final class Elsewhere
{
    /** Of the login start: at another host the cookie of its attempt stays, and the callback does not get it. */
    public static function findHost(Configuration $our, Request $request): ?string
    {
        $scheme = $our->isSecure ? 'https' : 'http';
        $opened = strtolower(self::clean($request->headers['host'] ?? ''));
        $host = preg_replace($our->isSecure ? '/:443$/D' : '/:80$/D', '', $opened);
        return $opened === '' || "$scheme://$host" === $our->origin ? null
            : "opened at $scheme://$opened/, but loginUrl is $our->loginUrl";
    }

    /** Of the callback. */
    public static function findPath(Configuration $our, Request $request): ?string
    {
        $configured = parse_url($our->callbackUrl, PHP_URL_PATH) ?? '/';
        return $request->path === null || $request->path === $configured ? null
            : "opened at $our->origin" . self::clean($request->path) . ", but callbackUrl is $our->callbackUrl";
    }

    /** On one line of the log. */
    private static function clean(string $text): string
    {
        return (string) preg_replace('/[^\x21-\x7e]/', '?', substr($text, 0, 255));
    }
}
