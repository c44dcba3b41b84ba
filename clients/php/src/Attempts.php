<?php

declare(strict_types=1);

namespace Identity;

/**
 * Each login that a browser starts has its own state and cookie, so that several tabs can log in at once. The cookie is signed,
 * because it says whether the person must give a credential again.
 */
final class Attempts
{
    public const LIFETIME_SECONDS = 600;
    private const MAX = 5;
    /** Begins the state of a silent attempt, so that the callback knows one even if the browser keeps no cookie. */
    private const SILENT = 'silent.';

    private readonly string $prefix;

    public function __construct(private readonly Configuration $configuration)
    {
        $this->prefix = ($configuration->isSecure ? '__Host-' : '') . 'identity_attempt_';
    }

    /**
     * Starts an attempt. Beyond five, the oldest is dropped.
     *
     * @param int|null $maxAge at most how many seconds ago the person may have given a credential
     * @param string|null $page of a silent attempt: where to come back to
     * @return array{string, list<string>} its state, and `Set-Cookie` values
     */
    public function start(Request $request, ?int $maxAge, int $now, ?string $page = null): array
    {
        $state = ($page === null ? '' : self::SILENT) . Envelope::encode(random_bytes(16));
        $said = $now . '.' . ($maxAge ?? '-') . ($page === null ? '' : '.' . Envelope::encode($page));
        $value = "$said." . $this->sign($state, $said, $this->configuration->secrets[0]);
        $cookies = [$this->configuration->buildCookie($this->prefix . $state, $value, self::LIFETIME_SECONDS)];
        foreach (array_slice($this->list($request), 0, 1 - self::MAX) as $name) {
            $cookies[] = $this->configuration->buildCookie($name, '', 0);
        }
        return [$state, $cookies];
    }

    /** Whether the state looks like that of a silent attempt. Anybody can make one up. */
    public static function isSilent(string $state): bool
    {
        return str_starts_with($state, self::SILENT);
    }

    /** The `Set-Cookie` value that ends an attempt. */
    public function end(string $state): string
    {
        return $this->configuration->buildCookie($this->prefix . $state, '', 0);
    }

    /** This browser's attempt with that state, if it started in the last ten minutes. */
    public function find(Request $request, string $state, int $now): ?Attempt
    {
        $value = $request->cookies()[$this->prefix . $state] ?? '';
        if (!preg_match('/^((\d{1,12})\.(\d{1,7}|-)(?:\.([A-Za-z0-9_-]+))?)\.([0-9a-f]{64})$/D', $value, $found)) {
            return null;
        }
        [, $said, $startedAt, $maxAge, $page, $signature] = $found;
        $isOurs = false;
        foreach ($this->configuration->secrets as $secret) {
            $isOurs = hash_equals($this->sign($state, $said, $secret), $signature) || $isOurs;
        }
        if (!$isOurs || $now >= (int) $startedAt + self::LIFETIME_SECONDS) {
            return null;
        }
        $page = $page === '' ? null : Envelope::decode($page);
        return new Attempt((int) $startedAt, $maxAge === '-' ? null : (int) $maxAge, $page);
    }

    private function sign(string $state, string $said, #[\SensitiveParameter] string $secret): string
    {
        return hash_hmac('sha256', "identity attempt v1 {$this->configuration->client} $state $said", $secret);
    }

    /** @return list<string> the names of this browser's cookies, the oldest first */
    private function list(Request $request): array
    {
        $started = [];
        foreach ($request->cookies() as $name => $value) {
            if (preg_match("/^{$this->prefix}(?:silent\.)?[A-Za-z0-9_-]{22}$/D", (string) $name)) {
                $started[$name] = (int) $value;
            }
        }
        asort($started);
        return array_keys($started);
    }
}
