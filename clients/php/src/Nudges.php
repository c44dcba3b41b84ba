<?php

declare(strict_types=1);

namespace Identity;

/** A nudge says that there are events to pull. It is signed as in Standard Webhooks, with a key made from the secret. */
final class Nudges
{
    private const MAX_AGE_SECONDS = 300;
    private const MAX_SIGNATURES = 16;

    public function __construct(private readonly Configuration $configuration)
    {
    }

    /** Throws a Refusal if the nudge is not genuine. */
    public function verify(Request $request, int $now): void
    {
        [$id, $timestamp, $signatures] = array_map(
            static fn(string $name) => $request->headers["webhook-$name"] ?? '',
            ['id', 'timestamp', 'signature'],
        );
        if ($id === '' || $signatures === '' || !preg_match('/^\d{1,12}$/D', $timestamp) || $request->isTooLarge()) {
            throw new Refusal('nudge_malformed', detail: 'A header is missing or malformed, or the body is too long');
        }
        if (!$this->isGenuine("$id.$timestamp.$request->body", array_slice(explode(' ', $signatures), 0, self::MAX_SIGNATURES))) {
            throw new Refusal('nudge_signature_wrong');
        }
        $age = $now - (int) $timestamp;
        if (abs($age) > self::MAX_AGE_SECONDS) {
            throw new Refusal('nudge_too_old', detail: "Signed $age s ago by our clock");
        }
        if (!$this->isForUs($request->body)) {
            throw new Refusal('nudge_malformed', detail: 'The body is not JSON, or of another client');
        }
    }

    /** @param list<string> $signatures */
    private function isGenuine(string $message, array $signatures): bool
    {
        $isGenuine = false;
        foreach ($this->sign($message) as $expected) {
            foreach ($signatures as $signature) {
                $isGenuine = hash_equals($expected, $signature) || $isGenuine;
            }
        }
        return $isGenuine;
    }

    /** @return list<string> a signature for each secret */
    public function sign(string $message): array
    {
        return array_map(function (#[\SensitiveParameter] string $secret) use ($message): string {
            $key = hash_hmac('sha256', "identity webhooks v1 {$this->configuration->client}", $secret, true);
            return 'v1,' . base64_encode(hash_hmac('sha256', $message, $key, true));
        }, $this->configuration->secrets);
    }

    private function isForUs(string $body): bool
    {
        try {
            $nudge = new Members(StrictJson::parse($body));
            return $nudge->text('client') === $this->configuration->client && $nudge->integer('latest') >= 0;
        } catch (\JsonException | Refusal) {
            return false;
        }
    }
}
