<?php

declare(strict_types=1);

namespace Identity;

final class HttpAnswer
{
    /** A longer page of events is a failed read. */
    public const MAX_BYTES = 8_388_608;

    public function __construct(public readonly int $status, public readonly string $body)
    {
    }
}
