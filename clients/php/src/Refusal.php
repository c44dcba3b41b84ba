<?php

declare(strict_types=1);

namespace Identity;

/**
 * Why something was refused. The codes are the same in each kit, and `/developers/refusals` of the identity service explains
 * them. Throw one with `person_refused` from your own `startSession` where you do not let a person in.
 */
class Refusal extends \RuntimeException
{
    public const STATUSES = [
        'parameter_missing' => 400,
        'parameter_repeated' => 400,
        'payload_malformed' => 400,
        'signature_malformed' => 400,
        'signature_wrong' => 401,
        'json_malformed' => 400,
        'member_wrong' => 400,
        'issuer_wrong' => 401,
        'audience_wrong' => 401,
        'issued_in_future' => 401,
        'expired' => 401,
        'lifetime_wrong' => 401,
        'state_missing' => 303,
        'state_unknown' => 403,
        'auth_time_too_old' => 403,
        'nonce_replayed' => 409,
        'session_ended' => 403,
        'person_refused' => 403,
        'login_required' => 403,
        'interaction_required' => 403,
        'access_denied' => 403,
        'error_unknown' => 400,
        'method_not_allowed' => 405,
        'store_unavailable' => 503,
        'nudge_malformed' => 400,
        'nudge_signature_wrong' => 401,
        'nudge_too_old' => 401,
    ];

    public readonly int $status;

    /**
     * @param string $refusalCode not $code, which every exception has already
     * @param string|null $launchId names the launch in the service's log, as `3f9a-12c4`
     */
    public function __construct(
        public readonly string $refusalCode,
        public ?string $launchId = null,
        ?\Throwable $previous = null,
    ) {
        $this->status = self::STATUSES[$refusalCode] ?? throw new \InvalidArgumentException("no such refusal: $refusalCode");
        parent::__construct($refusalCode, 0, $previous);
    }

    /** @return array<string, string> what programs read */
    public function headers(): array
    {
        return ['Identity-Refusal' => $this->refusalCode]
            + ($this->launchId === null ? [] : ['Identity-Launch' => $this->launchId])
            + ($this->status === 503 ? ['Retry-After' => '5'] : []);
    }
}
