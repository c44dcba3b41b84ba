<?php
/** What a local user may do here. */

namespace IdentityLogin;

defined('ABSPATH') || exit;

/** The rights of a subscriber of a new WordPress, even if this site has since given that role more. */
const READER_RIGHTS = ['read', 'level_0'];

/**
 * Whether a user has only the rights of a subscriber of a new WordPress. It asks for each right that this site knows, because
 * plugins add rights, and may grant them to users whose roles lack them.
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
 * All rights that some role of this site names, without those of readers.
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

/** Without a post, WordPress refuses a right that is about one post, and reports a wrong call. This hides the report. */
function may(\WP_User $user, string $right): bool
{
    add_filter('doing_it_wrong_trigger_error', '__return_false', PHP_INT_MAX);
    try {
        return $user->has_cap($right);
    } finally {
        remove_filter('doing_it_wrong_trigger_error', '__return_false', PHP_INT_MAX);
    }
}
