<?php
/**
 * The local roles of linked users. A user's role follows the role at Identity until somebody changes it here. A suspension at
 * Identity takes all roles away. If somebody changes the roles during the suspension, the earlier roles do not come back.
 */

namespace IdentityLogin;

defined('ABSPATH') || exit;

/** The local role that this plugin gave last. The meta is missing if somebody has changed that role since. */
const GIVEN_ROLE_META = 'identity_role_given';
/** The local roles that a suspension has taken away. They are kept until the suspension is lifted. */
const SUSPENDED_ROLES_META = 'identity_roles_suspended';

/** Whether the user still has the role that this plugin gave. Other roles do not matter. */
function has_given_role(\WP_User $user): bool
{
    return is_given_among($user->roles, $user);
}

function is_given_among(array $roles, \WP_User $user): bool
{
    $given = given_role($user->ID);
    return metadata_exists('user', $user->ID, GIVEN_ROLE_META) && ($given === '' ? $roles === [] : in_array($given, $roles, true));
}

function given_role(int $user_id): string
{
    return (string) get_user_meta($user_id, GIVEN_ROLE_META, true);
}

/** The role that the table in the settings now gives the user. */
function role_of_table(\WP_User $user): string
{
    return mapped_role((string) get_user_meta($user->ID, ROLE_META, true));
}

function is_to_follow(\WP_User $user): bool
{
    return has_given_role($user) && role_of_table($user) !== given_role($user->ID)
        && !metadata_exists('user', $user->ID, SUSPENDED_ROLES_META);
}

/**
 * Replaces the role that this plugin gave with the role from the table in the settings, unless somebody changed it here. Call
 * it only within `with_person`.
 */
function follow_role(\WP_User $user): void
{
    reload_roles($user);
    if (is_to_follow($user)) {
        $role = role_of_table($user);
        $user->remove_role(given_role($user->ID));
        $user->add_role($role);
        update_user_meta($user->ID, GIVEN_ROLE_META, $role);
    }
}

/** Reads roles from the database, because somebody may have changed them since this process read them. */
function reload_roles(\WP_User $user): void
{
    wp_cache_delete($user->ID, 'user_meta');
    $user->for_site();
}

/** Replaces all roles of the user. From now on the role follows Identity. */
function give_role(\WP_User $user): void
{
    delete_user_meta($user->ID, SUSPENDED_ROLES_META);
    $role = role_of_table($user);
    $user->set_role($role);
    update_user_meta($user->ID, GIVEN_ROLE_META, $role);
}

/** After this, a suspended user can do nothing here, even while this plugin is turned off. */
function take_roles_away(\WP_User $user): void
{
    if (metadata_exists('user', $user->ID, SUSPENDED_ROLES_META)) {
        // The same event may come twice.
        if (are_roles_as_taken($user)) {
            return;
        }
        delete_user_meta($user->ID, GIVEN_ROLE_META);
    }
    update_user_meta($user->ID, SUSPENDED_ROLES_META, array_values($user->roles));
    $user->set_role('');
    delete_user_meta($user->ID, level_key());
}

/**
 * Whether nobody has changed the roles since a suspension took them away. The suspension deletes the user's level. WordPress
 * writes the level again with each change of roles, even while this plugin is turned off.
 */
function are_roles_as_taken(\WP_User $user): bool
{
    return metadata_exists('user', $user->ID, SUSPENDED_ROLES_META) && $user->roles === []
        && !metadata_exists('user', $user->ID, level_key())
        // If even the entry for rights is missing, somebody has removed all rights, and the level with them.
        && metadata_exists('user', $user->ID, $user->cap_key);
}

/** Deletes the level of suspended users, because schema 2 did not. */
function mark_taken_roles(): void
{
    global $wpdb;
    write("DELETE level FROM $wpdb->usermeta level JOIN $wpdb->usermeta taken ON taken.user_id = level.user_id
        WHERE level.meta_key = %s AND taken.meta_key = %s", level_key(), SUSPENDED_ROLES_META);
}

function level_key(): string
{
    global $wpdb;
    return $wpdb->get_blog_prefix() . 'user_level';
}

/** If nobody has changed the roles since a suspension took them away, gives them back. Call it only within `with_person`. */
function give_roles_back(\WP_User $user): void
{
    if (!metadata_exists('user', $user->ID, SUSPENDED_ROLES_META)) {
        return;
    }
    reload_roles($user);
    if (are_roles_as_taken($user)) {
        give_back($user, (array) get_user_meta($user->ID, SUSPENDED_ROLES_META, true));
    } else {
        delete_user_meta($user->ID, GIVEN_ROLE_META);
    }
    delete_user_meta($user->ID, SUSPENDED_ROLES_META);
}

/** Gives roles back. If a role followed Identity, the user gets the role that the settings now have for it. */
function give_back(\WP_User $user, array $taken): void
{
    $follows = is_given_among($taken, $user);
    $followed = role_of_table($user);
    $roles = $follows ? [$followed, ...array_diff($taken, [given_role($user->ID)])] : $taken;
    foreach (array_filter($roles, wp_roles()->is_role(...)) as $role) {
        $user->add_role($role);
    }
    if ($follows) {
        update_user_meta($user->ID, GIVEN_ROLE_META, $followed);
    }
}

/**
 * If somebody gives or removes a role here, the user's role does not follow Identity any more. After the plugin's own changes,
 * the plugin writes the meta again.
 */
function note_change(int $user_id, string $role): void
{
    // During a suspension, `are_roles_as_taken` notices changes.
    if (in_array(given_role($user_id), ['', $role], true) && !metadata_exists('user', $user_id, SUSPENDED_ROLES_META)) {
        delete_user_meta($user_id, GIVEN_ROLE_META);
    }
}

foreach (['add_user_role', 'remove_user_role'] as $action) {
    add_action($action, __NAMESPACE__ . '\note_change', 10, 2);
}

// A change of the table in the settings applies at once, even to people who are logged in.
add_action('init', static function (): void {
    $user = wp_get_current_user();
    if (!is_linked($user->ID) || !is_to_follow($user)) {
        return;
    }
    try {
        with_person(profile_id_of($user->ID), static fn() => follow_role($user));
    } catch (DatabaseFailure $failure) {
        // The next page that the user opens tries again.
        log_line('a role could not follow: ' . $failure->getMessage());
    }
}, 0);
