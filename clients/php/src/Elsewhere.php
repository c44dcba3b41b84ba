<?php

declare(strict_types=1);

namespace Identity;

/**
 * Finds the URL at which a browser opened the login start or the callback, if it is not the configured URL. Use it only for the
 * log, because the sender of the request chooses it.
 */
final class Elsewhere
{
    /**
     * Finds a login start at another host than the configured one. The callback would not get a cookie that was set at that
     * host.
     */
    public static function findHost(Configuration $our, Request $request): ?string
    {
        $scheme = $our->isSecure ? 'https' : 'http';
        $opened = strtolower(self::clean($request->headers['host'] ?? ''));
        $host = preg_replace($our->isSecure ? '/:443$/D' : '/:80$/D', '', $opened);
        return $opened === '' || "$scheme://$host" === $our->origin ? null
            : "opened at $scheme://$opened/, but loginUrl is $our->loginUrl";
    }

    /** Finds a callback at another path than the configured one. */
    public static function findPath(Configuration $our, Request $request): ?string
    {
        $configured = parse_url($our->callbackUrl, PHP_URL_PATH) ?? '/';
        return $request->path === null || $request->path === $configured ? null
            : "opened at $our->origin" . self::clean($request->path) . ", but callbackUrl is $our->callbackUrl";
    }

    /** Makes text from a request safe for one line of the log. */
    public static function clean(string $text): string
    {
        return (string) preg_replace('/[^\x21-\x7e]/', '?', substr($text, 0, 255));
    }
}
