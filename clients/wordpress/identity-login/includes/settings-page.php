<?php
/** The page Settings, Identity Login, for people who may manage options. */

namespace IdentityLogin;

use Identity\Configuration;

defined('ABSPATH') || exit;

const PAGE = 'identity-login';
const CHECK_ACTION = 'identity_login_check';
const FORGET_ACTION = 'identity_login_forget';

add_action('admin_init', static function (): void {
    register_setting(PAGE, OPTION, ['type' => 'array', 'sanitize_callback' => __NAMESPACE__ . '\read_form']);
});

add_action('admin_menu', static function (): void {
    $title = __('Identity Login', 'identity-login');
    $page = add_options_page($title, $title, 'manage_options', PAGE, __NAMESPACE__ . '\show_settings_page');
    // Results are shown only in the answer to this request. Results that were kept would look like new ones.
    add_action("load-$page", static function (): void {
        if (isset($_POST[CHECK_ACTION])) {
            check_admin_referer(CHECK_ACTION);
            $GLOBALS['identity_login_check'] = run_check();
        }
        if (isset($_POST[FORGET_ACTION])) {
            check_admin_referer(FORGET_ACTION);
            forget_refusals();
        }
    });
});

add_filter('plugin_action_links_' . plugin_basename(PLUGIN_FILE), static fn(array $links) => [
    sprintf('<a href="%s">%s</a>', esc_url(settings_page_url()), esc_html__('Settings', 'identity-login')),
    ...$links,
]);

function settings_page_url(): string
{
    return admin_url('options-general.php?page=' . PAGE);
}

/** Returns the values of a form that may be stored. WordPress has checked the form's nonce and who sent the form. */
function read_form(mixed $form): array
{
    $form = is_array($form) ? $form : [];
    $stored = stored_settings();
    $text = static fn(string $name) => isset($form[$name]) && is_string($form[$name]) ? trim($form[$name]) : (string) $stored[$name];
    $roles = is_array($form['roles'] ?? null) ? $form['roles'] : [];
    $chosen = array_filter($roles, static fn($role) => is_string($role) && wp_roles()->is_role($role));
    // The field for Identity's URL accepts a whole IDENTITY_URL, too. The secret in an IDENTITY_URL must not stay in a visible
    // field.
    $pasted = Configuration::readUrl($text('issuer')) ?? [];
    $issuer = $pasted['issuer'] ?? preg_replace('~^(\w+://)?.*@~s', '$1', $text('issuer'));
    return keep_working([
        'issuer' => rtrim(sanitize_text_field($issuer), '/'),
        'client' => $pasted['client'] ?? $text('client'),
        'secrets' => $pasted['secrets'] ?? read_secrets($form['secrets'] ?? [], $stored['secrets'], !empty($form['forget_second'])),
        'ttl' => (int) $text('ttl'),
        'policy' => in_array($form['policy'] ?? null, LINK_POLICIES, true) ? $form['policy'] : $stored['policy'],
        'roles' => array_intersect_key($chosen, array_flip(IDENTITY_ROLES)) + $stored['roles'],
        'label' => sanitize_text_field($text('label')),
    ], $stored);
}

/**
 * A faulty value does not replace a value that works. A faulty secret is never stored, because the page shows no secret, so
 * nobody could see what to correct.
 */
function keep_working(array $new, array $stored): array
{
    [$faults, $faults_before] = [find_configuration_faults($new), find_configuration_faults($stored)];
    foreach (['issuer' => 'issuer', 'client' => 'client', 'secrets' => 'secrets', 'ttl' => 'ttlSeconds'] as $name => $fault) {
        $has_worked = !isset($faults_before[$fault]) || $name === 'secrets';
        if (isset($faults[$fault]) && $has_worked && $new[$name] !== $stored[$name] && !is_constant($name)) {
            $new[$name] = $stored[$name];
            $words = __('This field is as it was before, the others are saved.', 'identity-login');
            add_settings_error(OPTION, "identity-$name", esc_html("$faults[$fault] $words"));
        }
    }
    return $new;
}

/** The secret is never shown, so an empty field means that it stays the same. */
function read_secrets(mixed $fields, array $stored, bool $forget_second): array
{
    $given = static fn(int $at) => is_array($fields) && is_string($fields[$at] ?? null) ? trim($fields[$at]) : '';
    $secrets = [$given(0) !== '' ? $given(0) : ($stored[0] ?? ''), $given(1) !== '' ? $given(1) : ($stored[1] ?? '')];
    if ($forget_second) {
        $secrets[1] = '';
    }
    return array_values(array_filter($secrets, static fn($secret) => $secret !== ''));
}

function show_settings_page(): void
{
    if (!current_user_can('manage_options')) {
        return;
    }
    echo '<div class="wrap"><h1>', esc_html__('Identity Login', 'identity-login'), '</h1>';
    show_faults();
    show_documents();
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
    echo '<div class="notice notice-warning"><p>', esc_html__('Nobody can log in with Identity until you have done this:', 'identity-login'), '</p><ul>';
    foreach (array_unique($faults) as $fault) {
        printf('<li>%s</li>', esc_html($fault));
    }
    echo '</ul></div>';
}

/** The documents at Identity explain the steps and the settings. */
function show_documents(): void
{
    if (!isset(find_configuration_faults()['issuer'])) {
        $url = rtrim(settings()['issuer'], '/') . '/developers/wordpress';
        printf('<p><a href="%s">%s</a></p>', esc_url($url), esc_html__('How to set it up, step by step', 'identity-login'));
    }
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
    show_row('identity-issuer', __('Address of Identity', 'identity-login'), text_field('issuer', 'url'), __('Where people log in, such as https://id.example.com. Or the whole IDENTITY_URL that the people who run Identity gave you: then name and secret are filled in, too.', 'identity-login'));
    show_row('identity-client', __('Name of this site', 'identity-login'), text_field('client'), __('The “client name” that the people who run Identity gave you, such as network_site.', 'identity-login'));
    show_row('identity-secret-0', __('Secret', 'identity-login'), secret_field(0), is_constant('secrets')
        ? __('Set in wp-config.php.', 'identity-login')
        : __('From the people who run Identity. It is safer in wp-config.php, as IDENTITY_LOGIN_SECRETS: then it is not in the database, nor in its backups.', 'identity-login'));
    if (!is_constant('secrets')) {
        $forget = sprintf(
            '<br><label><input type="checkbox" name="%s[forget_second]" value="1"> %s</label>',
            esc_attr(OPTION),
            esc_html__('Remove it', 'identity-login'),
        );
        $has_second = isset(stored_settings()['secrets'][1]);
        show_row('identity-secret-1', __('Second secret', 'identity-login'), secret_field(1) . ($has_second ? $forget : ''), __('Only while the people who run Identity change the secret: either of the two counts.', 'identity-login'));
    }
    show_row('identity-ttl', __('Valid for (seconds)', 'identity-login'), text_field('ttl', 'number'), __('How long somebody who comes back from Identity may take to arrive here. Leave it at 300 unless the people who run Identity say otherwise.', 'identity-login'));
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
        'create' => __('Make another user for them, with a made-up email address that receives no mail', 'identity-login'),
        'link' => __('Let them be that user from now on, unless it may do more here than read, or is somebody else’s already', 'identity-login'),
    ];
    $fields = '';
    foreach ($policies as $policy => $words) {
        $fields .= sprintf(
            '<label><input type="radio" name="%s[policy]" value="%s"%s%s> %s</label><br>',
            esc_attr(OPTION),
            esc_attr($policy),
            checked(settings()['policy'], $policy, false),
            $policy === 'deny' ? ' aria-describedby="identity-open-registration"' : '',
            esc_html($words),
        );
        if ($policy === 'deny') {
            $fields .= sprintf('<p class="description" id="identity-open-registration">%s</p>', esc_html(word_open_registration()));
        }
    }
    printf(
        '<tr><th scope="row">%1$s</th><td><fieldset><legend class="screen-reader-text">%1$s</legend>%2$s</fieldset><p class="description">%3$s</p></td></tr>', // phpcs:ignore
        esc_html__('If somebody’s email address already belongs to a user of this site', 'identity-login'),
        $fields,
        esc_html__('Choose the last one only if nobody could register here with an address that is not theirs. The user’s password for this site then stops working, and they are logged out.', 'identity-login'),
    );
    foreach (IDENTITY_ROLES as $role) {
        $id = "identity-role-$role";
        ob_start();
        wp_dropdown_roles(settings()['roles'][$role]);
        $options = ob_get_clean();
        /* translators: %s: a role at Identity */
        show_row($id, sprintf(__('Role here of %s', 'identity-login'), $role), sprintf('<select id="%s" name="%s[roles][%s]">%s</select>', esc_attr($id), esc_attr(OPTION), esc_attr($role), $options), $role === 'admin'
            ? __('The role here of people with that role at Identity. Managers there arrive as admin. A change counts for everybody from their next page on. A role that you give somebody by hand stays.', 'identity-login') : '');
    }
}

/** Warns about `deny` if anybody can register a user with somebody else's email address. */
function word_open_registration(): string
{
    return get_option('users_can_register')
        ? __('Anybody can register at this site (“Membership” under Settings, General), also with an address that is not theirs. Whoever that address belongs to, and has not logged in here with Identity yet, is then not let in until you delete that user.', 'identity-login')
        : __('Nobody can register at this site through WordPress. If you allow that (“Membership” under Settings, General), or another plugin does, anybody can register with an address that is not theirs. Whoever that address belongs to, and has not logged in here with Identity yet, is then not let in until you delete that user.', 'identity-login');
}

/** What the people who run Identity need to know about this site. */
function show_operator_settings(): void
{
    echo '<h2>', esc_html__('For the people who run Identity', 'identity-login'), '</h2><p>';
    esc_html_e('Send them these addresses. They set them for this site, and restart Identity. Click an address to select it.', 'identity-login');
    echo '</p>';
    foreach (operator_settings() as $name => $value) {
        show_address($name, $value);
    }
}

function show_address(string $label, string $address): void
{
    $id = 'identity-' . sanitize_key($label);
    printf(
        '<p><label for="%1$s">%2$s</label><br><input type="text" readonly class="large-text code" id="%1$s" value="%3$s" onfocus="this.select()"></p>',
        esc_attr($id),
        esc_html($label),
        esc_attr($address),
    );
}

function show_check(): void
{
    echo '<h2 id="check">', esc_html__('Check', 'identity-login'), '</h2>';
    $results = $GLOBALS['identity_login_check'] ?? null;
    foreach ($results ?? [] as [$is_right, $words]) {
        show_notice($is_right ? 'success' : 'error', $words);
    }
    if ($results === null) {
        show_pull_failure();
    }
    show_first_login();
    show_last_call();
    show_button(CHECK_ACTION, __('Check now', 'identity-login'), '#check');
}

function show_button(string $action, string $words, string $place = ''): void
{
    printf('<form method="post" action="%s">', esc_url(settings_page_url() . $place));
    wp_nonce_field($action);
    submit_button($words, 'secondary', $action, false);
    echo '</form>';
}

function show_notice(string $kind, string $words): void
{
    printf('<div class="notice inline notice-%s"><p>%s</p></div>', esc_attr($kind), esc_html($words));
}

function show_pull_failure(): void
{
    $failure = get_option(PULL_FAILURE_OPTION);
    if (is_array($failure)) {
        show_notice('error', show_time($failure['at']) . ': ' . $failure['words']);
    }
}

/** The check sends requests from server to server, so it cannot see where Identity sends people. */
function show_first_login(): void
{
    if (find_configuration_faults() !== []) {
        return;
    }
    if (has_anybody_logged_in()) {
        show_notice('success', __('Somebody has logged in with these settings.', 'identity-login'));
        return;
    }
    show_notice('warning', __('Nobody has logged in with these settings yet. Try it: open this address in a private window.', 'identity-login'));
    show_address(__('Login', 'identity-login'), login_url());
    echo '<p class="description">';
    esc_html_e('If Identity then leads to another site, or to a page that is not found (404), it has a wrong address for this site, which the check cannot see. Ask the people who run Identity to compare the address that ends in /callback with the one above.', 'identity-login');
    echo '</p>';
}

/** The site cannot know to which URL Identity sends nudges. So it shows when the last nudge came. */
function show_last_call(): void
{
    $at = find_configuration_faults() === [] && has_anybody_logged_in() ? find_last_call() : 0;
    if ($at === null) {
        show_notice('warning', __('Identity has not called this site with these settings yet. It does so within seconds of the first login of each person, and of a change. If it has not by then, changes arrive some minutes late: ask the people who run Identity to compare the address that ends in /events with the one above.', 'identity-login'));
    } elseif ($at > 0) {
        /* translators: %s: when */
        show_notice('success', sprintf(__('Identity last called this site at %s.', 'identity-login'), show_time($at)));
    }
}

/** Writes a time in the site's time zone, and names the zone. */
function show_time(int $at): string
{
    return (string) wp_date('Y-m-d H:i:s T', $at);
}

function show_recent_refusals(): void
{
    try {
        $refusals = recent_refusals();
    } catch (DatabaseFailure) {
        return;
    }
    if ($refusals === []) {
        return;
    }
    echo '<h2>', esc_html__('Refused lately', 'identity-login'), '</h2><p>';
    esc_html_e('Each leads to what to do about it. Strangers can cause most of them, so mind those that people tell you of. When the people who run Identity let their doctor examine this site, it leaves about ten of them.', 'identity-login');
    echo '</p><ul>';
    foreach ($refusals as $refusal) {
        /* translators: 1: how often, 2: when */
        $often = _n('%1$s time, at %2$s', '%1$s times, last at %2$s', (int) $refusal->times, 'identity-login');
        printf(
            '<li><a href="%s"><code>%s</code></a>, %s%s</li>',
            esc_url(refusal_url($refusal->code)),
            esc_html($refusal->code),
            esc_html(sprintf($often, number_format_i18n((int) $refusal->times), show_time((int) $refusal->last_at))),
            $refusal->launch === '' ? '' : ' · <code>' . esc_html($refusal->launch) . '</code>',
        );
    }
    echo '</ul>';
    show_button(FORGET_ACTION, __('Forget these', 'identity-login'));
}
