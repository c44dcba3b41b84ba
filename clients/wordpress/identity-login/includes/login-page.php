<?php
/** The places to log in: a button on wp-login.php, a shortcode and a block. */

namespace IdentityLogin;

defined('ABSPATH') || exit;

/** The start of a login that leads back to this page of the site. */
function login_url(string $return_to = ''): string
{
    return address_of(LOGIN_PATH) . ($return_to === '' ? '' : '?return_to=' . rawurlencode($return_to));
}

/** The path of a URL of this site. Empty for any other URL. */
function own_path(string $address): string
{
    $own = wp_validate_redirect($address, '');
    $path = (string) wp_parse_url($own, PHP_URL_PATH);
    $query = wp_parse_url($own, PHP_URL_QUERY);
    return $path === '' ? '' : $path . ($query === null ? '' : "?$query");
}

function login_button(string $return_to, string $class, string $more = ''): string
{
    return sprintf(
        '<a class="%s" href="%s"%s>%s</a>',
        esc_attr($class),
        esc_url(login_url($return_to)),
        $more,
        esc_html(button_label()),
    );
}

/** Whether to show the form for a local password. It is shown if somebody asked for it, or has just sent a wrong password. */
function wants_local_login(): bool
{
    return isset($_GET['local']) || ($_SERVER['REQUEST_METHOD'] ?? '') === 'POST';
}

function local_login_url(string $return_to = ''): string
{
    return add_query_arg('local', '1', wp_login_url($return_to));
}

/**
 * By default, the form shows only the button. If somebody wants to use a local password, words above the form lead to
 * Identity instead.
 */
add_action('login_form', static function (): void {
    if (wants_local_login() || find_configuration_faults() !== []) {
        return;
    }
    $words = __('Log in with a password of this site', 'identity-login');
    $link = sprintf('<a href="%s">%s</a>', esc_url(local_login_url(requested_page())), esc_html($words));
    echo '<div class="identity-login"><p>', login_page_link('button button-primary button-large'), "</p><p>$link</p></div>"; // phpcs:ignore -- escaped
});

add_filter('login_message', static fn($message) => find_configuration_faults() === [] ? $message . words_above_the_form() : $message);

/** The words are the same for everybody, so they do not say who is linked. */
function words_above_the_form(): string
{
    // Reads the action in the same way as wp-login.php does.
    $action = (string) ($GLOBALS['action'] ?? 'login');
    [$words, $link] = match (true) {
        $action === 'login' && wants_local_login() => [
            __('This form is for passwords of this site.', 'identity-login'),
            login_page_link(''),
        ],
        in_array($action, ['lostpassword', 'retrievepassword', 'checkemail'], true) => [
            __('Do you log in with Identity? Then no email comes from this site.', 'identity-login'),
            sprintf('<a href="%s">%s</a>', esc_url(identity_reset_url()), esc_html__('Set a new password at Identity', 'identity-login')),
        ],
        default => ['', ''],
    };
    return $words === '' ? '' : '<p class="message">' . esc_html($words) . " $link</p>";
}

function requested_page(): string
{
    return isset($_REQUEST['redirect_to']) ? wp_unslash((string) $_REQUEST['redirect_to']) : '';
}

function login_page_link(string $class): string
{
    // When a session has ended, WordPress shows the login in a frame over the page. Identity refuses to appear in a frame, so
    // the link opens a new window.
    $target = isset($_REQUEST['interim-login']) ? ' target="_blank" rel="noopener"' : '';
    return login_button(own_path(requested_page()), $class, $target);
}

add_action('login_enqueue_scripts', static function (): void {
    $css = '.identity-login{clear:both}.login .identity-login p{margin:0 0 12px;text-align:center}'
        . '.login .identity-login .button{display:block;float:none;width:100%;white-space:normal;height:auto;text-align:center}';
    if (!wants_local_login() && find_configuration_faults() === []) {
        // The form is only hidden, because other plugins may add to it. local-passwords.php keeps linked users out.
        $css .= '.login-action-login #loginform>:not(.identity-login){display:none}.login-action-login #nav{display:none}';
    }
    wp_add_inline_style('login', $css);
});

// WordPress ends only its own session. People who share the computer may want to end the session at Identity, too.
add_filter('wp_login_errors', static function ($errors) {
    if (isset($_GET['loggedout']) && find_configuration_faults() === []) {
        $words = __('Log out of Identity, too', 'identity-login');
        $link = sprintf('<a href="%s">%s</a>', esc_url(client()->logoutUrl()), esc_html($words));
        $errors->add('identity_logout', $link, 'message');
    }
    return $errors;
});

add_shortcode('identity_login', __NAMESPACE__ . '\render_login');

add_action('init', static function (): void {
    register_block_type(dirname(__DIR__) . '/block', ['render_callback' => __NAMESPACE__ . '\render_block']);
});

function render_block(): string
{
    return '<div ' . get_block_wrapper_attributes() . '>' . render_login() . '</div>';
}

/** The block has an element of its own, so that themes put it into their column, and it may stand in a paragraph. */
function render_login(): string
{
    return '<span class="identity-login" style="display:block">' . render_login_state() . '</span>';
}

/** Shows the button, or who is logged in. */
function render_login_state(): string
{
    $here = wp_unslash((string) ($_SERVER['REQUEST_URI'] ?? '/'));
    if (!is_user_logged_in()) {
        return login_button($here, 'identity-login-button wp-element-button');
    }
    $user = wp_get_current_user();
    $logout = sprintf('<a href="%s">%s</a>', esc_url(wp_logout_url()), esc_html__('Log out', 'identity-login'));
    $profile = is_linked($user->ID)
        ? sprintf('<a href="%s">%s</a>', esc_url(identity_profile_url()), esc_html($user->display_name))
        : esc_html($user->display_name);
    return "<span class=\"identity-login-person\">$profile · $logout</span>";
}
