<?php
/**
 * Sessions of linked users. Each session has the `sid` of its login at Identity, and is valid only while that login lasts.
 * Ended sessions are left out whenever WordPress reads sessions. So a process that writes old data cannot bring an ended
 * session back. Sessions that were not started by this plugin are left out, too.
 */

namespace IdentityLogin;

use Identity\Refusal;

defined('ABSPATH') || exit;

/** The key of the data that this plugin adds to a session. */
const SESSION_MARK = 'identity_login';

function session_seconds(): int
{
    return max(60, (int) apply_filters('identity_login_session_seconds', 12 * HOUR_IN_SECONDS));
}

final class Sessions extends \WP_User_Meta_Session_Tokens
{
    protected function get_sessions()
    {
        $sessions = parent::get_sessions();
        $profile_id = $sessions === [] ? '' : profile_id_of($this->user_id);
        return $profile_id === '' ? $sessions : keep_lasting($sessions, $profile_id);
    }

    /** Ends the sessions of one login at Identity. */
    public function end(string $sid): void
    {
        $this->update_sessions(array_filter(
            $this->get_sessions(),
            static fn($session) => ($session[SESSION_MARK]['sid'] ?? null) !== $sid,
        ));
    }
}

// This filter runs last. If another plugin's class kept the sessions, that class would not know which sessions have ended.
add_filter('session_token_manager', static fn() => Sessions::class, PHP_INT_MAX);

function keep_lasting(array $sessions, string $profile_id): array
{
    $ours = array_filter($sessions, static fn($session) => isset($session[SESSION_MARK]));
    try {
        if ($ours === [] || find_status($profile_id) !== 'active') {
            return [];
        }
        $generation = read_generation();
        $nonces = new SiteNonces();
        return array_filter($ours, static fn($session) => $session[SESSION_MARK]['generation'] === $generation
            && !$nonces->hasEnded($session[SESSION_MARK]['sid']));
    } catch (DatabaseFailure) {
        // Without the database, nobody can say whether these sessions still last.
        return [];
    }
}

/**
 * The token of a session for this login. Call it only within `with_person`, because WordPress reads and writes all sessions of
 * a user at once.
 */
function take_session(\WP_User $user, string $sid): string
{
    wp_cache_delete($user->ID, 'user_meta');
    $sessions = \WP_Session_Tokens::get_instance($user->ID);
    $expiration = time() + session_seconds();
    $current = get_current_user_id() === $user->ID ? wp_get_session_token() : '';
    $session = $sessions->get($current);
    if (($session[SESSION_MARK]['sid'] ?? null) === $sid) {
        // Another tab may be loading a page with this session, so the session stays.
        $sessions->update($current, ['expiration' => $expiration] + $session);
        return $current;
    }
    if ($session !== null) {
        $sessions->destroy($current);
    }
    $mark = ['sid' => $sid, 'generation' => read_generation()];
    $add = static fn(array $session) => [SESSION_MARK => $mark] + $session;
    add_filter('attach_session_information', $add);
    $token = $sessions->create($expiration);
    remove_filter('attach_session_information', $add);
    return $token;
}

/** Logs in the person that this hand-off is about. Throws a Refusal. */
function start_session(\Identity\HandOff $hand_off): void
{
    $profile = $hand_off->profile;
    if (find_status($profile->id) === 'suspended') {
        // The suspension may have been lifted since the last pull, and only the events say so.
        pull_quietly();
    }
    [$user, $token] = with_person($profile->id, static function () use ($hand_off, $profile): array {
        $user = admit($profile);
        return [$user, take_session($user, $hand_off->sid ?? '')];
    });
    if (!in_array(get_current_user_id(), [0, $user->ID], true)) {
        wp_destroy_current_session();
    }
    wp_set_current_user($user->ID);
    wp_set_auth_cookie($user->ID, false, '', $token);
    keep_cookies_to_this_site();
    record_login($profile);
    do_action('wp_login', $user->user_login, $user);
}

/** WordPress sets cookies without SameSite. Some browsers send such a cookie even with requests from other sites. */
function keep_cookies_to_this_site(): void
{
    $names = implode('|', array_map('preg_quote', [AUTH_COOKIE, SECURE_AUTH_COOKIE, LOGGED_IN_COOKIE]));
    $lines = preg_grep('/^Set-Cookie:/i', headers_list());
    header_remove('Set-Cookie');
    foreach ($lines as $line) {
        $is_open = preg_match("/^[^:]+: *(?:$names)=/i", $line) && !preg_match('/; *SameSite=/i', $line);
        header($is_open ? "$line; SameSite=Lax" : $line, false);
    }
}

/** Called if the login has ended while `start_session` was at work, or if nobody knows whether it has. */
function end_session(string $sid): void
{
    wp_clear_auth_cookie();
    $user_id = get_current_user_id();
    try {
        with_person(profile_id_of($user_id), static fn() => \WP_Session_Tokens::get_instance($user_id)->end($sid));
    } catch (DatabaseFailure $failure) {
        // This is no danger: a session whose login has ended is not valid (keep_lasting).
        log_line('a session could not be ended: ' . $failure->getMessage());
    }
}

function end_sessions_of_linked_users(): void
{
    global $wpdb;
    [$meta, $links] = [$wpdb->usermeta, table('links')];
    write("DELETE session FROM $meta session JOIN $meta link ON link.user_id = session.user_id AND link.meta_key = %s
        WHERE session.meta_key = 'session_tokens'", PROFILE_ID_META);
    try {
        write("DELETE session FROM $meta session JOIN $links link ON link.user_id = session.user_id
            WHERE session.meta_key = 'session_tokens'");
    } catch (DatabaseFailure) {
        // The plugin can be turned off even if its table is missing.
    }
    wp_cache_flush();
}
