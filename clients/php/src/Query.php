<?php

declare(strict_types=1);

namespace Identity;

/** Reads queries as they arrived. $_GET would hide a repeated parameter, and rename some parameters. */
final class Query
{
    /** @return array<string, list<string>> the values of each parameter */
    public static function parse(string $query): array
    {
        $values = [];
        foreach (explode('&', $query) as $pair) {
            if ($pair !== '') {
                [$name, $value] = array_map('urldecode', explode('=', $pair, 2) + [1 => '']);
                $values[$name][] = $value;
            }
        }
        return $values;
    }

    /**
     * Returns the values of the named parameters, if they are there.
     *
     * @param list<string> $names
     * @return array<string, string>
     */
    public static function readOnce(string $query, array $names): array
    {
        $found = array_intersect_key(self::parse($query), array_flip($names));
        foreach ($found as $name => $values) {
            if (count($values) > 1) {
                throw new Refusal('parameter_repeated', detail: "The parameter is $name");
            }
        }
        return array_map(static fn(array $values) => $values[0], $found);
    }

    /** @param array<string, string|int|null> $parameters parameters that are null are left out */
    public static function append(string $url, array $parameters): string
    {
        $query = http_build_query($parameters, '', '&', PHP_QUERY_RFC3986);
        return $url . (str_contains($url, '?') ? '&' : '?') . $query;
    }
}
