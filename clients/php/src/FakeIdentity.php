<?php

declare(strict_types=1);

namespace Identity;

/** The identity service of your tests. It makes what the service would send you, so your CI can log in without the service. */
final class FakeIdentity
{
    private readonly \Closure $clock;

    /** @param (callable(): int)|null $clock Unix seconds */
    public function __construct(private readonly Configuration $configuration, ?callable $clock = null)
    {
        $this->clock = ($clock ?? time(...))(...);
    }

    /**
     * Answers a launch, which is the URL that `startLogin` redirects to. Returns your callback's URL with a genuine hand-off.
     *
     * @param array<string, mixed> $changes members of the payload. Members of `profile` replace only members of the usual
     *     profile.
     */
    public function handOff(string $launch, array $changes = []): string
    {
        return $this->callback($this->seal($this->payload($launch, $changes)));
    }

    /** Returns your callback's URL with something that the kit refuses with this code. */
    public function refusal(string $code, string $launch): string
    {
        $right = $this->payload($launch, []);
        $ttl = $this->configuration->ttlSeconds;
        ['iat' => $iat, 'state' => $state] = $right + ['state' => ''];
        $changes = [
            'member_wrong' => ['profile' => ['role' => 'owner'] + $right['profile']],
            'issuer_wrong' => ['iss' => 'https://elsewhere.example'],
            'audience_wrong' => ['aud' => 'elsewhere'],
            'issued_in_future' => ['iat' => $iat + 90, 'exp' => $iat + 90 + $ttl],
            'expired' => ['iat' => $iat - $ttl - 90, 'exp' => $iat - 90],
            'lifetime_wrong' => ['exp' => $iat + $ttl + 1],
            'state_missing' => ['state' => null],
            'state_unknown' => ['state' => 'of-another-browser'],
            'auth_time_too_old' => ['auth_time' => 0],
        ];
        if (isset($changes[$code])) {
            return $this->callback($this->seal($changes[$code] + $right));
        }
        $genuine = $this->seal($right);
        ['payload' => $payload, 'signature' => $signature] = $genuine;
        if ($code === 'parameter_repeated') {
            return $this->callback($genuine) . "&payload=$payload";
        }
        return $this->callback(match ($code) {
            'parameter_missing' => ['payload' => $payload],
            'payload_malformed' => $this->sign("$payload="),
            'signature_malformed' => ['signature' => strtoupper($signature)] + $genuine,
            'signature_wrong' => ['payload' => $payload, 'signature' => Envelope::sign($payload, 'of-somebody-else')],
            'json_malformed' => $this->sign(Envelope::encode('{')),
            'error_unknown' => ['error' => 'anything', 'state' => $state],
            'login_required', 'interaction_required', 'access_denied' => ['error' => $code, 'state' => $state],
            default => throw new \InvalidArgumentException("No hand-off alone is refused with $code"),
        });
    }

    /** Returns a nudge, which says that `$latest` is the number of the newest event. */
    public function webhook(int $latest = 1): Request
    {
        $client = $this->configuration->client;
        [$id, $timestamp] = ["{$client}_$latest", (string) ($this->clock)()];
        $body = json_encode(['client' => $client, 'latest' => $latest], JSON_THROW_ON_ERROR);
        return new Request('POST', headers: [
            'webhook-id' => $id,
            'webhook-timestamp' => $timestamp,
            'webhook-signature' => implode(' ', (new Nudges($this->configuration))->sign("$id.$timestamp.$body")),
        ], body: $body);
    }

    /** Throws if the service would answer the launch with an error. */
    private function payload(string $launch, array $changes): array
    {
        ['baseUrl' => $baseUrl, 'client' => $client] = get_object_vars($this->configuration);
        [$address, $query] = explode('?', $launch, 2) + [1 => ''];
        if ($address !== "$baseUrl/sso/launch/$client") {
            throw new \InvalidArgumentException("Not a launch of this client: $address");
        }
        $now = ($this->clock)();
        $asked = new Request('GET', $query);
        $profile = ($changes['profile'] ?? []) + [
            'id' => '0190f5a0-0000-7000-8000-000000000001',
            'email' => 'zoe@example.test',
            'name' => 'Zoë O’Neil',
            'role' => 'customer',
            'account' => ['capabilities' => []],
            'profile_updated_at' => gmdate('Y-m-d\TH:i:s.000\Z', $now),
        ];
        return array_replace([
            'iss' => $this->configuration->issuer,
            'aud' => $client,
            'iat' => $now,
            'exp' => $now + $this->configuration->ttlSeconds,
            'nonce' => Envelope::encode(random_bytes(16)),
            'client' => $client,
            'sid' => Envelope::encode(random_bytes(16)),
            'auth_time' => $now,
            'amr' => ['pwd'],
            'profile' => [],
            'state' => $asked->parameter('state'),
            'return_to' => $asked->parameter('return_to'),
        ], $changes, ['profile' => $profile]);
    }

    /** A member that is null is left out. */
    private function seal(array $payload): array
    {
        $members = array_filter($payload, static fn($member) => $member !== null);
        return $this->sign(Envelope::encode(json_encode($members, JSON_THROW_ON_ERROR | JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE)));
    }

    private function sign(string $payload): array
    {
        $secrets = $this->configuration->secrets;
        $names = array_slice(['signature', 'signature_next'], 0, count($secrets));
        $signatures = array_map(static fn(#[\SensitiveParameter] $secret) => Envelope::sign($payload, $secret), $secrets);
        return ['payload' => $payload] + array_combine($names, $signatures);
    }

    private function callback(array $query): string
    {
        return Query::append($this->configuration->callbackUrl, $query);
    }
}
