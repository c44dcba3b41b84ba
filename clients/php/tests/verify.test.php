<?php

declare(strict_types=1);

// Tests the verifier with hand-offs that have one thing wrong. vectors.test.php tests it with the published hand-offs.

use Identity\LaunchId;

$refusal = fn(string $query, int $now = NOW) => refusalOf(fn() => openClient()->verifyHandOff($query, $now));

test('takes each parameter once', function () use ($refusal): void {
    $good = seal(payload(), SECRET, NEXT);
    parse_str($good, $values);
    same(null, $refusal($good));
    foreach (['payload', 'signature', 'signature_next', 'state', 'error'] as $name) {
        $value = $values[$name] ?? 'x';
        same('parameter_repeated', $refusal("$good&$name=$value&$name=$value"), $name);
        same('parameter_repeated', $refusal("%70ayload=x&$good"), 'percent-encoded');
    }
    same('parameter_missing', $refusal(''));
    same('parameter_missing', $refusal("payload={$values['payload']}"));
    same('parameter_missing', $refusal("signature={$values['signature']}"));
    same(null, $refusal("&more=1&more=2&payload[]=x&$good&"));
});

test('takes one spelling of a payload, and of a signature', function () use ($refusal): void {
    $signed = fn(string $wire) => http_build_query(['payload' => $wire, 'signature' => hash_hmac('sha256', $wire, SECRET)]);
    foreach (['', 'x', 'e30=', 'e3 0', 'e+0/', "e30\n", 'e31', str_repeat('a', 8193), 'é'] as $wire) {
        same('payload_malformed', $refusal($signed($wire)), $wire);
    }
    same('json_malformed', $refusal($signed(str_repeat('a', 8192))));
    parse_str(seal(payload()), $values);
    foreach ([strtoupper($values['signature']), substr($values['signature'], 1), "{$values['signature']}\n", ''] as $signature) {
        same('signature_malformed', $refusal(http_build_query(['signature' => $signature] + $values)));
        same('signature_malformed', $refusal(http_build_query($values + ['signature_next' => $signature])));
    }
});

test('takes JSON only that all parsers read alike', function () use ($refusal): void {
    $json = json_encode(payload(), JSON_UNESCAPED_UNICODE);
    $nest = fn(int $levels) => str_repeat('[', $levels) . str_repeat(']', $levels);
    $with = fn(string $member) => preg_replace('/"aud"/', addcslashes("$member,\"aud\"", '\\$'), $json, 1);
    $wrong = [substr($json, 1), "$json,", "\u{feff}$json", toLatin1($json), 'NaN', "{'a':1}",
        $with('"aud":"other"'), $with('"\u0061ud":"shop"'), $with('"a\"b":"a\":","x":1,"x" :2'), $with('"profile":{}'),
        $with('"more":[{"x":{"y":1,"y":1}}]'), $with('"1":0,"1":0'), $with('"more":' . $nest(16)), $with('"more":' . $nest(600)),
        $with('"more":{"":1,"":2}')];
    foreach ($wrong as $text) {
        same('json_malformed', $refusal(seal($text)), $text);
    }
    $right = [" $json\n", $with('"more":' . $nest(15)), $with('"more":{"":1,"__proto__":1,"a\"b\\\\":"\":{[","7":[{},{}],"x":{"x":1}}')];
    foreach ($right as $text) {
        same(null, $refusal(seal($text)), $text);
    }
});

/** The same text in ISO 8859-1. */
function toLatin1(string $utf8): string
{
    return (string) preg_replace_callback('/[^\x00-\x7f]/u', static fn() => "\xeb", $utf8);
}

test('takes members of their types only', function () use ($refusal): void {
    foreach (['null', '[]', '"text"', '1', '{}'] as $json) {
        same('member_wrong', $refusal(seal($json)), $json);
    }
    $wrong = [['exp' => '1767225900'], ['iat' => NOW + 0.5], ['iat' => true], ['exp' => 9007199254740992],
        ['auth_time' => '1'], ['auth_time' => 1.5], ['nonce' => 'AAECAwQFBgcICQoLDA0OD'], ['nonce' => 1234567890123456],
        ['nonce' => 'AAECAwQFBgcICQoLDA0OD='], ['state' => 1], ['state' => ''], ['state' => 'a b'], ['state' => str_repeat('a', 513)],
        ['sid' => 'short'], ['sid' => []], ['amr' => 'pwd'], ['amr' => [1]], ['amr' => ['a' => 'pwd']],
        ['return_to' => '//evil.example'], ['return_to' => '/\\evil.example'], ['return_to' => 'https://evil.example'],
        ['return_to' => "/a\nb"], ['return_to' => "/a\u{85}b"], ['return_to' => '/' . str_repeat('a', 2048)], ['return_to' => ''],
        ['profile' => 'zoe'], ['profile' => []], ['profile.id' => 1], ['profile.id' => '0190f5a0-0000-4000-8000-000000000001'],
        ['profile.email' => ['a']], ['profile.email' => 'a'], ['profile.name' => ''], ['profile.name' => str_repeat('é', 201)],
        ['profile.role' => ['admin']], ['profile.role' => 'owner'], ['profile.account' => []], ['profile.account' => 'x'],
        ['profile.account.capabilities' => 'sell_products'], ['profile.account.capabilities' => [1]],
        ['profile.account.capabilities' => ['a' => 'b']], ['profile.profile_updated_at' => '2026-01-01T00:00:00Z'],
        ['profile.profile_updated_at' => '2026-02-30T00:00:00.000Z'], ['profile.profile_updated_at' => 1]];
    foreach ($wrong as $changes) {
        same('member_wrong', $refusal(seal(payload($changes))), json_encode($changes));
    }
    $members = ['iss', 'aud', 'client', 'iat', 'exp', 'nonce', 'profile', 'profile.id', 'profile.email', 'profile.name',
        'profile.role', 'profile.account', 'profile.account.capabilities', 'profile.profile_updated_at'];
    foreach ($members as $path) {
        same('member_wrong', $refusal(seal(payload([$path => null]))), "without $path");
    }
    $json = json_encode(payload(), JSON_UNESCAPED_UNICODE);
    foreach (['state', 'sid', 'auth_time', 'amr', 'return_to'] as $name) {
        $text = preg_replace("/\"$name\":[^,]+,/", '', $json);
        same('member_wrong', $refusal(seal(preg_replace('/^{/', "{\"$name\":null,", $text))), "$name is null");
    }
    same('member_wrong', $refusal(seal(preg_replace('/"iat":\d+/', '"iat":99999999999999999999', $json))));
    $right = [['auth_time' => null, 'sid' => null, 'amr' => null], ['profile.account.capabilities' => []],
        ['more' => ['x' => 1]], ['profile.name' => str_repeat('é', 200)], ['return_to' => '/é?x=1#y'], ['amr' => []]];
    foreach ($right as $changes) {
        same(null, $refusal(seal(payload($changes))), json_encode($changes));
    }
});

test('takes what is from the issuer, for this client and at the right time', function () use ($refusal): void {
    $cases = [
        'issuer_wrong' => [['iss' => 'https://id.example.test/'], ['iss' => 'https://ID.example.test']],
        'audience_wrong' => [['aud' => 'other'], ['client' => 'other'], ['aud' => 'Shop']],
        'issued_in_future' => [['iat' => NOW + 31, 'exp' => NOW + 100]],
        'expired' => [['iat' => NOW - 330, 'exp' => NOW - 30]],
        'lifetime_wrong' => [['exp' => NOW + 301], ['exp' => NOW], ['iat' => NOW + 10, 'exp' => NOW + 5]],
    ];
    foreach ($cases as $expected => $list) {
        foreach ($list as $changes) {
            same($expected, $refusal(seal(payload($changes))), json_encode($changes));
        }
    }
    foreach ([['iat' => NOW + 30, 'exp' => NOW + 330], ['iat' => NOW - 329, 'exp' => NOW - 29]] as $changes) {
        same(null, $refusal(seal(payload($changes))), json_encode($changes));
    }
    same('signature_wrong', $refusal(seal(payload(['iss' => 'x']), NEXT)));
});

test('says in the log, and there only, that the clock may be wrong', function (): void {
    $reasons = [3600 => 'Expired 3300 s ago by our clock; issued 3600 s ago. ', -3600 => 'Issued 3600 s ahead of our clock. '];
    foreach ($reasons as $seconds => $reason) {
        $browser = new Browser();
        $answer = $browser->call(openClient(), seal(payload(['iat' => NOW - $seconds, 'exp' => NOW - $seconds + 300])));
        same(true, str_starts_with($browser->log[0]->reason, $reason), $browser->log[0]->reason);
        same(false, str_contains($answer->body, '3600'));
    }
});

test('knows the launch also of what it refuses, and shows nothing of it', function (): void {
    $payload = payload();
    $id = LaunchId::of($payload['nonce']);
    matches('/^[0-9a-f]{4}-[0-9a-f]{4}$/D', $id);
    parse_str(seal($payload, NEXT), $values);
    $queries = ['signature_wrong' => $values, 'signature_malformed' => ['signature' => 'x'] + $values];
    foreach ($queries as $code => $parameters) {
        $answer = (new Browser())->call(openClient(), http_build_query($parameters));
        same([$code, $id], [$answer->header('identity-refusal'), $answer->header('identity-launch')]);
    }
    $unknown = (new Browser())->call(openClient(), 'payload=e30&signature=x');
    same(['signature_malformed', null], [$unknown->header('identity-refusal'), $unknown->header('identity-launch')]);
});
