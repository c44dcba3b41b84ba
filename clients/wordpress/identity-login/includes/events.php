<?php
/** Applies events from Identity: after each nudge, and every five minutes. */

namespace IdentityLogin;

use Identity\Event;
use Identity\SqlPosition;

defined('ABSPATH') || exit;

const PULL_HOOK = 'identity_login_pull';
const PULL_SCHEDULE = 'identity_login_five_minutes';

add_filter('cron_schedules', static fn(array $schedules) => $schedules + [PULL_SCHEDULE => [
    'interval' => 5 * MINUTE_IN_SECONDS,
    'display' => __('Every five minutes', 'identity-login'),
]]);

function schedule(): void
{
    if (!wp_next_scheduled(PULL_HOOK)) {
        wp_schedule_event(time(), PULL_SCHEDULE, PULL_HOOK);
    }
}

add_action(PULL_HOOK, static function (): void {
    if (find_configuration_faults() === []) {
        pull_quietly(60);
    }
    (new SiteNonces())->sweep();
    sweep_refusals();
});

/** The time was too short for all events. The events that were applied in this time stay applied. */
final class PullPaused extends \RuntimeException
{
}

/** Why the last pull failed, and when, for the settings page. */
const PULL_FAILURE_OPTION = 'identity_login_pull_failure';

// The stored failure was about the earlier settings.
add_action('update_option_' . OPTION, static fn() => delete_option(PULL_FAILURE_OPTION));

/** Applies all events. The default time is less than the ten seconds for which the service waits for the answer to a nudge. */
function pull(int $seconds = 7): bool
{
    try {
        $is_done = pull_until(microtime(true) + $seconds);
    } catch (PullPaused $paused) {
        delete_option(PULL_FAILURE_OPTION);
        throw $paused;
    } catch (\Throwable $error) {
        update_option(PULL_FAILURE_OPTION, ['at' => time(), 'words' => word_pull_failure($error)], false);
        throw $error;
    }
    if ($is_done) {
        delete_option(PULL_FAILURE_OPTION);
    }
    return $is_done;
}

function word_pull_failure(\Throwable $error): string
{
    return SiteHttp::$last_status === 401
        ? __('Identity does not know this site by this name and secret (401). Compare both with the people who run Identity. Or they have not set them yet, or have not restarted Identity since.', 'identity-login')
        /* translators: %s: what went wrong */
        : sprintf(__('Changes cannot be read: %s.', 'identity-login'), $error->getMessage());
}

function pull_until(float $until): bool
{
    $position = new SqlPosition(new SiteDatabase(), current_client(), table(''));
    return client()->pullEvents($position, static function (Event $event) use ($until): void {
        if (microtime(true) > $until) {
            throw new PullPaused('there is more');
        }
        apply_event($event);
    }, static function (): void {
        begin_generation();
        forget_profiles();
    });
}

/** Returns true if all events are applied. If not, the log says what went wrong. */
function pull_quietly(int $seconds = 7): bool
{
    try {
        return pull($seconds);
    } catch (PullPaused) {
        return false;
    } catch (\Throwable $error) {
        log_line('events could not be pulled: ' . $error->getMessage());
        return false;
    }
}

/** The kit has already remembered that the login has ended. */
function apply_event(Event $event): void
{
    if ($event->userId !== null && $event->type !== 'session.ended') {
        with_person($event->userId, static function () use ($event): void {
            // Another process may have taken the pull over, and may have applied later events.
            if (read_applied() < $event->seq) {
                try_to_apply($event);
            }
        });
    }
    record_applied($event->seq);
}

/**
 * If the event of one person cannot be applied, the events of other people go on. The next login or event of that person tries
 * again.
 */
function try_to_apply(Event $event): void
{
    try {
        apply_to_person($event, find_link($event->userId));
    } catch (DatabaseFailure $failure) {
        throw $failure;
    } catch (\Throwable $error) {
        log_line("event $event->seq was passed over: " . $error->getMessage());
    }
}

function apply_to_person(Event $event, ?object $link): void
{
    // A person who never logged in here has nothing to change.
    if ($link === null || ($link->status === 'deleted' && $event->type !== 'user.deleted')) {
        return;
    }
    $user = fresh_user((int) $link->user_id);
    match ($event->type) {
        'profile.updated' => $user && apply_profile($event->profile, $user),
        'user.suspended' => suspend_person($event->userId, $user),
        'user.restored' => restore_person($event->userId, $user),
        'user.deleted' => delete_person($event->userId, $user),
        default => null,
    };
}

function suspend_person(string $profile_id, \WP_User|false $user): void
{
    set_status($profile_id, 'suspended');
    if ($user) {
        \WP_Session_Tokens::get_instance($user->ID)->destroy_all();
        take_roles_away($user);
    }
}

function restore_person(string $profile_id, \WP_User|false $user): void
{
    set_status($profile_id, 'active');
    $user && give_roles_back($user);
}

function delete_person(string $profile_id, \WP_User|false $user): void
{
    set_status($profile_id, 'deleted');
    $user && forget_person($user->ID);
}
