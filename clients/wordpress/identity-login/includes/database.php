<?php
/** The plugin's own tables, and how they are asked: a failure throws, so that nobody is let in by one. */

namespace IdentityLogin;

use Identity\Tables;

defined('ABSPATH') || exit;

const SCHEMA_OPTION = 'identity_login_schema';
const SCHEMA = 1;

function table(string $name): string
{
    global $wpdb;
    return "{$wpdb->prefix}identity_$name";
}

/** After an update of the plugin nobody activates it again. */
add_action('plugins_loaded', static function (): void {
    if ((int) get_option(SCHEMA_OPTION) !== SCHEMA) {
        install();
    }
}, 1);

function install(): void
{
    [$links, $state] = [table('links'), table('state')];
    write("CREATE TABLE IF NOT EXISTS $links (
        profile_id varbinary(36) NOT NULL PRIMARY KEY,
        user_id bigint unsigned NULL UNIQUE,
        profile_updated_at varbinary(32) NOT NULL DEFAULT '',
        status varbinary(16) NOT NULL DEFAULT 'active'
    ) ENGINE=InnoDB");
    write("CREATE TABLE IF NOT EXISTS $state (
        client varbinary(63) NOT NULL PRIMARY KEY,
        applied bigint NOT NULL,
        generation bigint NOT NULL
    ) ENGINE=InnoDB");
    // Used nonces, ended logins, and how far events were read.
    Tables::create(new SiteDatabase(), table(''));
    update_option(SCHEMA_OPTION, SCHEMA);
}

class DatabaseFailure extends \RuntimeException
{
}

/** The number of rows that it wrote. */
function write(string $sql, mixed ...$values): int
{
    return (int) ask(static fn($wpdb, $statement) => $wpdb->query($statement), $sql, $values);
}

/** The first row, or null where there is none. */
function read_row(string $sql, mixed ...$values): ?object
{
    return ask(static fn($wpdb, $statement) => $wpdb->get_row($statement), $sql, $values);
}

/** The first column of all rows. */
function read_column(string $sql, mixed ...$values): array
{
    return ask(static fn($wpdb, $statement) => $wpdb->get_col($statement), $sql, $values);
}

function ask(callable $run, string $sql, array $values): mixed
{
    global $wpdb;
    // Its own report would write the statement, and what is in it, into the log or the page.
    $before = $wpdb->suppress_errors(true);
    $result = $run($wpdb, $values === [] ? $sql : $wpdb->prepare($sql, ...$values));
    $wpdb->suppress_errors($before);
    if ($result === false || $wpdb->last_error !== '') {
        throw new DatabaseFailure(str_contains($wpdb->last_error, 'Deadlock') ? 'deadlock' : 'the database did not answer');
    }
    return $result;
}

/**
 * All of `work` happens, or nothing of it. It may run again from its start after a deadlock.
 *
 * @template T
 * @param callable(): T $work
 * @return T
 */
function in_transaction(callable $work): mixed
{
    for ($tries = 1;; $tries++) {
        // What others have committed is seen at once, and no gap is locked.
        write('SET TRANSACTION ISOLATION LEVEL READ COMMITTED');
        write('START TRANSACTION');
        try {
            $result = $work();
            write('COMMIT');
            return $result;
        } catch (\Throwable $failure) {
            roll_back();
            if (!$failure instanceof DatabaseFailure || $failure->getMessage() !== 'deadlock' || $tries === 3) {
                throw $failure;
            }
        } finally {
            // While it ran, others may have kept what it was about to change, and this process what did not happen.
            forget_touched_users();
        }
    }
}

function roll_back(): void
{
    try {
        write('ROLLBACK');
    } catch (DatabaseFailure) {
        // The connection is gone, and the transaction with it.
    }
}
