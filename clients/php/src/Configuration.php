<?php

declare(strict_types=1);

namespace Identity;

/** What the operator gave you, and the URLs of your own site. URLs are never taken from a request. */
final class Configuration
{
    /** The issuer without a slash at its end. */
    public readonly string $baseUrl;
    /** Scheme, host and port of the callback: where people go after a login. */
    public readonly string $origin;
    public readonly string $homeUrl;
    /** Whether the callback uses https. If not, the site is on this machine. */
    public readonly bool $isSecure;

    /**
     * Throws a ConfigurationError that names every fault.
     *
     * @param list<string> $secrets one secret, or two during a rotation. The first one signs new attempts.
     * @param NonceStore $nonces remembers used nonces and ended logins
     * @param string|null $homeUrl where a login leads if it names no page. By default, `/` on your site
     * @param int $ttlSeconds the operator's IDENTITY_SSO_TTL
     * @param int $maxSeconds how long a session of the kit lasts
     */
    public function __construct(
        #[\SensitiveParameter] public readonly string $issuer,
        public readonly string $client,
        #[\SensitiveParameter] public readonly array $secrets,
        public readonly string $callbackUrl,
        public readonly string $loginUrl,
        public readonly NonceStore $nonces,
        ?string $homeUrl = null,
        public readonly int $ttlSeconds = 300,
        public readonly int $maxSeconds = 43_200,
    ) {
        $this->baseUrl = rtrim($issuer, '/');
        $this->origin = self::originOf($callbackUrl) ?? '';
        $this->homeUrl = $homeUrl ?? "$this->origin/";
        $this->isSecure = str_starts_with($this->origin, 'https:');
        $faults = array_filter([
            'issuer' => $this->findIssuerFault(),
            'client' => preg_match('/^[a-z][a-z0-9_]{0,62}$/D', $client) ? null
                : 'must be the name that the operator gave you: lower-case letters, digits and underscores',
            'secrets' => $this->findSecretsFault(),
            'callbackUrl' => self::findUrlFault($callbackUrl) ?? $this->findReservedFault(),
            'loginUrl' => $this->findOwnUrlFault($loginUrl),
            'homeUrl' => $homeUrl === null ? null : $this->findOwnUrlFault($homeUrl),
            'ttlSeconds' => $ttlSeconds >= 30 && $ttlSeconds <= 3600 ? null : 'must be from 30 to 3600',
            'maxSeconds' => $maxSeconds >= 60 && $maxSeconds <= 2_592_000 ? null : 'must be from 60 to 2592000',
        ]);
        if ($faults !== []) {
            throw new ConfigurationError($faults);
        }
    }

    /**
     * Makes a configuration from `IDENTITY_URL`. Your callback is then `/sso/callback`, and your login start `/login`, unless
     * `$more` names them.
     *
     * @param string $identityUrl such as `https://shop:SECRET@id.example.com`
     * @param string $origin scheme, host and port of your site
     * @param string|int ...$more further parameters of the constructor, by their names
     */
    public static function fromUrl(
        #[\SensitiveParameter] string $identityUrl,
        string $origin,
        NonceStore $nonces,
        string|int ...$more,
    ): self {
        $parts = self::readUrl($identityUrl) ?? throw new ConfigurationError([
            'identityUrl' => 'must be like https://shop:SECRET@id.example.com, with your secret percent-encoded',
        ]);
        $site = rtrim($origin, '/');
        $paths = ['callbackUrl' => "$site/sso/callback", 'loginUrl' => "$site/login"];
        return new self(...$parts, ...$more + $paths + ['nonces' => $nonces]);
    }

    /**
     * Reads an `IDENTITY_URL`. Null if it has another form. During a rotation, it has two secrets with a comma between them.
     *
     * @return array{issuer: string, client: string, secrets: list<string>}|null
     */
    public static function readUrl(#[\SensitiveParameter] string $identityUrl): ?array
    {
        $userInfo = "(?:[\\w.\~!$&'()*+,;=:-]|%[\\dA-Fa-f]{2})+";
        if (!preg_match("~^(https?://)([a-z0-9_]+):($userInfo)@([^@/?#\\s]+/?)$~D", $identityUrl, $found)) {
            return null;
        }
        [, $scheme, $client, $password, $host] = $found;
        $secrets = explode(',', rawurldecode($password));
        return preg_match('//u', $password . implode($secrets))
            ? ['issuer' => $scheme . $host, 'client' => $client, 'secrets' => $secrets] : null;
    }

    /**
     * The name of a cookie of this client. With https it has a prefix, and browsers let no other host set such a cookie, not
     * even a subdomain.
     */
    public function cookieName(string $name): string
    {
        return ($this->isSecure ? '__Host-' : '') . "{$this->client}_$name";
    }

    /** A `Set-Cookie` value. @param int|null $seconds null if the browser deletes the cookie when the browser is closed */
    public function buildCookie(string $name, #[\SensitiveParameter] string $value, ?int $seconds = null): string
    {
        $age = $seconds === null ? '' : "; Max-Age=$seconds";
        $secure = $this->isSecure ? '; Secure' : '';
        return "$name=$value; Path=/$age; HttpOnly$secure; SameSite=Lax";
    }

    /** Keeps the secrets out of dumps. */
    public function __debugInfo(): array
    {
        return ['secrets' => count($this->secrets)] + get_object_vars($this);
    }

    /** Each hand-off must name the issuer byte for byte. */
    private function findIssuerFault(): ?string
    {
        return self::findUrlFault($this->issuer) ?? (preg_match('~^[a-z]+://[^/?]+/?$~D', $this->issuer) ? null
            : 'must not have a path or a query');
    }

    private function findSecretsFault(): ?string
    {
        $secrets = $this->secrets;
        $isLocal = !$this->isSecure && self::findUrlFault($this->callbackUrl) === null;
        if (!array_is_list($secrets) || count($secrets) < 1 || count($secrets) > 2) {
            return 'must be a list of one secret, or of two';
        }
        foreach ($secrets as $secret) {
            if (!is_string($secret)) {
                return 'must be texts';
            }
            if ($secret === '') {
                return 'must not be empty';
            }
            if (strlen($secret) < 32 && !$isLocal) {
                return 'must each have at least 32 bytes';
            }
            if (trim($secret) !== $secret) {
                return 'must not start or end with a space or a line break';
            }
            if (str_contains($secret, ',')) {
                return 'must be given one by one, not with a comma between them';
            }
        }
        return count(array_unique($secrets)) === count($secrets) ? null : 'must be different from each other';
    }

    private static function findUrlFault(string $url): ?string
    {
        $parts = parse_url($url);
        if (!preg_match('~^https?://[\x21-\x7e]+$~D', $url) || !is_array($parts) || ($parts['host'] ?? '') === '') {
            return 'must be a whole address that starts with https://';
        }
        if (isset($parts['user']) || isset($parts['pass']) || isset($parts['fragment']) || str_contains($url, '\\')) {
            return 'must not have a fragment, user name, password or backslash';
        }
        return $parts['scheme'] === 'https' || self::isThisMachine($parts['host']) ? null
            : 'must start with https:// (http:// is for this machine only: localhost or a loopback address)';
    }

    private function findReservedFault(): ?string
    {
        $names = array_keys(Query::parse((string) parse_url($this->callbackUrl, PHP_URL_QUERY)));
        return array_intersect($names, Envelope::PARAMETERS) === [] ? null
            : 'must not have any of these query parameters: ' . implode(', ', Envelope::PARAMETERS);
    }

    /** Browsers send an attempt's cookie only to the host that set it. So the login must start at the callback's host. */
    private function findOwnUrlFault(string $url): ?string
    {
        return self::findUrlFault($url)
            ?? (self::originOf($url) === $this->origin ? null : 'must have the scheme, host and port of callbackUrl');
    }

    private static function isThisMachine(string $host): bool
    {
        return preg_match('/^(?:(?:[a-z0-9-]+\.)*localhost|127(?:\.\d{1,3}){3}|\[::1\])$/iD', $host) === 1;
    }

    private static function originOf(string $url): ?string
    {
        $parts = parse_url($url);
        if (!is_array($parts) || !isset($parts['scheme'], $parts['host'])) {
            return null;
        }
        $usual = ['https' => 443, 'http' => 80][$parts['scheme']] ?? null;
        $port = $parts['port'] ?? $usual;
        return "$parts[scheme]://" . strtolower($parts['host']) . ($port === $usual ? '' : ":$port");
    }
}
