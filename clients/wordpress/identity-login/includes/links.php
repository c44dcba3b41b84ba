<?php
/**
 * Which local user belongs to which person. Only this file reads and writes the table of links. Its primary key prevents two
 * local users for one person. Its unique index prevents two people for one local user.
 */

namespace IdentityLogin;

defined('ABSPATH') || exit;

/**
 * Meta of a linked user, for other plugins, and for times when the table of links cannot be read. If the two differ, the
 * table counts.
 */
const PROFILE_ID_META = 'identity_profile_id';

/** A cache of what `find_status` has read. Writing a status clears it. */
$GLOBALS['identity_login_statuses'] = [];

/** A cache of what `profile_id_of` has read. Writing a link clears it. */
$GLOBALS['identity_login_profile_ids'] = [];

/** Returns the person's id. Empty for a user who is not linked: neither the table nor the meta has an id. */
function profile_id_of(int $user_id): string
{
    $links = table('links');
    $known = &$GLOBALS['identity_login_profile_ids'];
    try {
        $known[$user_id] ??= (string) read_row("SELECT profile_id FROM $links WHERE user_id = %d", $user_id)?->profile_id;
    } catch (DatabaseFailure) {
        // If the table cannot be read, local users can still log in and repair it.
    }
    return ($known[$user_id] ?? '') ?: (string) get_user_meta($user_id, PROFILE_ID_META, true);
}

function is_linked(int $user_id): bool
{
    return $user_id > 0 && profile_id_of($user_id) !== '';
}

/** Null if the person has never been here. Call it only while no other process works on this person. */
function find_link(string $profile_id): ?object
{
    $links = table('links');
    unset($GLOBALS['identity_login_statuses'][$profile_id]);
    return read_row("SELECT user_id, profile_updated_at, status FROM $links WHERE profile_id = %s", $profile_id);
}

/** Returns false if the person has another local user by now, or the user belongs to another person. */
function connect_user(string $profile_id, int $user_id): bool
{
    $links = table('links');
    write(
        "INSERT INTO $links (profile_id, user_id) VALUES (%s, %d) ON DUPLICATE KEY UPDATE profile_id = profile_id",
        $profile_id,
        $user_id,
    );
    $GLOBALS['identity_login_profile_ids'] = [];
    if ((int) find_link($profile_id)?->user_id !== $user_id) {
        return false;
    }
    update_user_meta($user_id, PROFILE_ID_META, $profile_id);
    return true;
}

/** Records the time of a profile. From then on, only a later profile is accepted. */
function record_profile(string $profile_id, string $updated_at): void
{
    $links = table('links');
    write(
        "UPDATE $links SET profile_updated_at = %s WHERE profile_id = %s AND profile_updated_at < %s",
        $updated_at,
        $profile_id,
        $updated_at,
    );
}

function remove_link(string $profile_id): void
{
    $links = table('links');
    write("DELETE FROM $links WHERE profile_id = %s", $profile_id);
    $GLOBALS['identity_login_profile_ids'] = [];
}

/** `active`, `suspended` or `deleted`. Null if there is no such person here. */
function find_status(string $profile_id): ?string
{
    $links = table('links');
    $known = &$GLOBALS['identity_login_statuses'];
    if (!array_key_exists($profile_id, $known)) {
        $known[$profile_id] = read_row("SELECT status FROM $links WHERE profile_id = %s", $profile_id)?->status;
    }
    return $known[$profile_id];
}

function set_status(string $profile_id, string $status): void
{
    $links = table('links');
    write("UPDATE $links SET status = %s WHERE profile_id = %s", $status, $profile_id);
    unset($GLOBALS['identity_login_statuses'][$profile_id]);
}

/** After this, any profile counts as newer, and a suspension whose end was missed no longer counts. */
function forget_profiles(): void
{
    $links = table('links');
    write("UPDATE $links SET profile_updated_at = '', status = IF(status = 'suspended', 'active', status)");
    $GLOBALS['identity_login_statuses'] = [];
}

/** If an administrator has deleted a person's local user, the person gets a new one when they come back. */
add_action('deleted_user', static function (int $user_id): void {
    $links = table('links');
    write("DELETE FROM $links WHERE user_id = %d", $user_id);
    $GLOBALS['identity_login_profile_ids'] = [];
});
