<?php
/** Whether somebody has ever logged in with these settings. Nothing else shows that Identity leads people back to this site. */

namespace IdentityLogin;

use Identity\Profile;

defined('ABSPATH') || exit;

/** The settings of the last login: what both sides have to agree on. */
const PROVED_OPTION = 'identity_login_proved';

function connection(): string
{
    $settings = settings();
    $secrets = wp_hash(implode(',', list_secrets($settings)));
    return implode(' ', [$settings['issuer'], $settings['client'], home_url(CALLBACK_PATH), $secrets]);
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
