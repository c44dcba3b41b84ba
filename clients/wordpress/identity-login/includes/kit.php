<?php
/** The kit, with the addresses of this site. They come from its settings, never from the request. */

namespace IdentityLogin;

use Identity\Client;
use Identity\Configuration;
use Identity\ConfigurationError;

defined('ABSPATH') || exit;

/** Throws a ConfigurationError. */
function client(): Client
{
    static $client = null;
    return $client ??= build_client(settings());
}

function build_client(array $settings): Client
{
    return new Client(new Configuration(
        issuer: (string) $settings['issuer'],
        client: (string) $settings['client'],
        secrets: array_values(array_filter((array) $settings['secrets'], static fn($secret) => $secret !== '')),
        callbackUrl: home_url(CALLBACK_PATH),
        loginUrl: home_url(LOGIN_PATH),
        nonces: new SiteNonces(),
        homeUrl: home_url('/'),
        ttlSeconds: $settings['ttl'],
    ), new SiteHttp());
}

/** What is wrong with the settings, by the kit's names; nothing where people can log in. */
function find_configuration_faults(): array
{
    try {
        client();
        return [];
    } catch (ConfigurationError $error) {
        return $error->faults;
    }
}
