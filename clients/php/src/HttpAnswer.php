<?php

declare(strict_types=1);

namespace Identity;

final class HttpAnswer
{
    public function __construct(public readonly int $status, public readonly string $body)
    {
    }
}
