<?php

declare(strict_types=1);

namespace Identity;

final readonly class HttpAnswer
{
    public function __construct(public int $status, public string $body)
    {
    }
}
