<?php

declare(strict_types=1);

// Runs the published test vectors, which every kit must pass.

use Identity\{Attempts, Client, Configuration, HandOff, LaunchId, NonceStore, Refusal, Request, SystemHttp};

$sso = json_decode(file_get_contents(__DIR__ . '/../../../test/sso-vectors.json'), true, 64, JSON_THROW_ON_ERROR)['sso'];

test('every hand-off is taken, or refused by its code', function () use ($sso): void {
    ['payload' => $payload, 'signature' => $signature] = $sso;
    // Rewrites the older vectors in the form of the newer ones.
    $older = array_map(fn($vector) => $vector + [
        'why' => 'at ' . ($vector['now'] ?? ''),
        'query' => http_build_query([
            'payload' => $vector['payload'] ?? $payload,
            'signature' => $vector['signature'] ?? $signature,
        ]),
    ], [...$sso['rejected_signatures'], ...$sso['rejected_payloads'], ...$sso['times']]);
    $vectors = [...$sso['hand_offs'], ...$older];
    same(true, count($vectors) > 200);
    foreach ($vectors as $vector) {
        $client = new Client(vectorConfiguration($sso, $vector['secrets'] ?? [$sso['secret']]));
        try {
            $handOff = $client->verifyHandOff($vector['query'], $vector['now'] ?? $sso['verifier']['now']);
            [$code, $launch] = ['accepted', $handOff->launchId];
        } catch (Refusal $refusal) {
            [$code, $launch] = [$refusal->refusalCode, $refusal->launchId ?? LaunchId::find($vector['query'])];
        }
        same($vector['refusal'] ?? 'accepted', $code, $vector['why']);
        if (array_key_exists('launch', $vector)) {
            same($vector['launch'], $launch, "launch id: $vector[why]");
        }
    }
});

test('what is taken says what was sent', function () use ($sso): void {
    $handOff = (new Client(vectorConfiguration($sso, [$sso['secret']])))
        ->verifyHandOff("payload=$sso[payload]&signature=$sso[signature]", $sso['verifier']['now']);
    $sent = json_decode($sso['json'], true);
    same([$sent['iss'], $sent['aud'], $sent['client']], [$handOff->issuer, $handOff->audience, $handOff->client]);
    same([$sent['iat'], $sent['exp'], $sent['nonce']], [$handOff->issuedAt, $handOff->expiresAt, $handOff->nonce]);
    same([$sso['launch']['id'], null, null, []], [$handOff->launchId, $handOff->state, $handOff->sid, $handOff->amr]);
    same($sent['profile'], json_decode($handOff->profile->toJson(), true));
});

test('every attempt is found, and one made anew, too', function () use ($sso): void {
    $attempts = new Attempts(vectorConfiguration($sso, [$sso['secret']]));
    foreach ($sso['attempts'] as ['state' => $state, 'started_at' => $at, 'max_age' => $maxAge, 'cookie' => $cookie]) {
        $found = $attempts->find(new Request('GET', '', ['Cookie' => $cookie]), $state, $at);
        same([$at, $maxAge], [$found?->startedAt, $found?->maxAge], $cookie);
        [$state, [$set]] = $attempts->start(new Request('GET'), $maxAge, $at);
        $found = $attempts->find(new Request('GET', '', ['Cookie' => explode(';', $set)[0]]), $state, $at);
        same([$at, $maxAge], [$found?->startedAt, $found?->maxAge], $set);
    }
});

test('every callback is answered as it should', function () use ($sso): void {
    foreach ($sso['callbacks']['cases'] as ['why' => $why, 'given' => $given, 'expected' => $expected]) {
        $now = $given['now'] ?? $sso['verifier']['now'];
        Clock::$now = $now;
        $nonces = memoryNonces();
        foreach ($given['used_nonces'] ?? [] as $nonce) {
            $nonces->consume($nonce, $now + 1000);
        }
        foreach ($given['ended_sids'] ?? [] as $sid) {
            $nonces->addEnded($sid, $now + 1000);
        }
        $isBroken = $given['store_fails'] ?? false;
        $secrets = $given['secrets'] ?? $sso['callbacks']['configuration']['secrets'];
        $configuration = vectorConfiguration($sso, $secrets, $isBroken ? new BrokenNonces() : $nonces);
        $client = new Client($configuration, new SystemHttp(), fn() => $now);
        $sessions = 0;
        $startSession = function (HandOff $handOff) use (&$sessions, $given): array {
            if ($given['refuses_person'] ?? false) {
                throw new Refusal('person_refused');
            }
            $sessions += 1;
            return [];
        };
        $headers = array_filter(['cookie' => $given['cookie'] ?? null]) + ($given['headers'] ?? []);
        $request = new Request($given['method'] ?? 'GET', $given['query'] ?? '', $headers);
        $answer = $client->handleCallback($request, $startSession, fn() => null, fn() => $given['logged_in'] ?? false, log: fn() => null);
        $isUsed = !isset($given['used_nonces']) && !$nonces->consume($sso['launch']['nonce'], $now);
        same($expected['status'], $answer->status, $why);
        same($expected['refusal'] ?? null, $answer->header('identity-refusal'), $why);
        same($expected['location'] ?? null, $answer->header('location'), $why);
        same([$expected['starts_session'], $expected['uses_nonce']], [$sessions === 1, $isUsed], $why);
        if (array_key_exists('launch', $expected)) {
            same($expected['launch'], $answer->header('identity-launch'), "launch id: $why");
        }
    }
    Clock::$now = NOW;
});

test('every nudge is answered as it should, and events are asked for with the token', function () use ($sso): void {
    foreach ($sso['nudges']['cases'] as $case) {
        $now = $case['now'] ?? $sso['nudges']['now'];
        $configuration = vectorConfiguration($sso, $case['secrets'] ?? $sso['nudges']['secrets']);
        $answer = (new Client($configuration, new SystemHttp(), fn() => $now))
            ->receiveNudge(new Request($case['method'] ?? 'POST', '', $case['headers'], $case['body']), fn() => null);
        same([$case['status'], $case['refusal'] ?? null], [$answer->status, $answer->header('identity-refusal')], $case['why']);
    }
    $service = new PlayedService([page()]);
    (new Client(vectorConfiguration($sso, [$sso['events']['secret']]), $service))
        ->pullEvents(new Identity\MemoryPosition(), fn() => null, fn() => null);
    same("Bearer {$sso['events']['token']}", $service->asked[0][1]['Authorization']);
});
