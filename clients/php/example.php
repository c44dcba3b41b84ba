<?php

// A whole site with a login. README.md says how to run it.
use Identity\{Client, Configuration, Event, HandOff, PdoDatabase, Request, SqlNonces, SqlPosition, SqlProfiles, Tables};

require __DIR__ . '/autoload.php';

$database = new PdoDatabase(new PDO('sqlite:' . (getenv('DATA') ?: sys_get_temp_dir()) . '/identity-example.sqlite'));
Tables::create($database);
$database->execute('create table if not exists sessions (id text primary key, sid text, user_id text)');
$profiles = new SqlProfiles($database);
$origin = 'http://' . (getenv('SHOP_HOST') ?: 'localhost:4000');
$client = new Client(new Configuration(
    issuer: getenv('ISSUER') ?: 'http://localhost:3000',
    client: 'shop',
    secrets: explode(',', (string) getenv('IDENTITY_SECRET')),
    callbackUrl: "$origin/sso/callback",
    loginUrl: "$origin/login",
    nonces: new SqlNonces($database),
));
$request = Request::fromGlobals();
$session = $request->cookies()['session'] ?? '';
$userId = $database->value('select user_id from sessions where id = ?', [$session]);
$end = fn(string $column, string $value) => $database->execute("delete from sessions where $column = ?", [$value]);
$startSession = function (HandOff $handOff) use ($database, $profiles): array {
    $profiles->apply($handOff->profile);
    $id = bin2hex(random_bytes(16));
    $values = [$id, (string) $handOff->sid, $handOff->profile->id];
    $database->execute('insert into sessions (id, sid, user_id) values (?, ?, ?)', $values);
    return ["session=$id; Path=/; HttpOnly; SameSite=Lax"]; // On https also Secure, and __Host-session.
};
$apply = fn(Event $event) => match ($event->type) {
    'profile.updated' => $profiles->apply($event->profile),
    'session.ended' => $end('sid', $event->sid),
    'user.suspended' => $end('user_id', $event->userId),
    'user.deleted' => [$end('user_id', $event->userId), $profiles->remove($event->userId)],
    default => null,
};
$startOver = fn() => [$database->execute('delete from sessions'), $profiles->clear()];
match (explode('?', $_SERVER['REQUEST_URI'])[0]) {
    '/login' => $client->startLogin($request, returnTo: $request->parameter('return_to'))->send(),
    '/sso/callback' => $client
        ->handleCallback($request, $startSession, fn($sid) => $end('sid', $sid), fn() => $userId !== null)->send(),
    '/logout' => [$end('id', $session), header('Location: ' . $client->logoutUrl('/'), true, 303)],
    '/identity/events' => [$answer = $client->receiveNudge($request), $answer->send(), $answer->status === 204
        && $client->pullEvents(new SqlPosition($database, 'shop'), $apply, $startOver)],
    default => print($userId === null ? '<a href="/login">Log in</a>'
        : htmlspecialchars($profiles->find($userId)?->name ?? '') . ' <a href="/logout">Log out</a>'),
};
