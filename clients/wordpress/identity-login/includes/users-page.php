<?php
/** The list of users shows each person's email address at Identity, and lets a role follow Identity again. */

namespace IdentityLogin;

defined('ABSPATH') || exit;

const ADDRESS_COLUMN = 'identity_email';
const FOLLOW_ACTION = 'identity_login_follow_role';

add_filter('manage_users_columns', static fn(array $columns) => $columns + [ADDRESS_COLUMN => __('Email at Identity', 'identity-login')]);

add_filter(
    'manage_users_custom_column',
    static fn($content, $column, $user_id) => $column === ADDRESS_COLUMN
        ? esc_html((string) get_user_meta($user_id, EMAIL_META, true))
        : $content,
    10,
    3,
);

function follow_action_label(): string
{
    return __('Let the role follow Identity', 'identity-login');
}

add_filter('bulk_actions-users', static fn(array $actions) => current_user_can('promote_users')
    ? $actions + [FOLLOW_ACTION => follow_action_label()]
    : $actions);

// This runs early, because WordPress removes the form's nonce from the URL before it calls plugins.
add_action('load-users.php', static function (): void {
    if (($_REQUEST['action'] ?? '') !== FOLLOW_ACTION) {
        return;
    }
    check_admin_referer('bulk-users');
    $chosen = array_map('intval', (array) ($_REQUEST['users'] ?? []));
    $following = array_filter($chosen, __NAMESPACE__ . '\let_role_follow');
    wp_safe_redirect(add_query_arg(FOLLOW_ACTION, count($following), admin_url('users.php')));
    exit;
});

/**
 * Makes the role follow Identity again. Returns whether it does now. Refuses to take rights away from the person who clicks.
 */
function let_role_follow(int $user_id): bool
{
    $may = current_user_can('promote_user', $user_id) && $user_id !== get_current_user_id();
    return $may && with_person(profile_id_of($user_id), static function () use ($user_id): bool {
        $user = fresh_user($user_id);
        if (!$user || find_link(profile_id_of($user_id))?->status !== 'active') {
            return false;
        }
        give_role($user);
        return true;
    });
}

add_filter('removable_query_args', static fn(array $names) => [...$names, FOLLOW_ACTION]);

add_action('admin_notices', static function (): void {
    if (get_current_screen()?->id !== 'users' || !isset($_GET[FOLLOW_ACTION])) {
        return;
    }
    $count = (int) $_GET[FOLLOW_ACTION];
    /* translators: %s: how many */
    $words = _n('The role of %s user follows Identity.', 'The roles of %s users follow Identity.', $count, 'identity-login');
    $others = __('Others that you chose do not log in with Identity, are suspended there, or are yourself.', 'identity-login');
    printf('<div class="notice notice-info"><p>%s %s</p></div>', esc_html(sprintf($words, number_format_i18n($count))), esc_html($others));
});
