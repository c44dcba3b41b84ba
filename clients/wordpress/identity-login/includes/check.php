<?php
/** The check on the settings page: whether this site and the identity service understand each other. */

namespace IdentityLogin;

defined('ABSPATH') || exit;

/** The settings that the operator of the identity service makes for this site. */
function operator_settings(): array
{
    $client = current_client();
    // Two names are older than the rule.
    $names = ['network_site' => 'WEBSITE', 'crm_app' => 'CRM'];
    $prefix = 'SSO_' . ($names[$client] ?? strtoupper($client));
    return [
        "{$prefix}_CALLBACK_URL" => home_url(CALLBACK_PATH),
        "{$prefix}_LOGIN_URL" => home_url(LOGIN_PATH),
        "{$prefix}_EVENTS_URL" => home_url(EVENTS_PATH),
    ];
}

/** What was found, each with whether it is right. */
function run_check(): array
{
    $faults = find_configuration_faults();
    if ($faults !== []) {
        $lines = array_map(static fn($name, $fault) => [false, "$name $fault"], array_keys($faults), $faults);
        return array_values($lines);
    }
    return [check_own_address(), check_service(), check_events()];
}

function check_own_address(): array
{
    // Uses nothing up, and has an answer of its own.
    $answer = wp_remote_head(home_url(LOGIN_PATH), ['redirection' => 0, 'timeout' => 5]);
    $is_ours = wp_remote_retrieve_response_code($answer) === 204;
    return [$is_ours, $is_ours
        ? __('The addresses of this site lead to the plugin.', 'identity-login')
        : __('The addresses of this site do not lead to the plugin. Choose another structure than “Plain” under Settings, Permalinks.', 'identity-login')];
}

function check_service(): array
{
    $answer = wp_remote_get(rtrim(settings()['issuer'], '/') . '/healthz', ['redirection' => 0, 'timeout' => 5]);
    if (wp_remote_retrieve_response_code($answer) !== 200) {
        return [false, __('The identity service does not answer at the issuer’s address.', 'identity-login')];
    }
    $their_time = strtotime((string) wp_remote_retrieve_header($answer, 'date'));
    $difference = $their_time === false ? 0 : abs(time() - $their_time);
    return $difference > 10
        /* translators: %d: seconds */
        ? [false, sprintf(__('The clock of this server differs by %d seconds. Set it by NTP.', 'identity-login'), $difference)]
        : [true, __('The identity service answers, and the clocks agree.', 'identity-login')];
}

function check_events(): array
{
    try {
        pull();
        return [true, __('The identity service knows this client and its secret.', 'identity-login')];
    } catch (PullPaused) {
        return [true, __('The identity service knows this client. Its events are being read.', 'identity-login')];
    } catch (\Throwable $error) {
        return [false, sprintf(
            /* translators: %s: what went wrong */
            __('Events cannot be read: %s. At 401, compare client name and secret with the operator’s.', 'identity-login'),
            $error->getMessage(),
        )];
    }
}
