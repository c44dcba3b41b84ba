<?php
/** The plugin's own tables, and how to query them. A failed query throws, so that it lets nobody in. */

namespace IdentityLogin;

use Identity\Tables;

defined('ABSPATH') || exit;

const SCHEMA_OPTION = 'identity_login_schema';
const SCHEMA = 3;

function table(string $name): string
{
    global $wpdb;
    return "{$wpdb->prefix}identity_$name";
}

/** After an update, nobody activates the plugin again, so this runs on every request. */
add_action('plugins_loaded', static function (): void {
    if ((int) get_option(SCHEMA_OPTION) !== SCHEMA) {
        try {
            install();
        } catch (\RuntimeException $failure) {
            // If this fails, the rest of the site must still work.
            log_line('the tables could not be made: ' . $failure->getMessage());
        }
    }
}, 1);

function install(): void
{
    [$links, $state, $refusals] = [table('links'), table('state'), table('refusals')];
    write("CREATE TABLE IF NOT EXISTS $links (
        profile_id varbinary(36) NOT NULL PRIMARY KEY,
        user_id bigint unsigned NOT NULL UNIQUE,
        profile_updated_at varbinary(32) NOT NULL DEFAULT '',
        status varbinary(16) NOT NULL DEFAULT 'active'
    ) ENGINE=InnoDB");
    write("CREATE TABLE IF NOT EXISTS $state (
        client varbinary(63) NOT NULL PRIMARY KEY,
        applied bigint NOT NULL,
        generation bigint NOT NULL
    ) ENGINE=InnoDB");
    write("CREATE TABLE IF NOT EXISTS $refusals (
        code varbinary(32) NOT NULL PRIMARY KEY,
        times bigint NOT NULL,
        last_at bigint NOT NULL,
        launch varbinary(16) NOT NULL DEFAULT ''
    ) ENGINE=InnoDB");
    // The tables of the kit: used nonces, ended logins, and how far events were read.
    Tables::create(new SiteDatabase(), table(''));
    // The option is not autoloaded, because it contains the secret, and few pages need it.
    add_option(OPTION, [], '', false);
    // Schema 1 kept refusals in this option. Now they have a table.
    delete_option('identity_login_refusals');
    if ((int) get_option(SCHEMA_OPTION) === 2) {
        mark_taken_roles();
    }
    update_option(SCHEMA_OPTION, SCHEMA);
}

class DatabaseFailure extends \RuntimeException
{
}

/** Returns how many rows the statement wrote. */
function write(string $sql, mixed ...$values): int
{
    return (int) ask(static fn($wpdb, $statement) => $wpdb->query($statement), $sql, $values);
}

/** Returns the first row, or null if there is none. */
function read_row(string $sql, mixed ...$values): ?object
{
    return ask(static fn($wpdb, $statement) => $wpdb->get_row($statement), $sql, $values);
}

/** Returns the first column of all rows. */
function read_column(string $sql, mixed ...$values): array
{
    return ask(static fn($wpdb, $statement) => $wpdb->get_col($statement), $sql, $values);
}

function ask(callable $run, string $sql, array $values): mixed
{
    global $wpdb;
    // Without this, WordPress would show the statement and its values in the log or on the page.
    $before = $wpdb->suppress_errors(true);
    $result = $run($wpdb, $values === [] ? $sql : $wpdb->prepare($sql, ...$values));
    $wpdb->suppress_errors($before);
    if ($result === false || $wpdb->last_error !== '') {
        throw new DatabaseFailure('the database did not answer');
    }
    return $result;
}

/**
 * Lets only one process at a time work on a person. It uses a lock and no transaction, because WordPress may write rows of
 * several people, and long transactions would deadlock. Unique indexes prevent rows that must not exist twice.
 *
 * @template T
 * @param callable(): T $work
 * @return T
 */
function with_person(string $profile_id, callable $work): mixed
{
    global $wpdb;
    // All databases of a server share the names of locks, so the name contains the database.
    $name = 'identity_' . sha1(DB_NAME . " $wpdb->prefix $profile_id");
    if ((int) read_column('SELECT GET_LOCK(%s, 10)', $name)[0] !== 1) {
        throw new DatabaseFailure('another process is at work for this person');
    }
    try {
        return $work();
    } finally {
        read_column('SELECT RELEASE_LOCK(%s)', $name);
    }
}
