<?php
/** What the kit needs from its surroundings: the site's own database, and a way to send requests to other servers. */

namespace IdentityLogin;

use Identity\Database;
use Identity\Http;
use Identity\HttpAnswer;
use Identity\NonceStore;
use Identity\SqlNonces;

defined('ABSPATH') || exit;

final class SiteDatabase implements Database
{
    public function dialect(): string
    {
        return 'mysql';
    }

    public function execute(string $sql, array $values = []): int
    {
        return write(self::spell($sql, $values), ...$values);
    }

    public function value(string $sql, array $values = []): string|int|null
    {
        return read_column(self::spell($sql, $values), ...$values)[0] ?? null;
    }

    private static function spell(string $sql, array $values): string
    {
        foreach ($values as $value) {
            $sql = substr_replace($sql, is_int($value) ? '%d' : '%s', (int) strpos($sql, '?'), 1);
        }
        return $sql;
    }
}

/** An ended login is remembered for as long as one of its sessions could last (sessions.php). */
final class SiteNonces implements NonceStore
{
    private SqlNonces $nonces;

    public function __construct()
    {
        $this->nonces = new SqlNonces(new SiteDatabase(), table(''));
    }

    public function consume(string $nonce, int $keepUntil): bool
    {
        return $this->nonces->consume($nonce, $keepUntil);
    }

    public function addEnded(string $sid, int $keepUntil): void
    {
        $this->nonces->addEnded($sid, max($keepUntil, time() + session_seconds()));
    }

    public function hasEnded(string $sid): bool
    {
        return $this->nonces->hasEnded($sid);
    }

    public function sweep(): void
    {
        $this->nonces->sweep();
    }
}

final class SiteHttp implements Http
{
    /** The status of the last answer. Null if there was none. */
    public static ?int $last_status = null;

    public function get(string $url, array $headers): HttpAnswer
    {
        self::$last_status = null;
        // A longer answer is cut at this length, and the kit then refuses it.
        $limit = HttpAnswer::MAX_BYTES + 1;
        $answer = wp_remote_get($url, [
            'headers' => $headers,
            'redirection' => 0,
            'timeout' => 5,
            'limit_response_size' => $limit,
        ]);
        if (is_wp_error($answer)) {
            throw new \RuntimeException('the identity service did not answer: ' . $answer->get_error_message());
        }
        self::$last_status = (int) wp_remote_retrieve_response_code($answer);
        return new HttpAnswer(self::$last_status, wp_remote_retrieve_body($answer));
    }
}
