<?php
/** What a local user may do here. */

namespace IdentityLogin;

defined('ABSPATH') || exit;

/** The rights that a subscriber has in a new WordPress. This site may have given that role more. */
const READER_RIGHTS = ['read', 'level_0'];

/**
 * Whether a user has only the rights that a subscriber has in a new WordPress. Checks each right that this site knows, because
 * a plugin may add rights, and grant them to users whose roles do not have them.
 */
function may_only_read(\WP_User $user): bool
{
    $answer = apply_filters('user_has_cap', $user->allcaps, ['read'], ['read', $user->ID], $user);
    $own = array_filter($user->allcaps) + array_filter($answer);
    // WordPress keeps the names of a user's roles among their rights.
    $own = array_diff_key($own, array_flip($user->roles), array_flip(READER_RIGHTS));
    return $own === [] && array_filter(list_other_rights(), static fn($right) => may($user, $right)) === [];
}

/**
 * All rights that the roles of this site name, except the rights of readers.
 *
 * @return list<string>
 */
function list_other_rights(): array
{
    $rights = [];
    foreach (wp_roles()->role_objects as $role) {
        $rights += (array) $role->capabilities;
    }
    return array_filter(array_keys(array_diff_key($rights, array_flip(READER_RIGHTS))), 'is_string');
}

/** Some rights are about one post. Without a post, WordPress refuses them and reports a wrong call. This hides the report. */
function may(\WP_User $user, string $right): bool
{
    add_filter('doing_it_wrong_trigger_error', '__return_false', PHP_INT_MAX);
    try {
        return $user->has_cap($right);
    } finally {
        remove_filter('doing_it_wrong_trigger_error', '__return_false', PHP_INT_MAX);
    }
}
