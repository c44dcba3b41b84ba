<?php

declare(strict_types=1);

namespace Identity;

/**
 * The sessions of a client. The browser has 256 random bits in a cookie, and the store has only their SHA-256. So nobody can
 * log in with what they read in the store.
 */
final class Sessions
{
    private readonly string $cookie;

    public function __construct(private readonly Configuration $configuration, private readonly Stores $stores)
    {
        $this->cookie = $configuration->cookieName('session');
    }

    public static function draw(): string
    {
        return Envelope::encode(random_bytes(32));
    }

    /**
     * Starts a session.
     *
     * @return list<string> `Set-Cookie` values
     */
    public function start(#[\SensitiveParameter] string $secret, HandOff $handOff, int $now): array
    {
        Stores::ask(function () use ($secret, $handOff, $now): void {
            $person = $handOff->profile;
            $this->stores->profiles->apply($person);
            if ($this->stores->profiles->find($person->id) === null) {
                // The person was deleted while the hand-off was on its way.
                throw new Refusal('session_ended', $handOff->launchId);
            }
            $endsAt = $now + $this->configuration->maxSeconds;
            $this->stores->sessions->start($this->idOf($secret), $handOff->sid, $person->id, $endsAt, $now);
        });
        return [$this->configuration->buildCookie($this->cookie, $secret)];
    }

    /** The id of the person whose session this browser has. */
    public function find(Request $request, int $now): ?string
    {
        $secret = $this->read($request);
        return $secret === null ? null
            : Stores::ask(fn() => $this->stores->sessions->find($this->idOf($secret), $now));
    }

    public function end(#[\SensitiveParameter] ?string $secret): void
    {
        if ($secret !== null) {
            Stores::ask(fn() => $this->stores->sessions->end($this->idOf($secret)));
        }
    }

    /** The `Set-Cookie` value that deletes the cookie. */
    public function endCookie(): string
    {
        return $this->configuration->buildCookie($this->cookie, '', 0);
    }

    /** A token for forms. It proves that a form is from a page of this session, and reveals nothing about the cookie. */
    public function logoutToken(Request $request): string
    {
        $secret = $this->read($request);
        return $secret === null ? '' : hash_hmac('sha256', "identity logout v1 {$this->configuration->client}", $secret);
    }

    /** The value of this browser's session cookie. Null if the value does not have the right form. */
    public function read(Request $request): ?string
    {
        $value = $request->cookies()[$this->cookie] ?? '';
        return preg_match('/^[A-Za-z0-9_-]{43}$/D', $value) ? $value : null;
    }

    private function idOf(#[\SensitiveParameter] string $secret): string
    {
        return hash('sha256', "{$this->configuration->client} $secret");
    }
}
