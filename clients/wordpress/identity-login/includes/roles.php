<?php
/** The local roles of linked users: they follow the role at Identity, and are gone while somebody is suspended there. */

namespace IdentityLogin;

defined('ABSPATH') || exit;

/** The local role that this plugin gave last. Others are given by hand or by other plugins, and stay. */
const GIVEN_ROLE_META = 'identity_role_given';
/** The local roles that a suspension has taken away, until it is lifted. */
const SUSPENDED_ROLES_META = 'identity_roles_suspended';

/** Whether they have the role that this plugin gave, whatever others gave them besides. */
function has_given_role(\WP_User $user): bool
{
    $given = (string) get_user_meta($user->ID, GIVEN_ROLE_META, true);
    return metadata_exists('user', $user->ID, GIVEN_ROLE_META)
        && ($given === '' ? $user->roles === [] : in_array($given, $user->roles, true));
}

/** Gives the role of the settings' table in place of the last one, unless that was taken away by hand. */
function follow_role(\WP_User $user): void
{
    if (!has_given_role($user) || metadata_exists('user', $user->ID, SUSPENDED_ROLES_META)) {
        return;
    }
    $given = (string) get_user_meta($user->ID, GIVEN_ROLE_META, true);
    $role = mapped_role((string) get_user_meta($user->ID, ROLE_META, true));
    if ($role !== $given) {
        $user->remove_role($given);
        $user->add_role($role);
        update_user_meta($user->ID, GIVEN_ROLE_META, $role);
    }
}

/** In place of all roles that they have: from now on it follows Identity. */
function give_role(\WP_User $user): void
{
    $role = mapped_role((string) get_user_meta($user->ID, ROLE_META, true));
    $user->set_role($role);
    update_user_meta($user->ID, GIVEN_ROLE_META, $role);
}

/** Also while this plugin is away, whoever is suspended can do nothing here. */
function take_roles_away(\WP_User $user): void
{
    // Only once: the event may come again.
    add_user_meta($user->ID, SUSPENDED_ROLES_META, array_values($user->roles), true);
    $user->set_role('');
}

function give_roles_back(\WP_User $user): void
{
    if (!metadata_exists('user', $user->ID, SUSPENDED_ROLES_META)) {
        return;
    }
    foreach ((array) get_user_meta($user->ID, SUSPENDED_ROLES_META, true) as $role) {
        $user->add_role($role);
    }
    delete_user_meta($user->ID, SUSPENDED_ROLES_META);
    follow_role($user);
}

// A change of the table counts at once, for whoever is at work here.
add_action('init', static function (): void {
    $user = wp_get_current_user();
    if (is_linked($user->ID)) {
        follow_role($user);
    }
}, 0);
