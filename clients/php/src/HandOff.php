<?php

declare(strict_types=1);

namespace Identity;

/** A hand-off that was verified. */
final class HandOff
{
    private const NAME = '/^[A-Za-z0-9_-]{22}$/D';

    /**
     * @param string|null $sid names this login. The event about its end has the same `sid`, so keep it with your session.
     * @param int|null $authTime when the person last gave a credential, in Unix seconds. Null if another site logged them in
     * @param list<string> $amr how the person logged in. If it has `mfa`, they also gave a second factor
     * @param string|null $returnTo a path on your site
     */
    private function __construct(
        public readonly string $issuer,
        public readonly string $audience,
        public readonly string $client,
        public readonly int $issuedAt,
        public readonly int $expiresAt,
        public readonly string $nonce,
        public readonly ?string $sid,
        public readonly ?int $authTime,
        public readonly array $amr,
        public readonly Profile $profile,
        public readonly ?string $state,
        public readonly ?string $returnTo,
        public readonly string $launchId,
    ) {
    }

    /** Throws a Refusal. */
    public static function parse(string $json): self
    {
        try {
            $members = new Members(StrictJson::parse($json));
        } catch (\JsonException $error) {
            throw new Refusal('json_malformed', previous: $error);
        }
        $nonce = $members->text('nonce', self::NAME);
        return new self(
            $members->text('iss'),
            $members->text('aud'),
            $members->text('client'),
            $members->integer('iat'),
            $members->integer('exp'),
            $nonce,
            $members->optionalText('sid', self::NAME),
            $members->optionalInteger('auth_time'),
            $members->has('amr') ? $members->texts('amr') : [],
            Profile::read($members->object('profile')),
            $members->optionalText('state', '/^[A-Za-z0-9._~-]{1,512}$/D'),
            $members->optionalText('return_to', ReturnTo::FORM),
            LaunchId::of($nonce),
        );
    }
}
