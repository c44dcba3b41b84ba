<?php
/**
 * Removes the plugin's data, but no users. People who logged in with Identity can then set a local password by mail, unless
 * their email address here is a placeholder. Suspended people lose their role.
 */

defined('WP_UNINSTALL_PLUGIN') || exit;

(static function (): void {
    global $wpdb;
    // Without this, suspended people could set a local password with the link in a mail, and have their role again.
    $suspended = "SELECT user_id FROM {$wpdb->prefix}identity_links WHERE status = 'suspended'";
    foreach ($wpdb->get_col($suspended) as $user_id) {
        (new WP_User((int) $user_id))->set_role('');
    }
    foreach (['links', 'state', 'refusals', 'used', 'positions', 'profiles', 'sessions', 'turns'] as $name) {
        $wpdb->query("DROP TABLE IF EXISTS {$wpdb->prefix}identity_$name");
    }
    $options = ['identity_login', 'identity_login_schema', 'identity_login_proved', 'identity_login_called',
        'identity_login_pull_failure'];
    foreach ($options as $option) {
        delete_option($option);
    }
    foreach (['identity_profile_id', 'identity_email', 'identity_role', 'identity_role_given', 'identity_roles_suspended'] as $meta) {
        delete_metadata('user', 0, $meta, '', true);
    }
    wp_clear_scheduled_hook('identity_login_pull');
})();
