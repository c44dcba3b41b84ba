<?php
/**
 * Reads and writes the table `state`. It has a row for each client name that this site has had. A row has the last applied
 * event and a generation. The generation counts how often all sessions were ended at once.
 */

namespace IdentityLogin;

defined('ABSPATH') || exit;

function current_client(): string
{
    return (string) settings()['client'];
}

/** The last event that was applied. */
function read_applied(): int
{
    $row = read_row('SELECT applied FROM ' . table('state') . ' WHERE client = %s', current_client());
    return (int) ($row->applied ?? 0);
}

function record_applied(int $seq): void
{
    write(
        'INSERT INTO ' . table('state') . ' (client, applied, generation) VALUES (%s, %d, 0)
            ON DUPLICATE KEY UPDATE applied = GREATEST(applied, VALUES(applied))',
        current_client(),
        $seq,
    );
}

/** A session of another generation has ended. */
function read_generation(): string
{
    $row = read_row('SELECT generation FROM ' . table('state') . ' WHERE client = %s', current_client());
    return current_client() . ' ' . ($row->generation ?? 0);
}

/** Ends all sessions. After this, the next event may have any number. */
function begin_generation(): void
{
    write(
        'INSERT INTO ' . table('state') . ' (client, applied, generation) VALUES (%s, 0, 1)
            ON DUPLICATE KEY UPDATE generation = generation + 1, applied = 0',
        current_client(),
    );
}
