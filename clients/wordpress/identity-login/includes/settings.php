<?php
/** The site's settings. A constant in wp-config.php takes precedence over the settings page. */

namespace IdentityLogin;

use Identity\Configuration;

defined('ABSPATH') || exit;

const OPTION = 'identity_login';
const CALLBACK_PATH = '/sso/identity/callback';
const LOGIN_PATH = '/sso/identity/login';
const EVENTS_PATH = '/sso/identity/events';
/** The roles that the identity service sends. */
const IDENTITY_ROLES = ['admin', 'merchant', 'customer'];

/** What happens if a local user already has a person's email address. */
const LINK_POLICIES = ['deny', 'create', 'link'];

function default_settings(): array
{
    return [
        'issuer' => '',
        'client' => 'network_site',
        'secrets' => [],
        'ttl' => 300,
        'policy' => 'deny',
        'roles' => array_fill_keys(IDENTITY_ROLES, 'subscriber'),
        'label' => '',
    ];
}

/**
 * The constant that can hold a setting. It takes precedence over the stored value. `IDENTITY_URL` takes precedence over the
 * constants of the first three settings.
 */
const CONSTANTS = [
    'issuer' => 'IDENTITY_LOGIN_ISSUER',
    'client' => 'IDENTITY_LOGIN_CLIENT',
    'secrets' => 'IDENTITY_LOGIN_SECRETS',
    'ttl' => 'IDENTITY_LOGIN_TTL',
];

function is_constant(string $setting): bool
{
    return isset(CONSTANTS[$setting]) && (defined(CONSTANTS[$setting]) || is_by_url($setting));
}

function is_by_url(string $setting): bool
{
    return defined('IDENTITY_URL') && in_array($setting, ['issuer', 'client', 'secrets'], true);
}

function stored_settings(): array
{
    $stored = get_option(OPTION);
    return array_merge(default_settings(), is_array($stored) ? $stored : []);
}

function settings(): array
{
    $settings = stored_settings();
    foreach (array_filter(array_keys(CONSTANTS), __NAMESPACE__ . '\is_constant') as $name) {
        $settings[$name] = is_by_url($name) ? '' : constant(CONSTANTS[$name]);
    }
    if (defined('IDENTITY_URL')) {
        $settings = (Configuration::readUrl((string) constant('IDENTITY_URL')) ?? []) + $settings;
    }
    if (is_string($settings['secrets'])) {
        $settings['secrets'] = explode(',', $settings['secrets']);
    }
    $settings['ttl'] = (int) $settings['ttl'];
    return $settings;
}

/** The URL of one of the plugin's paths. Some web servers give WordPress only paths that begin with `index.php`. */
function address_of(string $path): string
{
    global $wp_rewrite;
    return home_url(($wp_rewrite->using_index_permalinks() ? '/index.php' : '') . $path);
}

/** @return list<string> */
function list_secrets(array $settings): array
{
    return array_values(array_filter((array) $settings['secrets'], static fn($secret) => $secret !== ''));
}

/** The local role for a role at Identity, or none if this site no longer has that role. */
function mapped_role(string $identity_role): string
{
    $role = settings()['roles'][$identity_role] ?? 'subscriber';
    return wp_roles()->is_role($role) ? $role : '';
}

function button_label(): string
{
    return settings()['label'] ?: __('Log in with Identity', 'identity-login');
}

/** The page at Identity on which people edit their data. */
function identity_profile_url(): string
{
    return rtrim(settings()['issuer'], '/') . '/profile';
}
