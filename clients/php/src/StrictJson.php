<?php

declare(strict_types=1);

namespace Identity;

/**
 * Accepts only JSON that every parser reads in the same way: UTF-8 without a byte order mark, no name twice in an object, at
 * most 16 levels. If a name came twice, json_decode would keep its last value and other parsers its first, so two readers
 * could see two values.
 */
final class StrictJson
{
    private const MAX_DEPTH = 16;

    /** Objects are stdClass, so that `{}` and `[]` differ. Throws a JsonException. */
    public static function parse(string $text): mixed
    {
        // json_decode refuses a byte order mark, other bytes that are not UTF-8, and half of a surrogate pair. Our own scan
        // has a lower limit for the depth.
        $value = json_decode($text, false, 512, JSON_THROW_ON_ERROR);
        self::requireDistinctNames($text);
        return $value;
    }

    /** Call this only for text that json_decode has accepted. For such text, a simple scan is enough. */
    private static function requireDistinctNames(string $text): void
    {
        // Matches a string (with the colon after it if it is a name), or a bracket that begins or ends a level.
        $form = '/("(?:[^"\\\\]++|\\\\.)*+")(\s*+:)?|[{}[\]]/s';
        if (preg_match_all($form, $text, $tokens, PREG_SET_ORDER) === false) {
            throw new \JsonException(preg_last_error_msg());
        }
        $levels = [];
        foreach ($tokens as $token) {
            if ($token[0] === '{' || $token[0] === '[') {
                $levels[] = [];
                if (count($levels) > self::MAX_DEPTH) {
                    throw new \JsonException('more than ' . self::MAX_DEPTH . ' levels deep');
                }
            } elseif ($token[0] === '}' || $token[0] === ']') {
                array_pop($levels);
            } elseif (isset($token[2])) {
                // "a" and "\u0061" are the same name. Without the prefix, PHP would turn a name such as "1" into a number.
                $name = 'n' . json_decode($token[1]);
                if (isset($levels[count($levels) - 1][$name])) {
                    throw new \JsonException('a name is there twice');
                }
                $levels[count($levels) - 1][$name] = true;
            }
        }
    }
}
