<?php

declare(strict_types=1);

namespace Identity;

/** A path on your own site: one leading slash, no backslash, no control characters. */
final class ReturnTo
{
    public const FORM = '~^(?=.{1,2048}$)/(?!/)[^\\\\\p{Cc}]*$~Du';

    public static function isRight(string $path): bool
    {
        return preg_match(self::FORM, $path) === 1;
    }

    /** Encodes the path with percent signs, because a header can contain only ASCII. */
    public static function resolve(string $origin, string $path): string
    {
        return $origin . preg_replace_callback(
            '/[^\x21\x23-\x3b\x3d\x3f-\x7e]/',
            static fn(array $found) => rawurlencode($found[0]),
            $path,
        );
    }
}
