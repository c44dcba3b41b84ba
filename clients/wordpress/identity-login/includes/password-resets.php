<?php
/** Password resets. Linked users set their password at Identity. Strangers cannot find out here who is linked. */

namespace IdentityLogin;

defined('ABSPATH') || exit;

/** The parameter that tells the notice how many of the chosen users are linked. */
const LEFT_OUT = 'identity_login_left_out';

add_filter('allow_password_reset', static fn($allow, $user_id) => is_linked((int) $user_id) ? false : $allow, PHP_INT_MAX, 2);

// The link that sets a password may have been mailed before the user was linked.
add_action('validate_password_reset', static function (\WP_Error $errors, $user): void {
    if ($user instanceof \WP_User && is_linked($user->ID)) {
        $errors->add('identity_login_only', __('The password of this person is kept at Identity.', 'identity-login'));
    }
}, 10, 2);

// A linked user gets the same answer as any other user. The page tells everybody where people of Identity set their password.
foreach (['lostpassword', 'retrievepassword'] as $action) {
    add_action("login_form_$action", static fn() => add_filter(
        'send_retrieve_password_email',
        static fn($send, $name, $user) => $send && !is_linked($user->ID),
        10,
        3,
    ));
}

function identity_reset_url(): string
{
    return rtrim(settings()['issuer'], '/') . '/forgot-password';
}

add_filter('user_row_actions', static function (array $actions, \WP_User $user): array {
    return is_linked($user->ID) ? array_diff_key($actions, ['resetpassword' => 1]) : $actions;
}, 10, 2);

// Without this, WordPress would count a mail for each linked user, although it sends none to them.
add_action('load-users.php', static function (): void {
    $chosen = array_map('intval', (array) ($_REQUEST['users'] ?? []));
    $linked = array_filter($chosen, __NAMESPACE__ . '\is_linked');
    if (($_REQUEST['action'] ?? '') !== 'resetpassword' || !current_user_can('edit_users') || $linked === []) {
        return;
    }
    $_REQUEST['users'] = array_values(array_diff($chosen, $linked));
    add_filter('wp_redirect', static fn($location) => add_query_arg(LEFT_OUT, count($linked), $location));
});

add_filter('removable_query_args', static fn(array $names) => [...$names, LEFT_OUT]);

add_action('admin_notices', static function (): void {
    $count = (int) ($_GET[LEFT_OUT] ?? 0);
    if (get_current_screen()?->id !== 'users' || $count < 1) {
        return;
    }
    $words = _n(
        'Nothing was sent to %s user who logs in with Identity. People reset that password at Identity:',
        'Nothing was sent to %s users who log in with Identity. People reset that password at Identity:',
        $count,
        'identity-login',
    );
    $url = esc_url(identity_reset_url());
    printf('<div class="notice notice-warning"><p>%s <a href="%s">%s</a></p></div>', esc_html(sprintf($words, number_format_i18n($count))), $url, $url); // phpcs:ignore
});
