<?php
/**
 * Plugin Name:       Identity Login
 * Description:       One login for all our sites: people log in with Identity, and their name, email address and role follow it.
 * Version:           1.1.0
 * Requires at least: 6.1
 * Requires PHP:      8.1
 * License:           GPL-2.0-or-later
 * License URI:       https://www.gnu.org/licenses/gpl-2.0.html
 * Text Domain:       identity-login
 * Network:           false
 */

namespace IdentityLogin;

defined('ABSPATH') || exit;

const VERSION = '1.1.0';
const PLUGIN_FILE = __FILE__;

// The kit for PHP. In the archive it is a folder of the plugin. In the source tree it is next to the plugin.
define(__NAMESPACE__ . '\KIT', is_dir(__DIR__ . '/kit') ? __DIR__ . '/kit' : dirname(__DIR__, 2) . '/php/src');
spl_autoload_register(static function (string $class): void {
    if (str_starts_with($class, 'Identity\\')) {
        $file = KIT . '/' . strtr(substr($class, strlen('Identity\\')), '\\', '/') . '.php';
        is_file($file) && require $file;
    }
});

foreach (['settings', 'database', 'links', 'state', 'stores', 'roles', 'rights', 'people', 'sessions', 'master-data', 'local-passwords',
    'password-resets', 'faults', 'kit', 'proved', 'refusals', 'refusal-page', 'events', 'routes', 'login-page', 'profile-page',
    'users-page', 'check', 'settings-page'] as $file) {
    require __DIR__ . "/includes/$file.php";
}

register_activation_hook(__FILE__, __NAMESPACE__ . '\activate');
register_deactivation_hook(__FILE__, __NAMESPACE__ . '\deactivate');

function activate(bool $network_wide = false): void
{
    if (is_multisite()) {
        wp_die(esc_html__('Identity Login does not work on a network of sites yet: its users are shared, its settings are not.', 'identity-login'));
    }
    install();
    schedule();
}

/**
 * When the plugin is turned off, all logins end, because without the plugin the site would not learn that a login has ended.
 */
function deactivate(): void
{
    wp_clear_scheduled_hook(PULL_HOOK);
    end_sessions_of_linked_users();
}
