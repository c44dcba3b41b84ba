<?php
/**
 * The page that a person sees if a login is refused: what to do, and a link to go on. The status and the headers come from
 * the kit.
 */

namespace IdentityLogin;

use Identity\Refusal;
use Identity\Response;

defined('ABSPATH') || exit;

const REFUSAL_STYLE = <<<'CSS'
    :root { color-scheme: light dark }
    body { margin: 0; font: 1.125rem/1.5 system-ui, sans-serif }
    main { max-width: 36rem; margin: 0 auto; padding: 2rem 1rem; overflow-wrap: anywhere }
    h1 { font-size: 1.75rem; line-height: 1.2 }
    .ways { display: flex; flex-wrap: wrap; gap: 1rem; align-items: center }
    .button { padding: .75rem 1.5rem; border-radius: .25rem; background: #135e96; color: #fff; text-decoration: none }
    .button:focus-visible { outline: 3px solid; outline-offset: 2px }
    CSS;

function advise_person(string $code): string
{
    return match ($code) {
        'state_unknown' => __('This browser did not ask for this login, or did so more than ten minutes ago. Log in again.', 'identity-login'),
        'expired' => __('It took too long. Log in again.', 'identity-login'),
        'issued_in_future' => __('The clock of this site is wrong. If it happens again, give the code below to support.', 'identity-login'),
        'auth_time_too_old' => __('Log in again, and give your password or passkey when you are asked for it.', 'identity-login'),
        'nonce_replayed' => __('This link was used before. If you are logged in already, go on. If not, log in again.', 'identity-login'),
        'session_ended' => __('This login has ended. Log in again.', 'identity-login'),
        'person_refused' => __('A user of this site has your email address already, and you are not let in as that user. Ask the owner of the site, and give them the code below. Administrators of this site are never let in as the user that they have here: they log in with their password of this site.', 'identity-login'),
        'login_required' => __('You are not logged in. Log in to go on.', 'identity-login'),
        'interaction_required' => __('There is something for you to do first. Log in, and follow what it says.', 'identity-login'),
        'access_denied' => __('You cannot log in here with this account. Ask support, and give them the code below.', 'identity-login'),
        'store_unavailable' => __('This site has a fault. Try again in a few minutes.', 'identity-login'),
        default => __('Log in again. If it happens each time, give the code below to support.', 'identity-login'),
    };
}

/** The words of each link, by its URL. The first link is a button. */
function list_ways_on(string $code): array
{
    $site = wp_specialchars_decode(get_bloginfo('name'), ENT_QUOTES) ?: (string) wp_parse_url(home_url(), PHP_URL_HOST);
    /* translators: %s: the name of the site */
    $home = [home_url('/') => sprintf(__('Go on to %s', 'identity-login'), $site)];
    if (!in_array($code, ['person_refused', 'access_denied'], true)) {
        return [login_url() => __('Log in', 'identity-login')] + $home;
    }
    // If the same person logged in again, they would be refused again.
    $leave = client()->logoutUrl((string) wp_parse_url(login_url(), PHP_URL_PATH));
    $ways = $home + [$leave => __('Log in as somebody else', 'identity-login')];
    return $code === 'access_denied' ? $ways
        : $ways + [local_login_url() => __('Log in with a password of this site', 'identity-login')];
}

/** The kit's answer, with a page in the words and the language of this site. The page repeats nothing from the request. */
function show_refusal(Response $answer, Refusal $refusal): Response
{
    $title = esc_html__('The login did not work', 'identity-login');
    $ways = '';
    foreach (list_ways_on($refusal->refusalCode) as $url => $words) {
        $class = $ways === '' ? ' class="button"' : '';
        $ways .= sprintf('<a%s href="%s">%s</a> ', $class, esc_url($url), esc_html($words));
    }
    $codes = array_map(static fn($text) => '<code>' . esc_html($text) . '</code>', array_filter([$refusal->refusalCode, $refusal->launchId]));
    /* translators: %s: the code of a refusal */
    $code = sprintf(esc_html__('Code: %s', 'identity-login'), implode(' · ', $codes));
    $advice = esc_html(advise_person($refusal->refusalCode));
    [$language, $style] = [get_language_attributes(), REFUSAL_STYLE];
    return new Response($answer->status, $answer->headers, <<<HTML
        <!doctype html>
        <html $language>
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>$title</title>
        <style>
        $style
        </style>
        </head>
        <body>
        <main>
        <h1>$title</h1>
        <p>$advice</p>
        <p class="ways">$ways</p>
        <p>$code</p>
        </main>
        </body>
        </html>

        HTML);
}
