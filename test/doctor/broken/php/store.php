<?php

declare(strict_types=1);

// What these clients store, each under its name: used nonces, people and sessions. The store is in SQLite, because each request
// may come to another process.

function database(): PDO
{
    static $pdo;
    if ($pdo === null) {
        $pdo = new PDO('sqlite:' . getenv('STATE') . '/state.sqlite');
        $pdo->exec('pragma journal_mode = wal');
        $pdo->exec('pragma synchronous = off');
        $pdo->exec('create table if not exists nonces (client text, nonce text, primary key (client, nonce))');
        $pdo->exec('create table if not exists people (number integer primary key, client text, profile_id text,
            email text, name text, updated_at text, unique (client, profile_id))');
        $pdo->exec('create table if not exists sessions (id text primary key, client text, person integer)');
    }
    return $pdo;
}

/** @param list<string|int|null> $values */
function query(string $sql, array $values): PDOStatement
{
    $statement = database()->prepare($sql);
    $statement->execute($values);
    return $statement;
}

function isNonceKnown(string $nonce): bool
{
    return query('select 1 from nonces where client = ? and nonce = ?', [NAME, $nonce])->fetch() !== false;
}

/** True only for the first request with this nonce. */
function useNonce(string $nonce): bool
{
    $insert = 'insert into nonces (client, nonce) values (?, ?) on conflict do nothing';
    return query($insert, [NAME, $nonce])->rowCount() === 1;
}

function findPerson(string $column, string $value): ?array
{
    $select = "select * from people where client = ? and $column = ? order by number limit 1";
    return query($select, [NAME, $value])->fetch(PDO::FETCH_ASSOC) ?: null;
}

function addPerson(string $id): void
{
    $insert = "insert into people (client, profile_id, updated_at) values (?, ?, '') on conflict do nothing";
    query($insert, [NAME, $id]);
}

function updatePerson(int $number, string $email, string $name, string $updatedAt, bool $isOnlyNewer): void
{
    $update = 'update people set email = ?, name = ?, updated_at = ? where number = ?';
    $guard = $isOnlyNewer ? ' and updated_at < ?' : '';
    query($update . $guard, [$email, $name, $updatedAt, $number, ...($isOnlyNewer ? [$updatedAt] : [])]);
}

/** Returns the value of the session's cookie. */
function addSession(int $person): string
{
    $id = bin2hex(random_bytes(16));
    query('insert into sessions (id, client, person) values (?, ?, ?)', [$id, NAME, $person]);
    return $id;
}

/** The person who is logged in. */
function findVisitor(): ?array
{
    $select = 'select people.* from sessions join people on people.number = sessions.person
        where sessions.id = ? and sessions.client = ?';
    return query($select, [$_COOKIE['session'] ?? '', NAME])->fetch(PDO::FETCH_ASSOC) ?: null;
}

/** The start page: the id, name and email address of the person who is logged in. */
function showStartPage(): void
{
    $visitor = findVisitor();
    header('Content-Type: text/plain; charset=utf-8');
    header('Cache-Control: no-store');
    echo $visitor === null ? 'nobody' : "$visitor[profile_id]\n$visitor[name]\n$visitor[email]\n";
}
