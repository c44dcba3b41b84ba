<?php

declare(strict_types=1);

// Tests nudges, and how events are pulled, with a service that the tests play.

use Identity\{Event, Http, HttpAnswer, MemoryPosition, MemoryProfiles, Request};

final class PlayedService implements Http
{
    /** @var list<array{string, array<string, string>}> */
    public array $asked = [];

    /** @param list<HttpAnswer> $answers */
    public function __construct(private array $answers)
    {
    }

    public function get(string $url, array $headers): HttpAnswer
    {
        $this->asked[] = [$url, $headers];
        return array_shift($this->answers) ?? throw new LogicException('asked too often');
    }
}

function page(array ...$events): HttpAnswer
{
    return new HttpAnswer(200, json_encode(['events' => $events, 'latest' => count($events)]));
}

function nudge(array $changes = [], string $secret = SECRET): Request
{
    ['id' => $id, 'time' => $time, 'body' => $body, 'method' => $method]
        = $changes + ['id' => 'shop_17', 'time' => (string) NOW, 'body' => '{"client":"shop","latest":17}', 'method' => 'POST'];
    $key = hash_hmac('sha256', 'identity webhooks v1 shop', $secret, true);
    $signature = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$time.$body", $key, true));
    $headers = ['Webhook-Id' => $id, 'webhook-timestamp' => $time, 'webhook-signature' => $signature];
    return new Request($method, '', array_filter(array_merge($headers, $changes['headers'] ?? []), 'is_string'), $changes['sent'] ?? $body);
}

test('a genuine nudge is taken, with either secret of a rotation', function (): void {
    same(204, openClient()->receiveNudge(nudge())->status);
    same(204, openClient(['secrets' => [NEXT, SECRET]])->receiveNudge(nudge())->status);
    $both = 'v1,AAAA ' . nudge()->headers['webhook-signature'] . ' v2,x';
    same(204, openClient()->receiveNudge(nudge(['headers' => ['webhook-signature' => $both]]))->status);
    foreach ([300, -300] as $seconds) {
        same(204, openClient()->receiveNudge(nudge(['time' => (string) (NOW + $seconds)]))->status);
    }
});

test('any other is refused by its code', function (): void {
    $log = [];
    $signature = nudge()->headers['webhook-signature'];
    $cases = [
        ['method_not_allowed', nudge(['method' => 'GET'])],
        ['nudge_malformed', nudge(['headers' => ['Webhook-Id' => null]])],
        ['nudge_malformed', nudge(['headers' => ['webhook-timestamp' => null]])],
        ['nudge_malformed', nudge(['headers' => ['webhook-signature' => null]])],
        ['nudge_malformed', nudge(['time' => 'soon'])],
        ['nudge_malformed', nudge(['time' => '1e9'])],
        ['nudge_malformed', nudge(['body' => 'x'])],
        ['nudge_malformed', nudge(['body' => '{"client":"other","latest":17}'])],
        ['nudge_malformed', nudge(['body' => '{"client":"shop","latest":"17"}'])],
        ['nudge_malformed', nudge(['body' => '{"client":"shop","client":"shop","latest":17}'])],
        ['nudge_malformed', nudge(['body' => '{"client":"shop","latest":17}' . str_repeat(' ', 65_536)])],
        ['nudge_signature_wrong', nudge([], NEXT)],
        ['nudge_signature_wrong', nudge(['sent' => '{"client":"shop","latest":18}'])],
        ['nudge_signature_wrong', nudge(['headers' => ['Webhook-Id' => 'shop_18']])],
        ['nudge_signature_wrong', nudge(['headers' => ['webhook-signature' => substr($signature, 3)]])],
        ['nudge_signature_wrong', nudge(['headers' => ['webhook-signature' => "v2$signature"]])],
        ['nudge_too_old', nudge(['time' => (string) (NOW - 301)])],
        ['nudge_too_old', nudge(['time' => (string) (NOW + 301)])],
    ];
    foreach ($cases as [$code, $request]) {
        $answer = openClient()->receiveNudge($request, function ($refusal) use (&$log): void {
            $log[] = $refusal->refusalCode;
        });
        same([$code, Identity\Refusal::STATUSES[$code]], [$answer->header('identity-refusal'), $answer->status]);
    }
    same(array_column($cases, 0), $log);
    same('POST', openClient()->receiveNudge(nudge(['method' => 'GET']), fn() => null)->header('allow'));
});

test('events are pulled in order to the empty page, and each is stored once it is applied', function (): void {
    $profiles = new MemoryProfiles();
    $nonces = memoryNonces();
    $service = new PlayedService([
        page(
            ['seq' => 3, 'type' => 'profile.updated', 'user_id' => profile()['id'], 'profile' => profile('2026-01-02T00:00:00.000Z', 'New')],
            ['seq' => 4, 'type' => 'profile.updated', 'user_id' => profile()['id'], 'profile' => profile('2026-01-01T00:00:00.000Z', 'Old')],
        ),
        page(
            ['seq' => 5, 'type' => 'session.ended', 'user_id' => 'u', 'sid' => 'Vt1n0cVtSh2mV0y0rU3y8Q'],
            ['seq' => 6, 'type' => 'erased'],
            ['seq' => 7, 'type' => 'later.type'],
        ),
        page(),
    ]);
    $seen = [];
    $position = new MemoryPosition(2);
    $isDone = openClient(['nonces' => $nonces], $service)->pullEvents($position, function (Event $event) use (&$seen, $profiles): void {
        $seen[] = "$event->seq $event->type $event->sid";
        $event->profile === null || $profiles->apply($event->profile);
    }, fn() => throw new LogicException('started over'));
    same([true, 7, 'New'], [$isDone, $position->claim(), $profiles->find(profile()['id'])->name]);
    same(['3 profile.updated ', '4 profile.updated ', '5 session.ended Vt1n0cVtSh2mV0y0rU3y8Q', '6 erased ', '7 later.type '], $seen);
    same(['after=2&limit=1000', 'after=4&limit=1000', 'after=7&limit=1000'], array_map(fn($asked) => explode('?', $asked[0])[1], $service->asked));
    same('https://id.example.test/sso/events?after=2&limit=1000', $service->asked[0][0]);
    same('Bearer ' . hash_hmac('sha256', 'identity events v1 shop', SECRET), $service->asked[0][1]['Authorization']);
    // The hand-off of a login arrives after the event about the login's end.
    $browser = new Browser();
    $client = openClient(['nonces' => $nonces]);
    $answer = $browser->call($client, seal(payload(['state' => $browser->start($client)['state']])));
    same([403, 'session_ended'], [$answer->status, $answer->header('identity-refusal')]);
});

test('a site whose hook threw once ends equal to the master, and the kept profiles follow', function (): void {
    $profiles = new MemoryProfiles();
    $position = new MemoryPosition();
    $event = fn(int $seq, int $day) => page(['seq' => $seq, 'type' => 'profile.updated', 'user_id' => profile()['id'],
        'profile' => profile("2026-01-0{$day}T00:00:00.000Z", "Zoë $day")]);
    [$calls, $people, $throws] = [[], [], false];
    $apply = function (Event $event, bool $isNewer) use (&$calls, &$people, &$throws): void {
        $calls[] = [$event->profile?->name, $isNewer];
        $throws && throw new DomainException('the table is away');
        $isNewer && $people[$event->userId] = $event->profile->name;
    };
    // Each pull is like a new process: it knows only what is in its stores.
    $pull = function (HttpAnswer ...$answers) use ($position, $profiles, $apply): void {
        $client = openClient([], new PlayedService($answers));
        try {
            $client->pullEvents($position, $apply, fn() => throw new LogicException('started over'), $profiles);
        } catch (DomainException) {
        }
    };
    $throws = true;
    $pull($event(1, 1));
    same(null, $profiles->find(profile()['id']));
    $throws = false;
    $pull($event(1, 1), $event(2, 1), page());
    $throws = true;
    $pull($event(3, 2));
    // Before the event comes again, a callback keeps a later profile, and its site stores it.
    $profiles->apply(readProfile('2026-01-03T00:00:00.000Z', 'Zoë 3'));
    $people[profile()['id']] = 'Zoë 3';
    $throws = false;
    $pull($event(3, 2), page());
    same([['Zoë 1', true], ['Zoë 1', true], ['Zoë 1', false], ['Zoë 2', true], ['Zoë 2', false]], $calls);
    same([[profile()['id'] => 'Zoë 3'], 'Zoë 3'], [$people, $profiles->find(profile()['id'])->name]);
    $pull(page(['seq' => 4, 'type' => 'user.deleted', 'user_id' => profile()['id']]), page());
    same([null, false], [$profiles->find(profile()['id']), $profiles->isNewer(readProfile('2026-01-04T00:00:00.000Z', 'Late'))]);
    openClient([], new PlayedService([new HttpAnswer(410, '{"oldest":9}'), page()]))
        ->pullEvents($position, $apply, fn() => null, $profiles);
    same(true, $profiles->isNewer(readProfile('2026-01-04T00:00:00.000Z', 'New')));
});

test('events are read with the second secret where the service has the first no more', function (): void {
    $service = new PlayedService([new HttpAnswer(401, '{}'), page(['seq' => 1, 'type' => 'erased']), new HttpAnswer(401, '{}'), page()]);
    $position = new MemoryPosition();
    openClient(['secrets' => [SECRET, NEXT]], $service)->pullEvents($position, fn() => null, fn() => null);
    $token = fn(string $secret) => 'Bearer ' . hash_hmac('sha256', 'identity events v1 shop', $secret);
    same([$token(SECRET), $token(NEXT), $token(SECRET), $token(NEXT)], array_map(fn($asked) => $asked[1]['Authorization'], $service->asked));
    same(1, $position->claim());
});

test('after 410 everything starts over, and reading goes on behind the gap', function (): void {
    $service = new PlayedService([
        new HttpAnswer(410, '{"code":"events_gone","oldest":1000000001}'),
        page(['seq' => 1_000_000_001, 'type' => 'user.restored', 'user_id' => 'u']),
        page(),
    ]);
    $log = [];
    $position = new MemoryPosition(17);
    openClient([], $service)->pullEvents($position, function (Event $event) use (&$log): void {
        $log[] = $event->seq;
    }, function () use (&$log): void {
        $log[] = 'over';
    });
    same([['over', 1_000_000_001], 1_000_000_001], [$log, $position->claim()]);
});

test('what goes wrong keeps the position, lets go of it, and never goes round for ever', function (): void {
    $event = ['seq' => 1, 'type' => 'user.restored', 'user_id' => 'u'];
    $cases = [
        'fails' => [0, [page($event)], fn() => throw new RuntimeException('cannot')],
        'skips' => [0, [page(['seq' => 2] + $event)], fn() => null],
        'repeats' => [1, [page($event)], fn() => null],
        '401' => [0, [new HttpAnswer(401, '{}')], fn() => null],
        'not JSON' => [0, [new HttpAnswer(200, '<html>')], fn() => null],
        '410 to where it is' => [4, [new HttpAnswer(410, '{"oldest":5}')], fn() => null],
        'half a profile' => [0, [page(['seq' => 1, 'type' => 'profile.updated', 'user_id' => 'u', 'profile' => []])], fn() => null],
    ];
    foreach ($cases as $name => [$after, $answers, $apply]) {
        $position = new MemoryPosition($after);
        try {
            openClient([], new PlayedService($answers))->pullEvents($position, $apply, fn() => throw new LogicException('started over'));
            throw new LogicException("$name passed");
        } catch (RuntimeException | JsonException $error) {
            same($name === 401, str_contains($error->getMessage(), "compare the secret and the client's name"));
        }
        same($after, $position->claim(), (string) $name);
    }
    $service = new PlayedService([page($event), new HttpAnswer(503, '')]);
    $position = new MemoryPosition();
    try {
        openClient([], $service)->pullEvents($position, fn() => null, fn() => null);
    } catch (RuntimeException) {
    }
    same(1, $position->claim());
});

test('session.ended without a sid ends nothing, and reading goes on', function (): void {
    foreach ([[], ['sid' => '']] as $sid) {
        $position = new MemoryPosition();
        $profiles = new MemoryProfiles();
        $sessions = new Identity\MemorySessions();
        $sessions->start('a', '', 'ann', NOW + 60, NOW);
        $service = new PlayedService([page(['seq' => 1, 'type' => 'session.ended', 'user_id' => 'u'] + $sid, ['seq' => 2, 'type' => 'erased']), page()]);
        $our = (fn() => $this->configuration)->call(openClient());
        $isDone = (new Identity\EventReader($our, $service, $profiles, $sessions))->pull($position, fn() => null, fn() => null);
        same([true, 2, 'ann'], [$isDone, $position->claim(), $sessions->find('a', NOW)]);
    }
});

test('a page of events over 8 MiB is a failed read, whatever brings it (contract 13.140)', function (): void {
    foreach ([8_388_608 => null, 8_388_609 => '8 MiB'] as $bytes => $fault) {
        $service = new PlayedService([new HttpAnswer(200, str_pad('{"events":[]}', $bytes)), page()]);
        try {
            openClient([], $service)->pullEvents(new MemoryPosition(), fn() => null, fn() => null);
            same(null, $fault);
        } catch (RuntimeException $error) {
            matches("/longer than $fault$/", $error->getMessage());
        }
    }
});
