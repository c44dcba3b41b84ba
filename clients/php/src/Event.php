<?php

declare(strict_types=1);

namespace Identity;

/** Something that has changed about a person who was handed to you. Ignore types that you do not know. */
final class Event
{
    /**
     * @param int $seq its number: 1, 2, 3 …
     * @param Profile|null $profile of `profile.updated`
     * @param string|null $sid of `session.ended`. Null if it has none: nothing has ended then.
     * @param string|null $userId whom it is about, or was: null in `erased`
     * @param \stdClass $members all that it says
     */
    private function __construct(
        public readonly int $seq,
        public readonly string $type,
        public readonly ?string $userId,
        public readonly ?string $sid,
        public readonly ?Profile $profile,
        public readonly \stdClass $members,
    ) {
    }

    /** Throws a Refusal if a member is missing or has another type. */
    public static function read(mixed $event): self
    {
        $members = new Members($event);
        $type = $members->text('type');
        return new self(
            $members->integer('seq'),
            $type,
            $members->optionalText('user_id'),
            $type === 'session.ended' ? ($members->optionalText('sid') ?: null) : null,
            $type === 'profile.updated' ? Profile::read($members->object('profile')) : null,
            $event,
        );
    }
}
