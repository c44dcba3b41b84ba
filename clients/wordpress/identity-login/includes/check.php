<?php
/** The check on the settings page: do this site and the identity service understand each other? */

namespace IdentityLogin;

defined('ABSPATH') || exit;

/** The settings that the operator of the identity service needs for this site, besides its secret. */
function operator_settings(): array
{
    $client = current_client();
    // The prefixes of these two client names do not follow the rule for names.
    $names = ['network_site' => 'WEBSITE', 'crm_app' => 'CRM'];
    $prefix = 'SSO_' . ($names[$client] ?? strtoupper($client));
    return [
        "{$prefix}_CALLBACK_URL" => address_of(CALLBACK_PATH),
        "{$prefix}_LOGIN_URL" => address_of(LOGIN_PATH),
        "{$prefix}_EVENTS_URL" => address_of(EVENTS_PATH),
    ];
}

/** Returns for each check whether it is good, and what to say about it. */
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
    $address = address_of(LOGIN_PATH);
    // A HEAD request uses nothing up. The plugin answers it with 204.
    $answer = wp_remote_head($address, ['redirection' => 0, 'timeout' => 5]);
    if (is_wp_error($answer)) {
        /* translators: 1: an address, 2: what went wrong */
        $words = __('This server does not reach its own address %1$s, so nothing is known about it: %2$s. Ask your host.', 'identity-login');
        return [false, sprintf($words, $address, $answer->get_error_message())];
    }
    $status = wp_remote_retrieve_response_code($answer);
    return $status === 204
        ? [true, __('The addresses of this site lead to the plugin.', 'identity-login')]
        : [false, sprintf(word_address_fault(), $address, $status)];
}

function word_address_fault(): string
{
    global $wp_rewrite;
    return match (true) {
        !$wp_rewrite->using_permalinks()
            => __('The addresses of this site do not lead to the plugin. Choose another structure than “Plain” under Settings, Permalinks.', 'identity-login'),
        (bool) $wp_rewrite->using_index_permalinks()
            /* translators: 1: an address, 2: the status of its answer */
            => __('%1$s does not lead to the plugin (%2$s). Ask your host why.', 'identity-login'),
        default
            /* translators: 1: an address, 2: the status of its answer */
            => __('%1$s does not lead to the plugin (%2$s). Ask your host to hand all addresses of this site to WordPress. If they cannot, choose a structure that begins with /index.php/ under Settings, Permalinks, and give the people who run Identity the new addresses.', 'identity-login'),
    };
}

function check_service(): array
{
    $ours = rtrim(settings()['issuer'], '/');
    // The request has no login, so Identity refuses it. The refusal names Identity's own URL.
    $answer = wp_remote_get("$ours/sso/profile", ['redirection' => 0, 'timeout' => 5, 'headers' => ['Accept' => 'application/json']]);
    $problem = json_decode(wp_remote_retrieve_body($answer), true, 16);
    $type = is_array($problem) && is_string($problem['type'] ?? null) ? $problem['type'] : '';
    if (!preg_match('~^(https?://[^/]+)/problems/\w+$~D', $type, $found)) {
        return [false, __('Identity does not answer at its address. Compare “Address of Identity” with the one that you log in at, and ask your host whether this server may connect to it.', 'identity-login')];
    }
    $theirs = $found[1];
    if ($theirs !== $ours) {
        /* translators: 1: the right address, 2: the one that was filled in */
        $words = __('Identity answers, but its own address is %1$s, and “Address of Identity” says %2$s. Nobody can log in until it says the first one.', 'identity-login');
        return [false, sprintf($words, $theirs, $ours)];
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
