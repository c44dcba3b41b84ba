<?php
/** The profile page of a linked user. It says where name, email address and password are kept, and has no fields for them. */

namespace IdentityLogin;

defined('ABSPATH') || exit;

/** The user that this page of the administration is about. */
function user_of_page(): int
{
    return get_current_screen()?->id === 'user-edit' ? (int) ($_REQUEST['user_id'] ?? 0) : get_current_user_id();
}

function is_page_of_linked_user(): bool
{
    return in_array(get_current_screen()?->id, ['profile', 'user-edit'], true) && is_linked(user_of_page());
}

add_action('admin_notices', static function (): void {
    if (!is_page_of_linked_user()) {
        return;
    }
    $user_id = user_of_page();
    $status = find_status(profile_id_of($user_id));
    $states = [
        'suspended' => __('This person is suspended at Identity, and cannot log in.', 'identity-login'),
        'deleted' => __('This person was deleted at Identity. What they wrote here stays.', 'identity-login'),
    ];
    $is_own = $user_id === get_current_user_id();
    $words = $is_own
        ? __('Your name, email address and password are kept at Identity.', 'identity-login')
        : __('Name, email address and password of this person are kept at Identity.', 'identity-login');
    echo '<div class="notice notice-info"><p>', esc_html($states[$status] ?? $words);
    if ($is_own) {
        printf(' <a href="%s">%s</a>', esc_url(identity_profile_url()), esc_html__('Edit them there', 'identity-login'));
    }
    echo '</p></div>';
});

add_action('admin_head', static function (): void {
    if (is_page_of_linked_user()) {
        $rows = ['first-name', 'last-name', 'nickname', 'display-name', 'email', 'generate-reset-link'];
        $hidden = implode(',', array_map(static fn($row) => ".user-$row-wrap", $rows));
        // Without https, WordPress shows everybody that application passwords are not available. The style hides this, too.
        echo "<style>$hidden,.application-passwords{display:none}</style>"; // phpcs:ignore -- nothing of anybody's
    }
});

// WordPress has no place for a hint beside its menu of roles.
add_action('admin_footer-user-edit.php', static function (): void {
    $hint = is_page_of_linked_user() ? find_role_hint(get_userdata(user_of_page())) : null;
    if ($hint !== null) {
        $words = wp_json_encode($hint);
        echo "<script>
            document.querySelector('.user-role-wrap td')?.append(
              Object.assign(document.createElement('p'), { className: 'description', textContent: $words }));
        </script>"; // phpcs:ignore -- JSON
    }
});

function find_role_hint(\WP_User $user): ?string
{
    $status = find_status(profile_id_of($user->ID));
    if ($status === 'suspended') {
        return are_roles_as_taken($user)
            ? __('The role that they had comes back when the suspension ends. If you save this page before that, the role chosen here counts instead, also none.', 'identity-login')
            : __('It was changed here since the suspension, and stays as it is when that ends.', 'identity-login');
    }
    if ($status !== 'active') {
        return null;
    }
    return has_given_role($user)
        ? __('It follows the role at Identity. If you choose another, that one stays.', 'identity-login')
        /* translators: %s: a bulk action */
        : sprintf(__('It does not follow the role at Identity. To let it, choose this user in the list of users, and “%s” under “Bulk actions”.', 'identity-login'), follow_action_label());
}

foreach (['show_user_profile', 'edit_user_profile'] as $action) {
    add_action($action, __NAMESPACE__ . '\show_kept_profile');
}

function show_kept_profile(\WP_User $user): void
{
    if (!is_linked($user->ID)) {
        return;
    }
    $rows = [
        __('Name', 'identity-login') => $user->display_name,
        __('Email address', 'identity-login') => get_user_meta($user->ID, EMAIL_META, true),
        __('Role', 'identity-login') => get_user_meta($user->ID, ROLE_META, true),
    ];
    if (current_user_can('promote_user', $user->ID)) {
        $rows[__('Local role', 'identity-login')] = has_given_role($user)
            ? __('follows the role at Identity', 'identity-login')
            : __('does not follow Identity', 'identity-login');
    }
    echo '<h2>', esc_html__('Identity', 'identity-login'), '</h2><table class="form-table" role="presentation">';
    foreach ($rows as $name => $value) {
        printf('<tr><th scope="row">%s</th><td>%s</td></tr>', esc_html($name), esc_html((string) $value));
    }
    echo '</table>';
}
