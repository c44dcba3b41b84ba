<?php

// A whole site with a login. README.md says how to run it, and which environment variables it reads.
use Identity\{Client, PdoDatabase, Refusal, Request, Tables};

require __DIR__ . '/autoload.php';

$read = fn(string $name, string $default) => getenv($name) ?: $default;
$database = new PdoDatabase(new PDO("sqlite:{$read('DATA', sys_get_temp_dir())}/identity-example.sqlite"));
Tables::create($database);
$client = Client::fromUrl($read('IDENTITY_URL', ''), $read('ORIGIN', 'http://localhost:4000'), $database);
$request = Request::fromGlobals();

try {
    // Answers /login, /sso/callback, /sso/events and /logout.
    $answer = $client->answer($request);
    $person = $answer ? null : $client->currentPerson($request);
} catch (Refusal $refusal) {
    $answer = $client->refuse($refusal);
}
if ($answer) {
    $answer->send();
} elseif ($person) {
    header('Cache-Control: no-store');
    $token = $client->logoutToken($request);
    echo '<p>', htmlspecialchars($person->name), '</p><form method="post" action="/logout">',
        "<input type=\"hidden\" name=\"token\" value=\"$token\"><button>Log out</button></form>";
} else {
    echo '<a href="/login">Log in</a>';
}
