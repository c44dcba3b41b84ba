<?php
/**
 * Creates and finds the local users of people, and keeps their data equal to the profile. A person is identified by
 * `profile.id`. The email address identifies nobody, unless the site's owner chose `link`.
 */

namespace IdentityLogin;

use Identity\Profile;
use Identity\Refusal;

defined('ABSPATH') || exit;

/** The person's email address at Identity. The local user may have a placeholder instead. */
const EMAIL_META = 'identity_email';
const ROLE_META = 'identity_role';
/** A reserved domain of RFC 2606, to which no mail can be sent. */
const PLACEHOLDER_DOMAIN = '@identity.invalid';

/** Returns the person's local user, with the newest profile. Call it only within `with_person`. Throws a Refusal. */
function admit(Profile $profile): \WP_User
{
    $link = find_link($profile->id);
    if ($link !== null && $link->status !== 'active') {
        throw new Refusal('access_denied');
    }
    $user = $link === null ? false : fresh_user((int) $link->user_id);
    if ($user) {
        // The meta is written in any case, because other plugins may read it.
        update_user_meta($user->ID, PROFILE_ID_META, $profile->id);
        give_roles_back($user);
        return take_real_address(apply_profile($profile, $user));
    }
    if ($link !== null) {
        // The local user was deleted, but WordPress did not call this plugin.
        remove_link($profile->id);
    }
    $user = find_user_to_link($profile) ?? create_user($profile);
    if (!connect_user($profile->id, $user->ID)) {
        throw new DatabaseFailure('this person or this user was linked meanwhile');
    }
    return apply_profile($profile, $user);
}

/** Reads the user from the database, and not from this process's cache. */
function fresh_user(int $user_id): \WP_User|false
{
    clean_user_cache($user_id);
    wp_cache_delete($user_id, 'user_meta');
    return get_user_by('id', $user_id);
}

/**
 * Finds a local user with the person's email address, so that the user can be linked. Null if there is none, or if the site's
 * owner chose `create`. Throws a Refusal if the user must not be linked.
 */
function find_user_to_link(Profile $profile): ?\WP_User
{
    $user = get_user_by('email', $profile->email);
    $policy = settings()['policy'];
    // The database treats letters with and without an accent as equal.
    if (!$user || strtolower($user->user_email) !== strtolower($profile->email) || $policy === 'create') {
        return null;
    }
    if ($policy !== 'link' || !may_be_linked($user)) {
        throw new Refusal('person_refused');
    }
    close_local_ways_in($user);
    return $user;
}

/** Never links a user who may do more than read, because anybody may have registered here with this email address. */
function may_be_linked(\WP_User $user): bool
{
    return may_only_read($user) && !is_linked($user->ID);
}

/**
 * Somebody else may have registered here with this email address. So this ends every password and session that they may have.
 */
function close_local_ways_in(\WP_User $user): void
{
    wp_set_password(wp_generate_password(64), $user->ID);
    \WP_Session_Tokens::get_instance($user->ID)->destroy_all();
    \WP_Application_Passwords::delete_all_application_passwords($user->ID);
}

/** Returns a random user name. It says nothing about the person, and nobody can guess it and register it first. */
function make_up_name(string $prefix): string
{
    return $prefix . bin2hex(random_bytes(8));
}

function create_user(Profile $profile): \WP_User
{
    $login = make_up_name('identity-');
    $role = mapped_role($profile->role);
    $id = while_syncing(static fn() => wp_insert_user(wp_slash([
        'user_login' => $login,
        'user_pass' => wp_generate_password(64),
        'user_email' => $login . PLACEHOLDER_DOMAIN,
        'display_name' => $profile->name,
        'role' => $role,
    ])));
    $user = get_user_by('id', require_id($id));
    update_user_meta($user->ID, GIVEN_ROLE_META, $role);
    return $user;
}

/** Applies the profile if it is newer than the kept one. Otherwise changes nothing. Call it only within `with_person`. */
function apply_profile(Profile $profile, \WP_User $user): \WP_User
{
    if (strcmp($profile->updatedAt, find_link($profile->id)->profile_updated_at) <= 0) {
        return $user;
    }
    $fields = [
        'ID' => $user->ID,
        'user_email' => local_address($profile->email, $user),
        'display_name' => $profile->name,
        'nickname' => $profile->name,
        // WordPress's list of users shows a first and a last name, but Identity has only one name.
        'first_name' => $profile->name,
        'last_name' => '',
    ];
    require_id(while_syncing(static fn() => wp_update_user(wp_slash($fields))));
    update_user_meta($user->ID, EMAIL_META, wp_slash($profile->email));
    update_user_meta($user->ID, ROLE_META, $profile->role);
    $user = get_user_by('id', $user->ID);
    follow_role($user);
    // The time of the profile is recorded last. If the change is interrupted before, it is made again.
    record_profile($profile->id, $profile->updatedAt);
    return $user;
}

/**
 * Returns the email address, or a placeholder if WordPress cannot store it. WordPress allows only one user for an email
 * address, and refuses some addresses that Identity accepts.
 */
function local_address(string $email, \WP_User $user): string
{
    $holder = email_exists($email);
    $fits = is_email($email) === $email && sanitize_email($email) === $email && strlen($email) <= 100;
    if ($fits && (!$holder || $holder === $user->ID)) {
        return $email;
    }
    return str_ends_with($user->user_email, PLACEHOLDER_DOMAIN) ? $user->user_email : make_up_name('identity-') . PLACEHOLDER_DOMAIN;
}

/**
 * A person has a placeholder if another user had their email address. If that user is gone, the person gets the real address.
 */
function take_real_address(\WP_User $user): \WP_User
{
    $email = (string) get_user_meta($user->ID, EMAIL_META, true);
    if (!str_ends_with($user->user_email, PLACEHOLDER_DOMAIN) || local_address($email, $user) !== $email) {
        return $user;
    }
    require_id(while_syncing(static fn() => wp_update_user(wp_slash(['ID' => $user->ID, 'user_email' => $email]))));
    return get_user_by('id', $user->ID);
}

/** Identity has deleted the person. The local user then has no rights and no personal data. What they wrote stays. */
function forget_person(int $user_id): void
{
    global $wpdb;
    $user = fresh_user($user_id);
    if (!$user) {
        return;
    }
    close_local_ways_in($user);
    $user->set_role('');
    $nobody = __('Deleted person', 'identity-login');
    $login = make_up_name('deleted-');
    $fields = [
        'user_email' => $login . PLACEHOLDER_DOMAIN,
        'user_nicename' => $login,
        'user_url' => '',
        'display_name' => $nobody,
    ];
    $meta = ['nickname' => $nobody, 'first_name' => $nobody, 'last_name' => '', 'description' => ''];
    $result = while_syncing(static fn() => wp_update_user(wp_slash(['ID' => $user_id] + $fields + $meta)));
    if (is_wp_error($result)) {
        log_line('WordPress did not write a deleted person: ' . $result->get_error_code());
    }
    // Writes to the database directly. WordPress cannot change the login name and the key, and another plugin may have refused
    // the other changes.
    $wpdb->update($wpdb->users, ['user_login' => $login, 'user_activation_key' => ''] + $fields, ['ID' => $user_id]);
    foreach ($meta as $name => $value) {
        update_user_meta($user_id, $name, wp_slash($value));
    }
    $blank = ['comment_author' => $nobody, 'comment_author_email' => '', 'comment_author_url' => '', 'comment_author_IP' => ''];
    $wpdb->update($wpdb->comments, $blank, ['user_id' => $user_id]);
    foreach ([EMAIL_META, ROLE_META, GIVEN_ROLE_META, SUSPENDED_ROLES_META, 'community-events-location', '_new_email'] as $meta) {
        delete_user_meta($user_id, $meta);
    }
    clean_user_cache($user_id);
    /** Lets other plugins erase what they keep about this user. */
    do_action('identity_login_person_deleted', $user_id);
}

function require_id(int|\WP_Error $id): int
{
    if (is_wp_error($id)) {
        throw new \RuntimeException('the user could not be written: ' . $id->get_error_code());
    }
    return $id;
}
