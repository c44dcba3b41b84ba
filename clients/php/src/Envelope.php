<?php

declare(strict_types=1);

namespace Identity;

/** The signed payload of a hand-off: its base64url, its signatures and its JSON. */
final class Envelope
{
    public const MAX_PAYLOAD_LENGTH = 8192;
    public const PARAMETERS = ['payload', 'signature', 'signature_next', 'state', 'error'];

    /**
     * Returns the text that was signed. Throws a Refusal.
     *
     * @param list<string> $secrets
     */
    public static function open(string $query, #[\SensitiveParameter] array $secrets): string
    {
        $found = Query::readOnce($query, self::PARAMETERS);
        if (!isset($found['payload'], $found['signature'])) {
            $name = isset($found['payload']) ? 'signature' : 'payload';
            throw new Refusal('parameter_missing', detail: "There is no $name");
        }
        $bytes = self::decode($found['payload']);
        $signatures = array_values(array_intersect_key($found, ['signature' => 1, 'signature_next' => 1]));
        foreach ($signatures as $signature) {
            if (!preg_match('/^[0-9a-f]{64}$/D', $signature)) {
                throw new Refusal('signature_malformed');
            }
        }
        if (!self::isGenuine($found['payload'], $signatures, $secrets)) {
            throw new Refusal('signature_wrong');
        }
        return $bytes;
    }

    /**
     * Accepts unpadded base64url only in its canonical spelling, because decoders accept several spellings of the same bytes.
     * Throws a Refusal.
     */
    public static function decode(string $payload): string
    {
        if (strlen($payload) > self::MAX_PAYLOAD_LENGTH || !preg_match('/^[A-Za-z0-9_-]+$/D', $payload)) {
            throw new Refusal('payload_malformed');
        }
        $bytes = (string) base64_decode(strtr($payload, '-_', '+/'), true);
        if (self::encode($bytes) !== $payload) {
            throw new Refusal('payload_malformed');
        }
        return $bytes;
    }

    public static function encode(string $bytes): string
    {
        return rtrim(strtr(base64_encode($bytes), '+/', '-_'), '=');
    }

    public static function sign(string $payload, #[\SensitiveParameter] string $secret): string
    {
        return hash_hmac('sha256', $payload, $secret);
    }

    /**
     * Compares every pair, so that the time does not show which pair matches.
     *
     * @param list<string> $signatures
     * @param list<string> $secrets
     */
    private static function isGenuine(string $payload, array $signatures, #[\SensitiveParameter] array $secrets): bool
    {
        $isGenuine = false;
        foreach ($secrets as $secret) {
            $expected = self::sign($payload, $secret);
            foreach ($signatures as $signature) {
                $isGenuine = hash_equals($expected, $signature) || $isGenuine;
            }
        }
        return $isGenuine;
    }
}
