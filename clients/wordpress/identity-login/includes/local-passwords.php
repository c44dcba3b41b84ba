<?php
/** Linked users have no local password: neither for logins nor for programs. */

namespace IdentityLogin;

defined('ABSPATH') || exit;

// Runs after WordPress's own check, in forms and in XML-RPC. So a wrong password gets the same answer for every user.
add_filter('authenticate', static fn($user) => $user instanceof \WP_User && is_linked($user->ID)
    ? new \WP_Error('identity_login_only', sprintf(
        /* translators: %s: the words of the login button */
        __('<strong>Error:</strong> This person has no password here. Choose “%s”.', 'identity-login'),
        esc_html(button_label()),
    ))
    : $user, PHP_INT_MAX);

add_filter('show_password_fields', static fn($show, $user) => $show && !is_linked($user->ID), PHP_INT_MAX, 2);

add_filter(
    'wp_is_application_passwords_available_for_user',
    static fn($is_available, $user) => $is_available && !is_linked($user->ID),
    PHP_INT_MAX,
    2,
);
