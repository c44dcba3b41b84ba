<?php

declare(strict_types=1);

namespace Identity;

final class HttpAnswer
{
    /** If a page of events is longer, the read has failed. */
    public const MAX_BYTES = 8_388_608;

    public function __construct(public readonly int $status, public readonly string $body)
    {
    }
}
