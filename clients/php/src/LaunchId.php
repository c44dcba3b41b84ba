<?php

declare(strict_types=1);

namespace Identity;

/** Names one launch in the service's log, in refusals and in the doctor's report, without revealing the nonce. */
final class LaunchId
{
    /** Writes the id like `3f9a-12c4`. */
    public static function of(string $nonce): string
    {
        return implode('-', str_split(substr(hash('sha256', $nonce), 0, 8), 4));
    }

    /** Finds the id by a pattern. It parses nothing, because the hand-off may be forged. */
    public static function find(string $query): ?string
    {
        $payloads = Query::parse($query)['payload'] ?? [];
        try {
            $bytes = count($payloads) === 1 ? Envelope::decode($payloads[0]) : '';
        } catch (Refusal) {
            return null;
        }
        return preg_match('/"nonce"\s*:\s*"([A-Za-z0-9_-]{22})"/', $bytes, $found) ? self::of($found[1]) : null;
    }
}
