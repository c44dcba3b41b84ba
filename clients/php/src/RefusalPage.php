<?php

declare(strict_types=1);

namespace Identity;

/** What a person sees instead of a login. It repeats nothing of what arrived, runs no script and loads nothing. */
final class RefusalPage
{
    private const POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";

    private const AGAIN = 'Log in again. If it happens each time, give the code below to support.';

    private const ADVICE = [
        'auth_time_too_old' => 'Log in again, and give your password or passkey when you are asked for it.',
        'nonce_replayed' => 'This link was used before. If you are logged in already, go on. If not, log in again.',
        'session_ended' => 'This login has ended. Log in again.',
        'person_refused' => 'This site does not let you in. Ask its owner, and give them the code below.',
        'login_required' => 'You are not logged in. Log in to go on.',
        'interaction_required' => 'There is something for you to do first. Log in, and follow what it says.',
        'access_denied' => 'Your login is suspended. Ask support, and give them the code below.',
        'store_unavailable' => 'This site has a fault. Try again in a few minutes.',
    ];

    private const STYLE = <<<'CSS'
        :root { color-scheme: light dark }
        body { margin: 0; font: 1.125rem/1.5 system-ui, sans-serif }
        main { max-width: 36rem; margin: 0 auto; padding: 2rem 1rem; overflow-wrap: anywhere }
        h1 { font-size: 1.75rem; line-height: 1.2 }
        CSS;

    public static function build(Refusal $refusal, string $loginUrl): Response
    {
        $advice = self::escape(self::ADVICE[$refusal->refusalCode] ?? self::AGAIN);
        $codes = array_filter([$refusal->refusalCode, $refusal->launchId]);
        $code = implode(' · ', array_map(static fn(string $text) => '<code>' . self::escape($text) . '</code>', $codes));
        $login = self::escape($loginUrl);
        $style = self::STYLE;
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
            <title>The login did not work</title>
            <style>
            $style
            </style>
            </head>
            <body>
            <main>
            <h1>The login did not work</h1>
            <p>$advice</p>
            <p><a href="$login">Log in</a></p>
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
