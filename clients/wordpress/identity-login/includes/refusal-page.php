<?php
/** What a person sees instead of a login: what to do, and a way on. Status and headers are the kit's. */

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
        'person_refused' => __('This site does not let you in. Ask its owner, and give them the code below.', 'identity-login'),
        'login_required' => __('You are not logged in. Log in to go on.', 'identity-login'),
        'interaction_required' => __('There is something for you to do first. Log in, and follow what it says.', 'identity-login'),
        'access_denied' => __('Your login is suspended. Ask support, and give them the code below.', 'identity-login'),
        'store_unavailable' => __('This site has a fault. Try again in a few minutes.', 'identity-login'),
        default => __('Log in again. If it happens each time, give the code below to support.', 'identity-login'),
    };
}

/** The kit's answer with a page in the words and the language of this site. It repeats nothing of what arrived. */
function show_refusal(Response $answer, Refusal $refusal): Response
{
    $title = esc_html__('The login did not work', 'identity-login');
    $ways = sprintf('<a class="button" href="%s">%s</a>', esc_url(login_url()), esc_html__('Log in', 'identity-login'));
    if ($refusal->refusalCode === 'nonce_replayed') {
        $ways .= sprintf(' <a href="%s">%s</a>', esc_url(home_url('/')), esc_html__('Go on to the site', 'identity-login'));
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
