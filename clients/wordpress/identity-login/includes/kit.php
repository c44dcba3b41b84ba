<?php
/** Sets up the kit with the URLs of this site. They come from the settings, never from the request. */

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
    $secrets = list_secrets($settings);
    // The kit accepts shorter secrets for a site on this machine. But the site may move to another machine with its settings.
    $faults = has_short_secret($secrets) ? ['secrets' => 'must each have at least 32 bytes'] : [];
    try {
        $configuration = new Configuration(
            issuer: (string) $settings['issuer'],
            client: (string) $settings['client'],
            secrets: $secrets,
            callbackUrl: address_of(CALLBACK_PATH),
            loginUrl: address_of(LOGIN_PATH),
            nonces: new SiteNonces(),
            homeUrl: home_url('/'),
            ttlSeconds: $settings['ttl'],
        );
    } catch (ConfigurationError $error) {
        $faults += $error->faults;
    }
    return $faults === [] ? new Client($configuration, new SiteHttp()) : throw new ConfigurationError($faults);
}
