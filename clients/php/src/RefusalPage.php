<?php

declare(strict_types=1);

namespace Identity;

/** What a person sees instead of a login or log-out. The page repeats nothing from the request, runs no script and loads nothing. */
final class RefusalPage
{
    private const POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";

    /** Advice for refusals that only the owner of the site can fix. */
    private const USUAL_ADVICE = 'Log in again. If that does not help, tell us the code below.';

    private const ADVICE = [
        'issued_in_future' => 'The clock of this site is wrong. If it happens again, tell us the code below.',
        'expired' => 'It took too long. Log in again.',
        'state_unknown' => 'This browser did not ask for this login, or did so more than ten minutes ago. Log in again.',
        'auth_time_too_old' => 'This site needs you to prove again that it is you. Log in again.',
        'nonce_replayed' => 'This login was used already. Go on if you are logged in, or log in again.',
        'session_ended' => 'This login has ended. Log in again.',
        'person_refused' => 'This site does not let you in. Ask its owner.',
        'login_required' => 'Log in to go on.',
        'interaction_required' => 'There is something to do before you can go on. Log in, and follow what it says.',
        'access_denied' => 'You cannot log in here with this account. Ask support.',
        'logout_token_wrong' => 'Your session here has not ended. Go on, and log out once more.',
        'store_unavailable' => 'This site cannot let anybody in at the moment. Try again in a few minutes.',
    ];

    private const STYLE = <<<'CSS'
        :root { color-scheme: light dark }
        body { margin: 0; font: 1.125rem/1.5 system-ui, sans-serif }
        main { max-width: 36rem; margin: 0 auto; padding: 2rem 1rem; overflow-wrap: anywhere }
        h1 { font-size: 1.75rem; line-height: 1.2 }
        CSS;

    public static function build(Refusal $refusal, Configuration $our): Response
    {
        $advice = self::escape(self::ADVICE[$refusal->refusalCode] ?? self::USUAL_ADVICE);
        $codes = array_filter([$refusal->refusalCode, $refusal->launchId]);
        $code = implode(' · ', array_map(static fn(string $text) => '<code>' . self::escape($text) . '</code>', $codes));
        $link = static fn(string $url, string $words) => '<p><a href="' . self::escape($url) . "\">$words</a></p>";
        // Most people who get one of these refusals have reloaded a page, and have a session already.
        $goOn = in_array($refusal->refusalCode, ['nonce_replayed', 'logout_token_wrong'], true) ? $link($our->homeUrl, 'Go on') : '';
        $links = $goOn . $link($our->loginUrl, 'Log in');
        $style = self::STYLE;
        $title = $refusal->refusalCode === 'logout_token_wrong' ? 'You are not logged out' : 'The login did not work';
        $headers = [
            'Content-Type' => 'text/html; charset=utf-8',
            'Content-Security-Policy' => self::POLICY,
            'X-Content-Type-Options' => 'nosniff',
        ];
        if ($refusal->refusalCode === 'method_not_allowed') {
            $headers['Allow'] = 'GET, HEAD';
        }
        return Response::unkept($refusal->status, $headers + $refusal->headers(), body: <<<HTML
            <!doctype html>
            <html lang="en">
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
            $links
            <p>Code: $code</p>
            </main>
            </body>
            </html>

            HTML);
    }

    private static function escape(string $text): string
    {
        return htmlspecialchars($text, ENT_QUOTES | ENT_SUBSTITUTE | ENT_HTML5, 'UTF-8');
    }
}
