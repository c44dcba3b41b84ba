<?php
/**
 * Records the settings with which Identity has led somebody back to this site, and has sent it a nudge. Only a real login and a
 * real nudge can show that this works, because Identity has its own settings that say where both go.
 */

namespace IdentityLogin;

use Identity\Profile;
use Identity\Request;

defined('ABSPATH') || exit;

/** The settings with which somebody last logged in. Both sides agree on them. */
const PROVED_OPTION = 'identity_login_proved';
/** When the last nudge came, and with which settings. */
const CALLED_OPTION = 'identity_login_called';

function connection(): string
{
    $settings = settings();
    $secrets = wp_hash(implode(',', list_secrets($settings)));
    return implode(' ', [$settings['issuer'], $settings['client'], address_of(CALLBACK_PATH), $secrets]);
}

/**
 * Writes only after a change. Logins of the doctor's people do not count, because the doctor and not Identity sends them to
 * this site.
 */
function record_login(Profile $profile): void
{
    if (!is_test_person($profile->id, $profile->email)) {
        update_option(PROVED_OPTION, connection(), false);
    }
}

function has_anybody_logged_in(): bool
{
    return get_option(PROVED_OPTION) === connection();
}

/**
 * Called after a genuine nudge. The doctor's nudges do not count, because the doctor may send them to another URL than Identity
 * does.
 */
function record_call(Request $request): void
{
    if (!str_starts_with($request->headers['user-agent'] ?? '', 'identity-doctor/')) {
        update_option(CALLED_OPTION, ['connection' => connection(), 'at' => time()], false);
    }
}

function find_last_call(): ?int
{
    $call = get_option(CALLED_OPTION);
    return is_array($call) && $call['connection'] === connection() ? $call['at'] : null;
}
