<?php
/**
 * Name, email address and password of linked users are kept at Identity. Forms, REST, XML-RPC and other plugins cannot change
 * them here.
 */

namespace IdentityLogin;

defined('ABSPATH') || exit;

const MASTER_FIELDS = ['user_login', 'user_pass', 'user_email', 'display_name'];
const MASTER_META = ['nickname', 'first_name', 'last_name'];

$GLOBALS['identity_login_is_syncing'] = false;

/** While `work` runs, the data of linked users can be written, because the change came from Identity. */
function while_syncing(callable $work): mixed
{
    $GLOBALS['identity_login_is_syncing'] = true;
    try {
        return $work();
    } finally {
        $GLOBALS['identity_login_is_syncing'] = false;
    }
}

function is_kept_elsewhere(int $user_id): bool
{
    return !$GLOBALS['identity_login_is_syncing'] && is_linked($user_id);
}

add_filter('wp_pre_insert_user_data', static function (array $data, bool $is_update, ?int $user_id): array {
    if (!$is_update || !is_kept_elsewhere((int) $user_id)) {
        return $data;
    }
    $kept = get_userdata($user_id)->to_array();
    return array_merge($data, array_intersect_key($kept, array_flip(MASTER_FIELDS), $data));
}, PHP_INT_MAX, 3);

add_filter('insert_user_meta', static function (array $meta, \WP_User $user, bool $is_update): array {
    if (!$is_update || !is_kept_elsewhere($user->ID)) {
        return $meta;
    }
    foreach (array_intersect(MASTER_META, array_keys($meta)) as $name) {
        $meta[$name] = wp_slash(get_user_meta($user->ID, $name, true));
    }
    return $meta;
}, PHP_INT_MAX, 3);

// Suppresses WordPress's mail about a changed email address or password.
foreach (['send_email_change_email', 'send_password_change_email'] as $filter) {
    add_filter($filter, static fn(bool $send, array $user) => $send && !is_linked((int) $user['ID']), 10, 2);
}

// Without this, WordPress would mail a link to any email address that somebody types into the form.
add_action('personal_options_update', static function (int $user_id): void {
    if (is_linked($user_id) && isset($_POST['email'])) {
        $_POST['email'] = wp_slash(get_userdata($user_id)->user_email);
    }
}, 0);
