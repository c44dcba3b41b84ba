<?php
/** Linked users have no local password: not to log in with, not to reset, not for programs. */

namespace IdentityLogin;

defined('ABSPATH') || exit;

// After WordPress has looked at name and password, in forms and XML-RPC.
add_filter('authenticate', static function ($user, $name) {
    $named = $user instanceof \WP_User ? $user : find_by_name((string) $name);
    return $named && is_linked($named->ID) ? new \WP_Error('identity_login_only', sprintf(
        /* translators: %s: the words of the login button */
        __('<strong>Error:</strong> This person has no password here. Choose “%s”.', 'identity-login'),
        esc_html(button_label()),
    )) : $user;
}, PHP_INT_MAX, 2);

function find_by_name(string $name): \WP_User|false
{
    return $name === '' ? false : (get_user_by('login', $name) ?: get_user_by('email', $name));
}

add_filter('allow_password_reset', static fn($allow, $user_id) => is_linked((int) $user_id) ? false : $allow, PHP_INT_MAX, 2);

// A link that was mailed before the user was linked.
add_action('validate_password_reset', static function (\WP_Error $errors, $user): void {
    if ($user instanceof \WP_User && is_linked($user->ID)) {
        $errors->add('identity_login_only', __('The password of this person is kept at Identity.', 'identity-login'));
    }
}, 10, 2);

add_filter('show_password_fields', static fn($show, $user) => $show && !is_linked($user->ID), PHP_INT_MAX, 2);

add_filter(
    'wp_is_application_passwords_available_for_user',
    static fn($is_available, $user) => $is_available && !is_linked($user->ID),
    PHP_INT_MAX,
    2,
);
