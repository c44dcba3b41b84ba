<?php

declare(strict_types=1);

namespace Identity;

/** Prevents a second silent login soon after the first one in the same browser. */
final class Silence
{
    private const SECONDS = 600;
    /** The query parameter that says that an attempt came back without its cookie. */
    private const PARAMETER = 'silent';

    private readonly string $cookie;

    public function __construct(private readonly Configuration $configuration)
    {
        $this->cookie = $configuration->cookieName('silent');
    }

    /** The page to come back to. Null if no silent login may be tried from this request. */
    public function findPage(Request $request): ?string
    {
        $page = $request->page();
        // A request for a script or an image must not be redirected to another site.
        $isDocument = ($request->headers['sec-fetch-dest'] ?? 'document') === 'document';
        $isQuiet = isset($request->cookies()[$this->cookie]) || isset(Query::parse($request->query)[self::PARAMETER]);
        return $isDocument && !$isQuiet && !$request->isSpeculative() ? $page : null;
    }

    /** The page to go back to if a silent attempt logged nobody in. Null if the attempt was not silent. */
    public function findEnd(string $state, bool $isKept): ?string
    {
        $page = Attempts::findPage($state);
        if ($page === null) {
            return null;
        }
        $url = ReturnTo::resolve($this->configuration->origin, explode('#', $page)[0]);
        // If the attempt's cookie is missing, this browser may keep no cookies at all. So the URL has to say that a silent
        // login was tried.
        return $isKept ? $url : Query::append($url, [self::PARAMETER => 'no']);
    }

    /** A `Set-Cookie` value. Until the cookie expires, no silent login is tried. */
    public function start(): string
    {
        return $this->configuration->buildCookie($this->cookie, '1', self::SECONDS);
    }

    /** @return list<string> `Set-Cookie` values, after which silent logins are tried again */
    public function end(Request $request): array
    {
        return isset($request->cookies()[$this->cookie]) ? [$this->configuration->buildCookie($this->cookie, '', 0)] : [];
    }
}
