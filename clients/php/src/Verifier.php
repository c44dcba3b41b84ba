<?php

declare(strict_types=1);

namespace Identity;

/** Checks whether a hand-off is genuine, for this client, and at the right time. It uses nothing up. */
final class Verifier
{
    public const LEEWAY_SECONDS = 30;

    /** Throws a Refusal. */
    public static function verify(Configuration $our, string $query, int $now): HandOff
    {
        $handOff = HandOff::parse(Envelope::open($query, $our->secrets));
        $lifetime = $handOff->expiresAt - $handOff->issuedAt;
        [$code, $detail] = match (true) {
            $handOff->issuer !== $our->issuer => ['issuer_wrong', 'It says ' . Elsewhere::clean($handOff->issuer) . ", and we have $our->issuer"],
            $handOff->audience !== $our->client || $handOff->client !== $our->client => ['audience_wrong', ''],
            $handOff->issuedAt > $now + self::LEEWAY_SECONDS
                => ['issued_in_future', 'Issued ' . $handOff->issuedAt - $now . ' s ahead of our clock'],
            $now >= $handOff->expiresAt + self::LEEWAY_SECONDS => ['expired', 'Expired ' . $now - $handOff->expiresAt
                . ' s ago by our clock; issued ' . $now - $handOff->issuedAt . ' s ago'],
            $lifetime <= 0 || $lifetime > $our->ttlSeconds
                => ['lifetime_wrong', "Valid for $lifetime s, and we accept $our->ttlSeconds"],
            default => [null, ''],
        };
        return $code === null ? $handOff : throw new Refusal($code, $handOff->launchId, detail: $detail);
    }
}
