<?php

declare(strict_types=1);

// The kit for PHP, mounted as the other clients are.

use Identity\{Client, Configuration, HandOff, PdoDatabase, Request, SqlNonces, Tables};

require __DIR__ . '/../../../../clients/php/autoload.php';

$database = new PdoDatabase(database());
Tables::create($database);
$client = new Client(new Configuration(
    issuer: (string) getenv('ISSUER'),
    client: (string) getenv('CLIENT'),
    secrets: SECRETS,
    callbackUrl: ORIGIN . '/kit/callback',
    loginUrl: ORIGIN . '/kit/login',
    homeUrl: ORIGIN . '/kit/',
    nonces: new SqlNonces($database),
    ttlSeconds: (int) (getenv('TTL') ?: 300),
));
$startSession = function (HandOff $handOff): array {
    $profile = $handOff->profile;
    addPerson($profile->id);
    $number = findPerson('profile_id', $profile->id)['number'];
    updatePerson($number, $profile->email, $profile->name, $profile->updatedAt, true);
    return ['session=' . addSession($number) . '; Path=/kit/; HttpOnly; SameSite=Lax'];
};
$request = Request::fromGlobals();
match (PLACE) {
    '' => showStartPage(),
    'login' => $client->startLogin($request)->send(),
    'callback' => $client->handleCallback($request, $startSession, fn() => null, fn() => findVisitor() !== null)->send(),
    'events' => $client->receiveNudge($request)->send(),
};
