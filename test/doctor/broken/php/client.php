<?php

declare(strict_types=1);

// A client as an ordinary engineer would write it. Only what depends on `broken('…')` is a deviation.

require __DIR__ . '/verify.php';

function broken(string $deviation): bool
{
    return NAME === $deviation;
}

function noStore(): void
{
    header('Cache-Control: ' . (broken('callback_cached') && PLACE === 'callback' ? 'public, max-age=60' : 'no-store'));
    header('Referrer-Policy: no-referrer');
}

function redirect(string $url): void
{
    noStore();
    header("Location: $url", true, 303);
}

function refuse(string $code): void
{
    $statuses = ['signature_wrong' => 401, 'issuer_wrong' => 401, 'audience_wrong' => 401, 'issued_in_future' => 401,
        'expired' => 401, 'lifetime_wrong' => 401, 'state_unknown' => 403, 'login_required' => 403, 'nonce_replayed' => 409,
        'interaction_required' => 403, 'access_denied' => 403, 'method_not_allowed' => 405, 'nudge_signature_wrong' => 401,
        'nudge_too_old' => 401];
    noStore();
    http_response_code($statuses[$code] ?? 400);
    header("Identity-Refusal: $code");
    header('Content-Type: text/html; charset=utf-8');
    if ($code === 'method_not_allowed') {
        header('Allow: ' . (PLACE === 'events' ? 'POST' : 'GET, HEAD'));
    }
    echo '<p>The login did not work. <a href="login">Log in</a> (', htmlspecialchars($code), ')</p>';
}

/** @return array<string, int> when each of this browser's attempts started, the newest first */
function listAttempts(): array
{
    $attempts = [];
    foreach ($_COOKIE as $name => $value) {
        if (preg_match('/^attempt_([0-9a-f]{32})$/D', (string) $name, $found)) {
            $attempts[$found[1]] = (int) $value;
        }
    }
    arsort($attempts);
    return $attempts;
}

function isKnownState(string $state): bool
{
    if (broken('one_state_cookie')) {
        return $state === ($_COOKIE['attempt'] ?? null);
    }
    return broken('state_not_compared') || time() < (listAttempts()[$state] ?? 0) + 600;
}

function setAttempt(string $name, string $value, int $seconds): void
{
    header("Set-Cookie: $name=$value; Path=/" . NAME . "/; Max-Age=$seconds; HttpOnly; SameSite=Lax", false);
}

function login(): void
{
    $state = bin2hex(random_bytes(16));
    if (broken('one_state_cookie')) {
        setAttempt('attempt', $state, 600);
    } else {
        foreach (array_slice(array_keys(listAttempts()), 4) as $oldest) {
            setAttempt("attempt_$oldest", '', 0);
        }
        setAttempt("attempt_$state", (string) time(), 600);
    }
    redirect(getenv('ISSUER') . '/sso/launch/' . getenv('CLIENT') . "?state=$state");
}

function callback(): void
{
    if ($_SERVER['REQUEST_METHOD'] === 'HEAD' || str_contains($_SERVER['HTTP_SEC_PURPOSE'] ?? '', 'prefetch')) {
        noStore();
        http_response_code(204);
        return;
    }
    try {
        if ($_SERVER['REQUEST_METHOD'] !== 'GET') {
            throw new Refused('method_not_allowed');
        }
        $parameters = readParameters(explode('?', $_SERVER['REQUEST_URI'], 2)[1] ?? '');
        if (!isset($parameters['payload']) && isset($parameters['error'])) {
            $known = ['login_required', 'interaction_required', 'access_denied'];
            $isOurs = isKnownState($parameters['state'] ?? '');
            throw new Refused(match (true) {
                !$isOurs => 'state_unknown',
                in_array($parameters['error'], $known, true) => $parameters['error'],
                default => 'error_unknown',
            });
        }
        $payload = verify($parameters);
        if (!isset($payload->state) && !broken('state_missing_accepted')) {
            header('Identity-Refusal: state_missing');
            redirect(ORIGIN . '/' . NAME . '/' . (findVisitor() === null ? 'login' : ''));
            return;
        }
        if (isset($payload->state) && !isKnownState($payload->state)) {
            throw new Refused('state_unknown');
        }
        if (!useUp($payload->nonce)) {
            throw new Refused('nonce_replayed');
        }
        $session = addSession(savePerson($payload->profile ?? null));
        header("Set-Cookie: session=$session; Path=/" . NAME . '/; HttpOnly; SameSite=Lax', false);
        redirect(findTarget($payload->return_to ?? null));
    } catch (Refused $refused) {
        refuse($refused->getMessage());
    }
}

function useUp(string $nonce): bool
{
    if (broken('nonce_not_checked') || broken('nonce_before_mac')) {
        return true;
    }
    if (broken('nonce_not_atomic')) {
        if (isNonceKnown($nonce)) {
            return false;
        }
        usleep(100_000);
        useNonce($nonce);
        return true;
    }
    return useNonce($nonce);
}

function savePerson(mixed $profile): int
{
    // Only in a client that does not check types can a member here be anything but text.
    $text = fn(mixed $value) => is_scalar($value) ? (string) $value : '';
    $members = [$profile->id ?? '', $profile->email ?? '', $profile->name ?? '', $profile->profile_updated_at ?? ''];
    [$id, $email, $name, $updatedAt] = array_map($text, $members);
    $person = broken('linked_by_email') ? findPerson('email', $email) : null;
    if ($person === null) {
        addPerson($id);
        $person = findPerson('profile_id', $id);
    }
    updatePerson($person['number'], $email, $name, $updatedAt, !broken('older_profile_applied'));
    return $person['number'];
}

function findTarget(?string $returnTo): string
{
    if ($returnTo === null) {
        return ORIGIN . '/' . NAME . '/';
    }
    return broken('return_to_open') ? $returnTo
        : ORIGIN . preg_replace_callback('/[^\x21-\x7e]/', fn($found) => rawurlencode($found[0]), $returnTo);
}

/** Accepts a nudge, but pulls nothing, because the doctor does not look at what a client pulls. */
function events(): void
{
    if ($_SERVER['REQUEST_METHOD'] !== 'POST') {
        refuse('method_not_allowed');
        return;
    }
    $body = (string) file_get_contents('php://input');
    $names = ['ID', 'TIMESTAMP', 'SIGNATURE'];
    [$id, $timestamp, $signatures] = array_map(fn($name) => $_SERVER["HTTP_WEBHOOK_$name"] ?? '', $names);
    $nudge = json_decode($body);
    $isForUs = is_object($nudge) && ($nudge->client ?? null) === getenv('CLIENT') && is_int($nudge->latest ?? null);
    $isGenuine = false;
    foreach (SECRETS as $secret) {
        $key = hash_hmac('sha256', 'identity webhooks v1 ' . getenv('CLIENT'), $secret, true);
        $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $key, true));
        foreach (explode(' ', $signatures) as $signature) {
            $isGenuine = hash_equals($expected, $signature) || $isGenuine;
        }
    }
    $code = match (true) {
        $id === '' || $signatures === '' || !preg_match('/^\d{1,12}$/D', $timestamp) => 'nudge_malformed',
        !$isGenuine => 'nudge_signature_wrong',
        abs(time() - (int) $timestamp) > 300 => 'nudge_too_old',
        !$isForUs => 'nudge_malformed',
        default => null,
    };
    if ($code === null) {
        noStore();
        http_response_code(204);
    } else {
        refuse($code);
    }
}

match (PLACE) {
    '' => showStartPage(),
    'login' => login(),
    'callback' => callback(),
    'events' => events(),
};
