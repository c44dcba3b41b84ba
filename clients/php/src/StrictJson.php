<?php

declare(strict_types=1);

namespace Identity;

/**
 * JSON that every parser reads alike: UTF-8 without a byte order mark, no name twice in an object, at most 16 levels.
 * json_decode keeps the last of two equal names, and other parsers the first, so two readers could see two values.
 */
final class StrictJson
{
    private const MAX_DEPTH = 16;

    /** Objects are stdClass, so that `{}` and `[]` differ. Throws a JsonException. */
    public static function parse(string $text): mixed
    {
        // Refuses a byte order mark, other bytes that are not UTF-8, and half of a character. Our own scan limits the depth more.
        $value = json_decode($text, false, 512, JSON_THROW_ON_ERROR);
        self::requireDistinctNames($text);
        return $value;
    }

    /** Expects text that json_decode has accepted, so a simple scan is enough. */
    private static function requireDistinctNames(string $text): void
    {
        // Matches a string, with the colon behind it if it is a name, or the start or end of a level.
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
                // "a" and "\u0061" are the same name. The prefix keeps PHP from making numbers of names.
                $name = 'n' . json_decode($token[1]);
                if (isset($levels[count($levels) - 1][$name])) {
                    throw new \JsonException('a name is there twice');
                }
                $levels[count($levels) - 1][$name] = true;
            }
        }
    }
}
