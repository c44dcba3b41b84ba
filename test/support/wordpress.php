<?php
// As much of WordPress as our plugin calls, for PHP's own web server: users, nonces and the log are files in DATA. Its
// functions fail where the real ones would: wp_safe_redirect leads to this site only.
set_error_handler(function ($level, $message) {
    // Not where `@` keeps it quiet.
    return (error_reporting() & $level) === 0 ?: throw new ErrorException($message);
});
define('ABSPATH', getenv('DATA') . '/');
define('IDENTITY_URL', getenv('IDENTITY_URL'));
define('IDENTITY_CLIENT', getenv('IDENTITY_CLIENT'));
define('IDENTITY_SECRETS', explode(',', file_get_contents(ABSPATH . 'secrets')));
ini_set('error_log', ABSPATH . 'log');

class WP_Error
{
    public function __construct(private string $message) {}

    public function get_error_message(): string
    {
        return $this->message;
    }
}

$wpdb = new class {
    public string $prefix = 'wp_';
    /** The words of the prepared statement. */
    private array $values = [];

    public function prepare(string $sql, mixed ...$values): string
    {
        $this->values = $values;
        return $sql;
    }

    public function query(string $sql): int|bool
    {
        if (str_starts_with($sql, 'CREATE TABLE IF NOT EXISTS wp_identity_nonces')) {
            return true;
        }
        if (!str_starts_with($sql, 'INSERT IGNORE INTO wp_identity_nonces (nonce, keep_until)')) {
            throw new Exception("unknown statement: $sql");
        }
        [$nonce, $keepUntil] = $this->values;
        $file = @fopen(ABSPATH . "nonces/$nonce", 'x');
        return $file === false ? 0 : (int) (fwrite($file, (string) $keepUntil) > 0);
    }
};

$actions = [];

function add_action(string $name, callable $action): void
{
    $GLOBALS['actions'][$name] = $action;
}

function register_activation_hook(string $file, callable $action): void
{
    $action();
}

define('SITE', 'http://' . $_SERVER['HTTP_HOST']);

function site_url(string $path, string $scheme = ''): string
{
    return SITE . "/$path";
}

function home_url(string $path): string
{
    return SITE . $path;
}

function wp_redirect(string $location, int $status): void
{
    header("Location: $location", true, $status);
}

function wp_safe_redirect(string $location, int $status): void
{
    wp_redirect(str_starts_with($location, SITE . '/') ? $location : SITE . '/wp-admin/', $status);
}

function wp_die(string $message, string $title, array $options): never
{
    http_response_code($options['response']);
    exit("<title>$title</title><p>$message</p>");
}

function status_header(int $status): void
{
    http_response_code($status);
}

function nocache_headers(): void
{
    header('Cache-Control: no-store');
}

function esc_url(string $url): string
{
    return htmlspecialchars($url);
}

function wp_unslash(mixed $value): mixed
{
    return $value;
}

function read_users(): array
{
    return json_decode(file_get_contents(ABSPATH . 'users.json'), true);
}

function get_users(array $query): array
{
    $isWanted = fn($user) => ($user['meta_input'][$query['meta_key']] ?? null) === $query['meta_value'];
    return array_map('strval', array_keys(array_filter(read_users(), $isWanted)));
}

function wp_insert_user(array $user): int|WP_Error
{
    $users = read_users();
    if (in_array($user['user_email'], array_column($users, 'user_email'), true)) {
        return new WP_Error('Sorry, that email address is already used!');
    }
    $users[] = $user;
    file_put_contents(ABSPATH . 'users.json', json_encode($users), LOCK_EX);
    return array_key_last($users);
}

function wp_update_user(array $user): int|WP_Error
{
    $users = read_users();
    $users[$user['ID']] = $user + $users[$user['ID']];
    file_put_contents(ABSPATH . 'users.json', json_encode($users), LOCK_EX);
    return $user['ID'];
}

function is_wp_error(mixed $value): bool
{
    return $value instanceof WP_Error;
}

function wp_generate_password(int $length): string
{
    return bin2hex(random_bytes(intdiv($length, 2)));
}

function wp_set_auth_cookie(int $user): void
{
    setcookie('wordpress_logged_in', $user . '-' . bin2hex(random_bytes(8)));
}

function find_current_user(): ?array
{
    return read_users()[(int) ($_COOKIE['wordpress_logged_in'] ?? -1)] ?? null;
}

function is_user_logged_in(): bool
{
    return isset($_COOKIE['wordpress_logged_in']) && find_current_user() !== null;
}

require ABSPATH . 'identity.php';

if (str_starts_with($_SERVER['REQUEST_URI'], '/wp-login.php')) {
    $actions[isset($_GET['action']) ? "login_form_{$_GET['action']}" : 'login_form']();
} else {
    echo find_current_user()['user_email'] ?? 'nobody';
}
