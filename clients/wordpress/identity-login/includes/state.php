<?php
/**
 * A row for each client name that this site has had: the last event that was applied, and how often all sessions were ended
 * at once. The only reader and writer of its table.
 */

namespace IdentityLogin;

defined('ABSPATH') || exit;

function current_client(): string
{
    return (string) settings()['client'];
}

/** Whether an event is new here. Needs a transaction: no other process applies one until its end. */
function take_event(int $seq): bool
{
    return write(
        'INSERT INTO ' . table('state') . ' (client, applied, generation) VALUES (%s, %d, 0)
            ON DUPLICATE KEY UPDATE applied = IF(applied < VALUES(applied), VALUES(applied), applied)',
        current_client(),
        $seq,
    ) > 0;
}

/** Sessions of another generation have ended. */
function read_generation(): string
{
    $row = read_row('SELECT generation FROM ' . table('state') . ' WHERE client = %s', current_client());
    return current_client() . ' ' . ($row->generation ?? 0);
}

/** Ends all sessions, and takes events from any number on. */
function begin_generation(): void
{
    write(
        'INSERT INTO ' . table('state') . ' (client, applied, generation) VALUES (%s, 0, 1)
            ON DUPLICATE KEY UPDATE generation = generation + 1, applied = 0',
        current_client(),
    );
}
