<?php
/** Settings, Identity Login: for whoever may manage options. */

namespace IdentityLogin;

defined('ABSPATH') || exit;

const PAGE = 'identity-login';
const CHECK_ACTION = 'identity_login_check';

add_action('admin_init', static function (): void {
    register_setting(PAGE, OPTION, ['type' => 'array', 'sanitize_callback' => __NAMESPACE__ . '\read_form']);
});

add_action('admin_menu', static function (): void {
    $title = __('Identity Login', 'identity-login');
    add_options_page($title, $title, 'manage_options', PAGE, __NAMESPACE__ . '\show_settings_page');
});

add_filter('plugin_action_links_' . plugin_basename(PLUGIN_FILE), static fn(array $links) => [
    sprintf('<a href="%s">%s</a>', esc_url(settings_page_url()), esc_html__('Settings', 'identity-login')),
    ...$links,
]);

function settings_page_url(): string
{
    return admin_url('options-general.php?page=' . PAGE);
}

/** What may be stored of a form. WordPress has checked its nonce and who sent it. */
function read_form(mixed $form): array
{
    $form = is_array($form) ? $form : [];
    $stored = stored_settings();
    $text = static fn(string $name) => isset($form[$name]) && is_string($form[$name]) ? trim($form[$name]) : (string) $stored[$name];
    $roles = is_array($form['roles'] ?? null) ? $form['roles'] : [];
    $chosen = array_filter($roles, static fn($role) => is_string($role) && wp_roles()->is_role($role));
    return [
        'issuer' => rtrim(esc_url_raw($text('issuer'), ['https', 'http']), '/'),
        'client' => $text('client'),
        'secrets' => read_secrets($form['secrets'] ?? [], $stored['secrets'], !empty($form['forget_second'])),
        'ttl' => (int) $text('ttl'),
        'policy' => in_array($form['policy'] ?? null, LINK_POLICIES, true) ? $form['policy'] : $stored['policy'],
        'roles' => array_intersect_key($chosen, array_flip(IDENTITY_ROLES)) + $stored['roles'],
        'label' => sanitize_text_field($text('label')),
    ];
}

/** A secret is never shown again, so an empty field keeps what is stored. */
function read_secrets(mixed $fields, array $stored, bool $forget_second): array
{
    $given = static fn(int $at) => is_array($fields) && is_string($fields[$at] ?? null) ? trim($fields[$at]) : '';
    $secrets = [$given(0) !== '' ? $given(0) : ($stored[0] ?? ''), $given(1) !== '' ? $given(1) : ($stored[1] ?? '')];
    if ($forget_second) {
        $secrets[1] = '';
    }
    return array_values(array_filter($secrets, static fn($secret) => $secret !== ''));
}

add_action('admin_post_' . CHECK_ACTION, static function (): void {
    if (!current_user_can('manage_options')) {
        wp_die(esc_html__('You may not do this.', 'identity-login'), '', ['response' => 403]);
    }
    check_admin_referer(CHECK_ACTION);
    set_transient(CHECK_ACTION . get_current_user_id(), run_check(), MINUTE_IN_SECONDS);
    wp_safe_redirect(settings_page_url() . '#check');
    exit;
});

function show_settings_page(): void
{
    if (!current_user_can('manage_options')) {
        return;
    }
    echo '<div class="wrap"><h1>', esc_html__('Identity Login', 'identity-login'), '</h1>';
    show_faults();
    echo '<form method="post" action="options.php">';
    settings_fields(PAGE);
    echo '<table class="form-table" role="presentation">';
    show_connection_fields();
    show_people_fields();
    echo '</table>';
    submit_button();
    echo '</form>';
    show_operator_settings();
    show_check();
    show_recent_refusals();
    echo '</div>';
}

function show_faults(): void
{
    $faults = find_configuration_faults();
    if ($faults === []) {
        return;
    }
    echo '<div class="notice notice-warning"><p>', esc_html__('People cannot log in with Identity yet:', 'identity-login'), '</p><ul>';
    foreach ($faults as $name => $fault) {
        printf('<li>%s</li>', esc_html("$name $fault"));
    }
    echo '</ul></div>';
}

function show_row(string $id, string $label, string $field, string $description = ''): void
{
    printf('<tr><th scope="row"><label for="%s">%s</label></th><td>%s', esc_attr($id), esc_html($label), $field); // phpcs:ignore
    if ($description !== '') {
        printf('<p class="description">%s</p>', esc_html($description));
    }
    echo '</td></tr>';
}

function text_field(string $name, string $type = 'text'): string
{
    return sprintf(
        '<input type="%s" id="identity-%s" name="%s[%s]" value="%s" class="regular-text"%s>',
        esc_attr($type),
        esc_attr($name),
        esc_attr(OPTION),
        esc_attr($name),
        esc_attr((string) settings()[$name]),
        disabled(is_constant($name), true, false),
    );
}

function show_connection_fields(): void
{
    show_row('identity-issuer', __('Issuer', 'identity-login'), text_field('issuer', 'url'), __('The base URL of the identity service, such as https://id.example.com.', 'identity-login'));
    show_row('identity-client', __('Client name', 'identity-login'), text_field('client'), __('What the operator calls this site.', 'identity-login'));
    show_row('identity-secret-0', __('Secret', 'identity-login'), secret_field(0), is_constant('secrets')
        ? __('Set in wp-config.php.', 'identity-login')
        : __('Safer in wp-config.php, as IDENTITY_LOGIN_SECRETS: then it is not in the database, nor in its backups.', 'identity-login'));
    if (!is_constant('secrets')) {
        $forget = sprintf(
            '<br><label><input type="checkbox" name="%s[forget_second]" value="1"> %s</label>',
            esc_attr(OPTION),
            esc_html__('Remove it', 'identity-login'),
        );
        $has_second = isset(stored_settings()['secrets'][1]);
        show_row('identity-secret-1', __('Second secret', 'identity-login'), secret_field(1) . ($has_second ? $forget : ''), __('While the operator changes the secret: either of the two counts.', 'identity-login'));
    }
    show_row('identity-ttl', __('Lifetime', 'identity-login'), text_field('ttl', 'number'), __('How many seconds a hand-off is valid: the operator’s IDENTITY_SSO_TTL, 300 if they did not say.', 'identity-login'));
    show_row('identity-label', __('Button text', 'identity-login'), text_field('label'), __('“Log in with Identity” if empty.', 'identity-login'));
}

function secret_field(int $at): string
{
    $is_there = isset(settings()['secrets'][$at]);
    return sprintf(
        '<input type="password" id="identity-secret-%1$d" name="%2$s[secrets][%1$d]" value="" class="regular-text" autocomplete="new-password" placeholder="%3$s"%4$s>',
        $at,
        esc_attr(OPTION),
        $is_there ? esc_attr__('stored, not shown', 'identity-login') : '',
        disabled(is_constant('secrets'), true, false),
    );
}

function show_people_fields(): void
{
    $policies = [
        'deny' => __('Do not let them in', 'identity-login'),
        'create' => __('Make another local user, with a placeholder as its address here', 'identity-login'),
        'link' => __('Link them to that local user, unless it is an administrator or linked already', 'identity-login'),
    ];
    $fields = '';
    foreach ($policies as $policy => $words) {
        $fields .= sprintf(
            '<label><input type="radio" name="%s[policy]" value="%s"%s> %s</label><br>',
            esc_attr(OPTION),
            esc_attr($policy),
            checked(settings()['policy'], $policy, false),
            esc_html($words),
        );
    }
    printf(
        '<tr><th scope="row">%1$s</th><td><fieldset><legend class="screen-reader-text">%1$s</legend>%2$s</fieldset><p class="description">%3$s</p></td></tr>', // phpcs:ignore
        esc_html__('People whose address a local user has', 'identity-login'),
        $fields,
        esc_html__('Linking trusts that whoever registered here with an address owns it. Their local password and sessions then stop working.', 'identity-login'),
    );
    foreach (IDENTITY_ROLES as $role) {
        $id = "identity-role-$role";
        ob_start();
        wp_dropdown_roles(settings()['roles'][$role]);
        $options = ob_get_clean();
        /* translators: %s: a role at Identity */
        show_row($id, sprintf(__('Role of %s', 'identity-login'), $role), sprintf('<select id="%s" name="%s[roles][%s]">%s</select>', esc_attr($id), esc_attr(OPTION), esc_attr($role), $options), $role === 'admin'
            ? __('A local role that you give somebody by hand stays.', 'identity-login') : '');
    }
}

function show_operator_settings(): void
{
    echo '<h2>', esc_html__('For the operator', 'identity-login'), '</h2><p>';
    esc_html_e('The operator of the identity service sets these for this site:', 'identity-login');
    echo '</p><pre style="white-space:pre-wrap;overflow-wrap:anywhere">';
    foreach (operator_settings() as $name => $value) {
        echo esc_html("$name=$value"), "\n";
    }
    echo '</pre>';
}

function show_check(): void
{
    echo '<h2 id="check">', esc_html__('Check', 'identity-login'), '</h2>';
    $results = get_transient(CHECK_ACTION . get_current_user_id());
    foreach (is_array($results) ? $results : [] as [$is_right, $words]) {
        printf('<div class="notice inline notice-%s"><p>%s</p></div>', $is_right ? 'success' : 'error', esc_html($words));
    }
    printf('<form method="post" action="%s">', esc_url(admin_url('admin-post.php')));
    wp_nonce_field(CHECK_ACTION);
    printf('<input type="hidden" name="action" value="%s">', esc_attr(CHECK_ACTION));
    submit_button(__('Check now', 'identity-login'), 'secondary', 'submit', false);
    echo '</form>';
}

function show_recent_refusals(): void
{
    $refusals = recent_refusals();
    if ($refusals === []) {
        return;
    }
    echo '<h2>', esc_html__('Refused lately', 'identity-login'), '</h2><ul>';
    foreach ($refusals as ['at' => $at, 'code' => $code, 'launch' => $launch]) {
        printf(
            '<li>%s: <a href="%s"><code>%s</code></a>%s</li>',
            esc_html(wp_date('Y-m-d H:i:s', $at)),
            esc_url(refusal_url($code)),
            esc_html($code),
            $launch === '' ? '' : ' <code>' . esc_html($launch) . '</code>',
        );
    }
    echo '</ul>';
}
