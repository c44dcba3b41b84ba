<?php

declare(strict_types=1);

namespace Identity;

/**
 * Each login that a browser starts has its own state and cookie, so that several tabs can log in at the same time. The cookie
 * is signed, because it says whether the person must give a credential again.
 */
final class Attempts
{
    public const LIFETIME_SECONDS = 600;
    private const MAX = 5;
    /** The longest state that the launch accepts. */
    private const MAX_STATE_LENGTH = 512;

    private readonly string $prefix;

    public function __construct(private readonly Configuration $configuration)
    {
        $this->prefix = ($configuration->isSecure ? '__Host-' : '') . 'identity_attempt_';
    }

    /**
     * The state of a silent attempt contains the page to come back to. So the browser can come back even if it keeps no
     * cookies. The cookie's MAC covers the state. Null if the page makes the state too long for a launch.
     */
    public static function drawSilent(string $page): ?string
    {
        $state = 'silent.' . self::draw() . '.' . Envelope::encode($page);
        return strlen($state) <= self::MAX_STATE_LENGTH ? $state : null;
    }

    /**
     * The page in the state of a silent attempt: a path on this site. Null for any other state. Anybody can make up such a
     * state.
     */
    public static function findPage(string $state): ?string
    {
        preg_match('/^silent\.[A-Za-z0-9_-]{22}\.([A-Za-z0-9_-]+)$/D', $state, $found);
        $page = (string) base64_decode(strtr($found[1] ?? '', '-_', '+/'), true);
        return ReturnTo::isRight($page) ? $page : null;
    }

    /**
     * Starts an attempt. If the browser then has more than five attempts, the oldest is dropped.
     *
     * @param int|null $maxAge how many seconds old the last credential may be
     * @param string|null $state only for a silent attempt: its state
     * @return array{string, list<string>} its state, and `Set-Cookie` values
     */
    public function start(Request $request, ?int $maxAge, int $now, ?string $state = null): array
    {
        $state ??= self::draw();
        $said = $now . '.' . ($maxAge ?? '-');
        $value = "$said." . $this->sign($state, $said, $this->configuration->secrets[0]);
        $cookies = [$this->configuration->buildCookie($this->prefix . $state, $value, self::LIFETIME_SECONDS)];
        foreach (array_slice($this->list($request), 0, 1 - self::MAX) as $name) {
            $cookies[] = $this->configuration->buildCookie($name, '', 0);
        }
        return [$state, $cookies];
    }

    /** This browser's attempt with that state, if it started in the last ten minutes. */
    public function find(Request $request, string $state, int $now): ?Attempt
    {
        $value = $request->cookies()[$this->prefix . $state] ?? '';
        if (!preg_match('/^((\d{1,12})\.(\d{1,7}|-))\.([0-9a-f]{64})$/D', $value, $found)) {
            return null;
        }
        [, $said, $startedAt, $maxAge, $signature] = $found;
        $isOurs = false;
        foreach ($this->configuration->secrets as $secret) {
            $isOurs = hash_equals($this->sign($state, $said, $secret), $signature) || $isOurs;
        }
        if (!$isOurs || $now >= (int) $startedAt + self::LIFETIME_SECONDS) {
            return null;
        }
        return new Attempt((int) $startedAt, $maxAge === '-' ? null : (int) $maxAge);
    }

    private static function draw(): string
    {
        return Envelope::encode(random_bytes(16));
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
            if (preg_match("/^{$this->prefix}(?:silent\.)?[A-Za-z0-9_-]{22}(?:\.[A-Za-z0-9_-]*)?$/D", (string) $name)) {
                $started[$name] = (int) $value;
            }
        }
        asort($started);
        return array_keys($started);
    }
}
