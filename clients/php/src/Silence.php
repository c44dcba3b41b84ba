<?php

declare(strict_types=1);

namespace Identity;

/** Keeps silent logins from being tried again in a browser that has tried one. */
final class Silence
{
    private const SECONDS = 600;
    /** In the query of a page, this says that an attempt came back without its cookie. */
    private const PARAMETER = 'silent';

    private readonly string $cookie;

    public function __construct(private readonly Configuration $configuration)
    {
        $this->cookie = $configuration->cookieName('silent');
    }

    /** The page to come back to, if a silent login may be tried from it. */
    public function findPage(Request $request): ?string
    {
        $page = $request->page();
        // What a script or an image asks for can follow no redirect to another site.
        $isDocument = ($request->headers['sec-fetch-dest'] ?? 'document') === 'document';
        $isQuiet = isset($request->cookies()[$this->cookie]) || isset(Query::parse($request->query)[self::PARAMETER]);
        return $isDocument && !$isQuiet && !$request->isSpeculative() ? $page : null;
    }

    /** Where a silent attempt leads that brought nobody. Null for every other attempt. */
    public function findEnd(string $state, bool $isKept): ?string
    {
        $page = Attempts::findPage($state);
        if ($page === null) {
            return null;
        }
        $url = ReturnTo::resolve($this->configuration->origin, explode('#', $page)[0]);
        // Without the attempt's cookie, the browser may keep none, so only the address can say that this was tried.
        return $isKept ? $url : Query::append($url, [self::PARAMETER => 'no']);
    }

    /** A `Set-Cookie` value. */
    public function start(): string
    {
        return $this->configuration->buildCookie($this->cookie, '1', self::SECONDS);
    }

    /** @return list<string> `Set-Cookie` values, with which silent logins are tried again */
    public function end(Request $request): array
    {
        return isset($request->cookies()[$this->cookie]) ? [$this->configuration->buildCookie($this->cookie, '', 0)] : [];
    }
}
