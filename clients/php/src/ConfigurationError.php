<?php

declare(strict_types=1);

namespace Identity;

/** Names every fault of a configuration, and shows no secret. */
final class ConfigurationError extends \InvalidArgumentException
{
    /** @param array<string, string> $faults what is wrong, by the name of the parameter */
    public function __construct(public readonly array $faults)
    {
        $lines = array_map(static fn(string $name, string $fault) => "- $name $fault", array_keys($faults), $faults);
        parent::__construct("The configuration of this client is wrong:\n" . implode("\n", $lines));
    }
}
