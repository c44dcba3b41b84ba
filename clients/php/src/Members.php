<?php

declare(strict_types=1);

namespace Identity;

/** Reads the members of a JSON object by their types. Throws a Refusal if a member is missing or has another type. */
final class Members
{
    // Parsers in other languages round integers that are larger than this.
    private const MAX_INTEGER = 2 ** 53 - 1;

    private readonly \stdClass $object;

    public function __construct(mixed $object, string $name = 'The whole')
    {
        $this->object = $object instanceof \stdClass ? $object : throw self::refuse($name);
    }

    public function has(string $name): bool
    {
        return property_exists($this->object, $name);
    }

    public function object(string $name): self
    {
        return new self($this->object->$name ?? null, $name);
    }

    /** `$form` is a regular expression. */
    public function text(string $name, string $form = '//'): string
    {
        $value = $this->object->$name ?? null;
        return is_string($value) && preg_match($form, $value) === 1 ? $value : throw self::refuse($name);
    }

    public function optionalText(string $name, string $form = '//'): ?string
    {
        return $this->has($name) ? $this->text($name, $form) : null;
    }

    public function integer(string $name): int
    {
        $value = $this->object->$name ?? null;
        return is_int($value) && abs($value) <= self::MAX_INTEGER ? $value : throw self::refuse($name);
    }

    public function optionalInteger(string $name): ?int
    {
        return $this->has($name) ? $this->integer($name) : null;
    }

    /** @return list<string> */
    public function texts(string $name): array
    {
        $values = $this->list($name);
        return array_filter($values, 'is_string') === $values ? $values
            : throw self::refuse($name);
    }

    /** @return list<mixed> */
    public function list(string $name): array
    {
        $values = $this->object->$name ?? null;
        return is_array($values) ? $values : throw self::refuse($name);
    }

    /** RFC 3339, UTC, with milliseconds and `Z`: its text sorts like its time. */
    public function instant(string $name): string
    {
        $text = $this->text($name, '/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/D');
        $instant = \DateTimeImmutable::createFromFormat('Y-m-d\TH:i:s.vP', $text);
        return $instant && $instant->format('Y-m-d\TH:i:s.v\Z') === $text ? $text : throw self::refuse($name);
    }

    private static function refuse(string $name): Refusal
    {
        return new Refusal('member_wrong', detail: "$name is missing or wrong");
    }
}
