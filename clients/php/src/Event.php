<?php

declare(strict_types=1);

namespace Identity;

/** An event about a person who was handed over to you. Ignore types that you do not know. */
final class Event
{
    /**
     * @param int $seq its number: 1, 2, 3 …
     * @param Profile|null $profile only in `profile.updated`
     * @param string|null $sid only in `session.ended`: the login that ended. If `session.ended` has no sid, nothing has ended.
     * @param string|null $userId the person whom the event is about. Null in `erased`, where the person is no longer known
     * @param \stdClass $members all members, as they arrived
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
