<?php
/**
 * What has been seen to work with these settings: that Identity leads people back to this site, and that it calls it. Nothing
 * else shows either, because it is Identity that has these addresses.
 */

namespace IdentityLogin;

use Identity\Profile;
use Identity\Request;

defined('ABSPATH') || exit;

/** The settings of the last login: what both sides have to agree on. */
const PROVED_OPTION = 'identity_login_proved';
/** When Identity last called, and with which settings. */
const CALLED_OPTION = 'identity_login_called';

function connection(): string
{
    $settings = settings();
    $secrets = wp_hash(implode(',', list_secrets($settings)));
    return implode(' ', [$settings['issuer'], $settings['client'], address_of(CALLBACK_PATH), $secrets]);
}

/** Writes only after a change. The doctor's people come without a browser, and without Identity's own redirect. */
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

/** Of a genuine nudge. The doctor makes some of its own, to whatever address it was given. */
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
