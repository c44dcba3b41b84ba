<?php
/** What is wrong with the settings, in the words of the settings page. */

namespace IdentityLogin;

use Identity\ConfigurationError;

defined('ABSPATH') || exit;

/** The identity service itself requires secrets of at least this length. */
const MIN_SECRET_BYTES = 32;

function has_short_secret(array $secrets): bool
{
    return array_filter($secrets, static fn($secret) => strlen((string) $secret) < MIN_SECRET_BYTES) !== [];
}

/** What to do about each faulty setting, by the kit's name for the setting. Empty if people can log in. */
function find_configuration_faults(?array $settings = null): array
{
    try {
        $settings === null ? client() : build_client($settings);
        return [];
    } catch (ConfigurationError $error) {
        $names = array_keys($error->faults);
        return array_combine($names, array_map(static fn($name) => word_fault($name, $settings ?? settings()), $names));
    }
}

function word_fault(string $name, array $settings): string
{
    if (is_by_url($name)) {
        return __('IDENTITY_URL in wp-config.php must be the address that the people who run Identity gave you, such as https://network_site:SECRET@id.example.com. Nothing of it may be left out.', 'identity-login');
    }
    return match ($name) {
        'issuer' => (string) $settings['issuer'] === ''
            ? __('Fill in the address of Identity.', 'identity-login')
            : __('The address of Identity must start with https:// and end with the name of the server, such as https://id.example.com. To try it on your own computer, http://localhost:3000 will do.', 'identity-login'),
        'client' => __('Fill in the name of this site, as the people who run Identity gave it to you: small letters, digits and underscores.', 'identity-login'),
        'secrets' => word_secrets_fault(list_secrets($settings)),
        'ttlSeconds' => __('“Valid for” must be a number from 30 to 3600. Leave it at 300 unless the people who run Identity say otherwise.', 'identity-login'),
        default => __('The address of this site, under Settings, General, must start with https://.', 'identity-login'),
    };
}

function word_secrets_fault(array $secrets): string
{
    return match (true) {
        $secrets === [] => __('Put the secret into wp-config.php, or into the field “Secret”.', 'identity-login'),
        has_short_secret($secrets) => __('The secret is too short: it needs 32 characters or more. Ask the people who run Identity for the one that they have set for this site.', 'identity-login'),
        default => __('The secret must be one, or two that differ, with a comma between them in wp-config.php. Remove spaces before and after each.', 'identity-login'),
    };
}
