<?php

declare(strict_types=1);

namespace Identity;

/** The service has sent an error instead of a hand-off, for a login that this browser asked for. */
final class LoginError extends Refusal
{
    private const KNOWN = ['login_required', 'interaction_required', 'access_denied'];

    public function __construct(string $error)
    {
        parent::__construct(in_array($error, self::KNOWN, true) ? $error : 'error_unknown');
    }
}
