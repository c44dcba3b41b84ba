<?php

declare(strict_types=1);

namespace Identity;

/** Who a person is. Identify people by `id`, which never changes and is never reused. The email address can change. */
final class Profile
{
    /**
     * @param string $role `admin`, `merchant` or `customer`
     * @param list<string> $capabilities ignore those that you do not know
     * @param string $updatedAt the time of the last change. As text, it sorts by time
     */
    public function __construct(
        public readonly string $id,
        public readonly string $email,
        public readonly string $name,
        public readonly string $role,
        public readonly array $capabilities,
        public readonly string $updatedAt,
    ) {
    }

    /** Throws a Refusal if a member is missing or has another type. */
    public static function read(Members $profile): self
    {
        return new self(
            $profile->text('id', '/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/D'),
            $profile->text('email', '/^.{3,254}$/Dsu'),
            $profile->text('name', '/^.{1,200}$/Dsu'),
            $profile->text('role', '/^(?:admin|merchant|customer)$/D'),
            $profile->object('account')->texts('capabilities'),
            $profile->instant('profile_updated_at'),
        );
    }

    public function can(string $capability): bool
    {
        return in_array($capability, $this->capabilities, true);
    }

    /** Writes the profile as the service sends it, in ASCII, so that the charset of a database cannot change it. */
    public function toJson(): string
    {
        return json_encode([
            'id' => $this->id,
            'email' => $this->email,
            'name' => $this->name,
            'role' => $this->role,
            'account' => ['capabilities' => $this->capabilities],
            'profile_updated_at' => $this->updatedAt,
        ], JSON_THROW_ON_ERROR | JSON_UNESCAPED_SLASHES);
    }

    public static function fromJson(string $json): self
    {
        return self::read(new Members(json_decode($json, false, 16, JSON_THROW_ON_ERROR)));
    }
}
