<?php

// A whole site with a login. README.md says how to run it, and what it takes from the environment.
use Identity\{Client, Configuration, Event, HandOff, PdoDatabase, Request, SqlNonces, SqlPosition, SqlProfiles, Tables};

require __DIR__ . '/autoload.php';

$read = fn(string $name, string $default) => getenv($name) ?: $default;
$database = new PdoDatabase(new PDO("sqlite:{$read('DATA', sys_get_temp_dir())}/identity-example.sqlite"));
Tables::create($database);
$database->execute('create table if not exists sessions (id text primary key, sid text, user_id text)');
$profiles = new SqlProfiles($database);
$origin = $read('ORIGIN', 'http://localhost:4000');
$our = Configuration::fromUrl($read('IDENTITY_URL', ''), $origin, new SqlNonces($database));
$client = new Client($our);
$request = Request::fromGlobals();
$session = $request->cookies()['session'] ?? '';
$userId = $database->value('select user_id from sessions where id = ?', [$session]);
$end = fn(string $column, string $value) => $database->execute("delete from sessions where $column = ?", [$value]);
$startSession = function (HandOff $handOff) use ($database, $profiles, $our): array {
    $profiles->apply($handOff->profile); // first: where it throws, there is no session
    $id = bin2hex(random_bytes(16));
    $values = [$id, (string) $handOff->sid, $handOff->profile->id];
    $database->execute('insert into sessions (id, sid, user_id) values (?, ?, ?)', $values);
    return ["session=$id; Path=/; HttpOnly; SameSite=Lax" . ($our->isSecure ? '; Secure' : '')];
};
$apply = fn(Event $event) => match ($event->type) {
    'session.ended' => $end('sid', $event->sid), // also before user.suspended
    'user.deleted' => $end('user_id', $event->userId),
    default => null,
};
$startOver = fn() => $database->execute('delete from sessions');
match (explode('?', $_SERVER['REQUEST_URI'])[0]) {
    '/login' => $client->startLogin($request, $request->parameter('return_to'))->send(),
    '/sso/callback' => $client
        ->handleCallback($request, $startSession, fn($sid) => $end('sid', $sid), fn() => $userId !== null)->send(),
    '/logout' => [$end('id', $session), header('Location: ' . $client->logoutUrl('/'), true, 303)],
    '/sso/events' => [$answer = $client->receiveNudge($request), $answer->send(), $answer->status === 204
        && $client->pullEvents(new SqlPosition($database, $our->client), $apply, $startOver, $profiles)],
    default => print($userId === null ? '<a href="/login">Log in</a>'
        : htmlspecialchars($profiles->find($userId)?->name ?? '') . ' <a href="/logout">Log out</a>'),
};
