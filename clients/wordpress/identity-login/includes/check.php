<?php
/** The check on the settings page: whether this site and the identity service understand each other. */

namespace IdentityLogin;

defined('ABSPATH') || exit;

/** The settings that the operator of the identity service makes for this site, besides its secret. */
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
        return array_map(static fn($fault) => [false, $fault], array_values(array_unique($faults)));
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
        return [false, __('Identity does not answer at its address. Compare “Address of Identity” with the one that you log in at, and ask your host whether this server may connect to it.', 'identity-login')];
    }
    $their_time = strtotime((string) wp_remote_retrieve_header($answer, 'date'));
    $ahead = $their_time === false ? 0 : time() - $their_time;
    return abs($ahead) > 10
        ? [false, word_clock_fault($ahead)]
        : [true, __('Identity answers, and the clocks agree.', 'identity-login')];
}

function word_clock_fault(int $ahead): string
{
    return sprintf($ahead > 0
        /* translators: %d: seconds */
        ? __('The clock of this server is %d seconds fast. Ask your host to set the server’s clock.', 'identity-login')
        /* translators: %d: seconds */
        : __('The clock of this server is %d seconds slow. Ask your host to set the server’s clock.', 'identity-login'), abs($ahead));
}

function check_events(): array
{
    try {
        return pull()
            ? [true, __('Identity knows this site by this name and secret.', 'identity-login')]
            : [false, __('Changes are being read at this moment. Check again in a minute.', 'identity-login')];
    } catch (PullPaused) {
        return [true, __('Identity knows this site by this name and secret. There are many changes, which are still being read.', 'identity-login')];
    } catch (\Throwable $error) {
        return [false, word_pull_failure($error)];
    }
}
