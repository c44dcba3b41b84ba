<?php

declare(strict_types=1);

namespace Identity;

/** Keeps silent logins from being tried again in a browser that has tried one. */
final class Silence
{
    private const SECONDS = 600;
    /** In the query of the home page, this says the same of a browser that keeps no cookie. */
    private const PARAMETER = 'silent';
    /** Each attempt keeps the page in a cookie. Longer pages would make the headers too long for some servers. */
    private const MAX_PAGE_LENGTH = 500;

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
        $isQuiet = isset($request->cookies()[$this->cookie]) || $request->parameter(self::PARAMETER) !== null;
        $mayTry = $isDocument && !$isQuiet && !$request->isSpeculative();
        return $mayTry && $page !== null && strlen($page) <= self::MAX_PAGE_LENGTH ? $page : null;
    }

    /** The home page, for a browser that has kept no cookie. */
    public function homeUrl(): string
    {
        return Query::append($this->configuration->homeUrl, [self::PARAMETER => 'no']);
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
