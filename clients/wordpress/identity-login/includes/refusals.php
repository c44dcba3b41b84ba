<?php
/**
 * Refused logins. Each refusal is a line in the log. The settings page shows the newest refusals, and what to do about each.
 */

namespace IdentityLogin;

use Identity\Envelope;
use Identity\Refusal;
use Identity\Request;

defined('ABSPATH') || exit;

const REFUSALS_KEPT_SECONDS = 30 * DAY_IN_SECONDS;

/** Stores the code and the launch id, and nothing else from the request. */
function log_refusal(Refusal $refusal, bool $is_of_test_person = false): void
{
    log_line(trim("refused: $refusal->refusalCode $refusal->launchId"));
    // `state_missing` is no fault: somebody followed a link from elsewhere.
    if ($refusal->refusalCode === 'state_missing' || $is_of_test_person) {
        return;
    }
    try {
        count_refusal($refusal->refusalCode, $refusal->launchId ?? '');
    } catch (DatabaseFailure) {
        // The refusal is in the log already.
    }
}

/** Keeps one row for each code. So if a stranger causes a thousand refusals, no other code is lost. */
function count_refusal(string $code, string $launch): void
{
    write(
        'INSERT INTO ' . table('refusals') . ' (code, times, last_at, launch) VALUES (%s, 1, %d, %s)
            ON DUPLICATE KEY UPDATE times = times + 1, last_at = VALUES(last_at), launch = VALUES(launch)',
        $code,
        time(),
        $launch,
    );
}

/** Returns the newest refusals first. */
function recent_refusals(): array
{
    $read = static fn($wpdb, $sql) => $wpdb->get_results($sql);
    return ask($read, 'SELECT code, times, last_at, launch FROM ' . table('refusals') . ' ORDER BY last_at DESC, code', []);
}

function forget_refusals(): void
{
    write('DELETE FROM ' . table('refusals'));
}

function sweep_refusals(): void
{
    write('DELETE FROM ' . table('refusals') . ' WHERE last_at < %d', time() - REFUSALS_KEPT_SECONDS);
}

/** Whether a hand-off is genuine, and about one of the doctor's test people. */
function is_of_test_person(Request $request): bool
{
    try {
        $claims = json_decode(Envelope::open($request->query, list_secrets(settings())), true, 16);
    } catch (Refusal) {
        return false;
    }
    $profile = is_array($claims) && is_array($claims['profile'] ?? null) ? $claims['profile'] : [];
    [$id, $email] = [$profile['id'] ?? '', $profile['email'] ?? ''];
    return is_test_person(is_string($id) ? $id : '', is_string($email) ? $email : '');
}

/** The ids of the doctor's test people are of the first millisecond of 1970, and their email addresses cannot receive mail. */
function is_test_person(string $id, string $email): bool
{
    return str_starts_with($id, '00000000-0000-7') || str_ends_with($email, '.invalid');
}

function log_line(string $words): void
{
    error_log("identity-login: $words");
}

/** The page of the documents that explains a code. */
function refusal_url(string $code): string
{
    return rtrim(settings()['issuer'], '/') . '/developers/refusals#' . $code;
}
