<?php
/** Refused logins: a line in the log, the last of them on the settings page, and what to do about each. */

namespace IdentityLogin;

use Identity\Refusal;

defined('ABSPATH') || exit;

const REFUSALS_OPTION = 'identity_login_refusals';
const REFUSALS_SHOWN = 10;

/** Nothing of what arrived: a code, and the name of the launch. */
function log_refusal(Refusal $refusal): void
{
    log_line(trim("refused: $refusal->refusalCode $refusal->launchId"));
    // Nothing is wrong with it: somebody came by a link from elsewhere.
    if ($refusal->refusalCode !== 'state_missing') {
        $latest = ['at' => time(), 'code' => $refusal->refusalCode, 'launch' => $refusal->launchId ?? ''];
        update_option(REFUSALS_OPTION, array_slice([$latest, ...recent_refusals()], 0, REFUSALS_SHOWN), false);
    }
}

function recent_refusals(): array
{
    $refusals = get_option(REFUSALS_OPTION);
    return is_array($refusals) ? $refusals : [];
}

function log_line(string $words): void
{
    error_log("identity-login: $words");
}

/** Where the documents explain a code. */
function refusal_url(string $code): string
{
    return rtrim(settings()['issuer'], '/') . '/developers/refusals#' . $code;
}
