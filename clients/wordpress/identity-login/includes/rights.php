<?php
/** What a local user may do here. */

namespace IdentityLogin;

defined('ABSPATH') || exit;

/** The rights of a subscriber of a new WordPress, whatever this site has given that role since. */
const READER_RIGHTS = ['read', 'level_0'];

/**
 * Whether they have no right that a subscriber of a new WordPress has not. Each right that this site knows is asked for: plugins
 * add their own, and answer for users who have none of it in their roles.
 */
function may_only_read(\WP_User $user): bool
{
    $answer = apply_filters('user_has_cap', $user->allcaps, ['read'], ['read', $user->ID], $user);
    $own = array_filter($user->allcaps) + array_filter($answer);
    // WordPress keeps the names of their roles among their rights.
    $own = array_diff_key($own, array_flip($user->roles), array_flip(READER_RIGHTS));
    return $own === [] && array_filter(list_other_rights(), static fn($right) => may($user, $right)) === [];
}

/**
 * All that some role of this site names, but for those of readers.
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

/** Of a right that is about one post, WordPress says that nobody has it without one, and that this was a wrong question. */
function may(\WP_User $user, string $right): bool
{
    add_filter('doing_it_wrong_trigger_error', '__return_false', PHP_INT_MAX);
    try {
        return $user->has_cap($right);
    } finally {
        remove_filter('doing_it_wrong_trigger_error', '__return_false', PHP_INT_MAX);
    }
}
