<?php

declare(strict_types=1);

namespace Identity;

/**
 * Why something was refused. All kits use the same codes, and `/developers/refusals` of the identity service explains them.
 * To turn a person away, throw a Refusal with `person_refused` from your own `startSession`.
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
        'logout_token_wrong' => 403,
        'store_unavailable' => 503,
        'nudge_malformed' => 400,
        'nudge_signature_wrong' => 401,
        'nudge_too_old' => 401,
    ];

    public readonly int $status;
    /** For your log, and never for the person. */
    public readonly string $reason;

    /**
     * @param string $refusalCode the code. It cannot be called $code, because every exception has a $code already
     * @param string|null $launchId names the launch in the service's log, as `3f9a-12c4`
     * @param string $detail what exactly failed, for your log
     */
    public function __construct(
        public readonly string $refusalCode,
        public ?string $launchId = null,
        ?\Throwable $previous = null,
        string $detail = '',
    ) {
        $this->status = self::STATUSES[$refusalCode] ?? throw new \InvalidArgumentException("no such refusal: $refusalCode");
        $this->reason = ($detail === '' ? '' : rtrim($detail, '.') . '. ') . Reasons::OF[$refusalCode];
        parent::__construct("$refusalCode: $this->reason", 0, $previous);
    }

    /** A line for a log, with the URL that explains the code. */
    public function describe(string $baseUrl): string
    {
        $cause = $this->getPrevious();
        return self::flatten("identity-client: $this->refusalCode, launch " . ($this->launchId ?? 'unknown') . ": $this->reason"
            . ($cause === null ? '' : ' ' . $cause::class . ': ' . $cause->getMessage())
            . " $baseUrl/developers/refusals#$this->refusalCode");
    }

    /** Puts a text on one line, and removes control characters, because a terminal that shows the log would obey them. */
    public static function flatten(string $text): string
    {
        return preg_replace('/[\p{Cc}\s]+/u', ' ', $text) ?? (string) preg_replace('/[^\x21-\x7e]+/', ' ', $text);
    }

    /** @return array<string, string> headers for programs */
    public function headers(): array
    {
        return ['Identity-Refusal' => $this->refusalCode]
            + ($this->launchId === null ? [] : ['Identity-Launch' => $this->launchId])
            + ($this->status === 503 ? ['Retry-After' => '5'] : []);
    }
}
