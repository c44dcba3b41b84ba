<?php

declare(strict_types=1);

// How client.php verifies a hand-off, from its parameters to its times.

final class Refused extends Exception
{
}

/** Reads the query as it arrived, because $_GET hides a parameter that was sent twice. */
function readParameters(string $query): array
{
    $parameters = [];
    foreach (explode('&', $query) as $pair) {
        [$name, $value] = array_map('urldecode', explode('=', $pair, 2) + [1 => '']);
        $isTaken = broken("{$name}_repeated");
        $isOurs = in_array($name, ['payload', 'signature', 'signature_next', 'state', 'error'], true);
        if ($isOurs && isset($parameters[$name]) && !$isTaken) {
            throw new Refused('parameter_repeated');
        }
        $parameters[$name] = $value;
    }
    return $parameters;
}

function verify(array $parameters): stdClass
{
    if (!isset($parameters['payload'], $parameters['signature'])) {
        throw new Refused('parameter_missing');
    }
    $wire = $parameters['payload'];
    $bytes = decodePayload($wire);
    if (broken('nonce_before_mac') && !useNonce((string) json_encode(json_decode($bytes)->nonce ?? null))) {
        throw new Refused('nonce_replayed');
    }
    requireSignature($wire, $bytes, $parameters);
    $payload = parsePayload($bytes);
    requireMembers($payload);
    requireOurs($payload);
    requireTime($payload->iat, $payload->exp);
    return $payload;
}

function decodePayload(string $wire): string
{
    $text = broken('payload_padded') ? rtrim($wire, '=') : $wire;
    $text = broken('payload_standard_base64') ? strtr($text, '+/', '-_') : $text;
    if (strlen($wire) > 8192 || !preg_match('/^[A-Za-z0-9_-]+$/D', $text)) {
        throw new Refused('payload_malformed');
    }
    $bytes = (string) base64_decode(strtr($text, '-_', '+/'), true);
    $spelling = rtrim(strtr(base64_encode($bytes), '+/', '-_'), '=');
    if ($spelling !== $text && !broken('payload_spare_bits')) {
        throw new Refused('payload_malformed');
    }
    return $bytes;
}

function requireSignature(string $wire, string $bytes, array $parameters): void
{
    $signatures = [$parameters['signature']];
    if (isset($parameters['signature_next']) && !broken('signature_next_ignored')) {
        $signatures[] = $parameters['signature_next'];
    }
    if (broken('signature_uppercase')) {
        $signatures = array_map('strtolower', $signatures);
    }
    foreach ($signatures as $signature) {
        if (!preg_match('/^[0-9a-f]{64}$/D', $signature)) {
            throw new Refused('signature_malformed');
        }
    }
    $isGenuine = broken('mac_not_checked');
    $length = broken('mac_compared_in_part') ? 32 : 64;
    foreach (SECRETS as $secret) {
        $expected = hash_hmac('sha256', broken('mac_over_json') ? $bytes : $wire, $secret);
        foreach ($signatures as $signature) {
            $isGenuine = hash_equals(substr($expected, 0, $length), substr($signature, 0, $length)) || $isGenuine;
        }
    }
    if (!$isGenuine) {
        throw new Refused('signature_wrong');
    }
}

function parsePayload(string $bytes): mixed
{
    // The depth 17 allows 16 levels, because PHP counts the values in the deepest level, too.
    $payload = json_decode($bytes, false, 17);
    if (json_last_error() !== JSON_ERROR_NONE) {
        throw new Refused('json_malformed');
    }
    // If two members have the same name, another parser could read the other member.
    $marks = preg_replace('/"(?:[^"\\\\]++|\\\\.)*+"/s', '"', $bytes);
    if (substr_count($marks, ':') !== countMembers($payload) && !broken('json_duplicate_names')) {
        throw new Refused('json_malformed');
    }
    return $payload;
}

function countMembers(mixed $value): int
{
    if (!is_object($value) && !is_array($value)) {
        return 0;
    }
    $members = (array) $value;
    return (is_object($value) ? count($members) : 0) + array_sum(array_map('countMembers', $members));
}

function requireMembers(mixed $payload): void
{
    $isRight = is_object($payload)
        && areTexts([$payload->iss ?? null, $payload->aud ?? null, $payload->client ?? null, $payload->nonce ?? null,
            ...array_intersect_key((array) $payload, ['state' => 1, 'sid' => 1, 'return_to' => 1])])
        && is_int($payload->iat ?? null) && is_int($payload->exp ?? null)
        && (!property_exists($payload, 'auth_time') || is_int($payload->auth_time))
        && (!property_exists($payload, 'amr') || (is_array($payload->amr) && areTexts($payload->amr)))
        && preg_match('/^[A-Za-z0-9_-]{22}$/D', $payload->nonce)
        && preg_match('/^[A-Za-z0-9_-]{22}$/D', $payload->sid ?? str_repeat('A', 22))
        && preg_match('/^[A-Za-z0-9._~-]{1,512}$/D', $payload->state ?? 'none')
        && (broken('return_to_open') || preg_match('~^/(?!/)[^\\\\\p{Cc}]{0,2047}$~Du', $payload->return_to ?? '/'))
        && (broken('member_types') || isProfile($payload->profile ?? null));
    if (!$isRight) {
        throw new Refused('member_wrong');
    }
}

function areTexts(array $values): bool
{
    return array_filter($values, 'is_string') === $values;
}

function isProfile(mixed $profile): bool
{
    $capabilities = $profile->account->capabilities ?? null;
    $texts = [$profile->id ?? null, $profile->email ?? null, $profile->name ?? null, $profile->role ?? null,
        $profile->profile_updated_at ?? null];
    return is_object($profile) && is_array($capabilities) && areTexts([...$texts, ...$capabilities])
        && preg_match('/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/D', $profile->id)
        && preg_match('/^.{3,254}$/Dsu', $profile->email)
        && preg_match('/^.{1,200}$/Dsu', $profile->name)
        && in_array($profile->role, ['admin', 'merchant', 'customer'], true)
        && preg_match('/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/D', $profile->profile_updated_at);
}

function requireOurs(stdClass $payload): void
{
    if ($payload->iss !== getenv('ISSUER') && !broken('issuer_not_checked')) {
        throw new Refused('issuer_wrong');
    }
    if ($payload->aud !== getenv('CLIENT') && !broken('audience_not_checked')) {
        throw new Refused('audience_wrong');
    }
    if ($payload->client !== getenv('CLIENT') && !broken('client_not_checked')) {
        throw new Refused('audience_wrong');
    }
}

function requireTime(int $iat, int $exp): void
{
    $leeway = match (true) {
        broken('leeway_too_long') => 3600,
        broken('leeway_missing') => 0,
        default => 30,
    };
    $now = time();
    if ($iat > $now + $leeway && !broken('future_not_checked')) {
        throw new Refused('issued_in_future');
    }
    if ($now >= $exp + $leeway && !broken('expiry_not_checked')) {
        throw new Refused('expired');
    }
    if ($exp <= $iat || ($exp - $iat > (int) (getenv('TTL') ?: 300) && !broken('lifetime_not_checked'))) {
        throw new Refused('lifetime_wrong');
    }
}
