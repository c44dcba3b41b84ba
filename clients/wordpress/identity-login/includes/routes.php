<?php
/** The paths that this plugin answers: the login start, the callback, and the path for nudges. */

namespace IdentityLogin;

use Identity\ConfigurationError;
use Identity\HandOff;
use Identity\Refusal;
use Identity\Request;
use Identity\Response;

defined('ABSPATH') || exit;

$GLOBALS['identity_login_request'] = null;

// This runs before WordPress adds backslashes to the request.
add_action('plugins_loaded', static function (): void {
    if (find_route() !== null) {
        $GLOBALS['identity_login_request'] = Request::fromGlobals();
    }
});

add_action('init', static function (): void {
    $request = $GLOBALS['identity_login_request'];
    if ($request === null) {
        return;
    }
    // Tells plugins that cache pages to leave this one out.
    defined('DONOTCACHEPAGE') || define('DONOTCACHEPAGE', true);
    ignore_user_abort(true);
    answer($request, (string) find_route())->send();
    exit;
}, 1);

/** Whether the request is for one of the plugin's paths, below the path of the site or of its index.php (`address_of`). */
function find_route(): ?string
{
    $path = explode('?', $_SERVER['REQUEST_URI'] ?? '', 2)[0];
    $home = rtrim((string) wp_parse_url(home_url(), PHP_URL_PATH), '/');
    $route = str_starts_with($path, "$home/") ? preg_replace('~^/index\.php(?=/)~', '', substr($path, strlen($home))) : '';
    return in_array($route, [CALLBACK_PATH, LOGIN_PATH, EVENTS_PATH], true) ? $route : null;
}

function answer(Request $request, string $route): Response
{
    try {
        return match ($route) {
            LOGIN_PATH => client()->startLogin($request, $request->parameter('return_to')),
            CALLBACK_PATH => answer_callback($request),
            EVENTS_PATH => answer_nudge($request),
        };
    } catch (ConfigurationError) {
        $words = __('The login with Identity is not set up here yet.', 'identity-login');
        return Response::unkept(503, ['Content-Type' => 'text/plain; charset=utf-8'], [], "$words\n");
    }
}

function answer_callback(Request $request): Response
{
    $refused = null;
    $answer = client()->handleCallback(
        $request,
        __NAMESPACE__ . '\try_to_start_session',
        __NAMESPACE__ . '\end_session',
        is_user_logged_in(...),
        log: static function (Refusal $refusal) use (&$refused, $request): void {
            $refused = $refusal;
            log_refusal($refusal, is_of_test_person($request));
        },
    );
    return $refused === null || $refused->status === 303 ? $answer : show_refusal($answer, $refused);
}

/** Throws a Refusal. */
function try_to_start_session(HandOff $hand_off): void
{
    try {
        start_session($hand_off);
    } catch (Refusal $refusal) {
        throw $refusal;
    } catch (\Throwable $error) {
        log_line('a session could not be started: ' . $error->getMessage());
        throw new Refusal('store_unavailable', $hand_off->launchId, $error);
    }
}

/** Answers with a 2xx only if all events were pulled. Otherwise the service sends the nudge again. */
function answer_nudge(Request $request): Response
{
    $answer = client()->receiveNudge($request, __NAMESPACE__ . '\log_refusal');
    if ($answer->status !== 204) {
        return $answer;
    }
    record_call($request);
    if (pull_quietly()) {
        return $answer;
    }
    return Response::unkept(503, ['Retry-After' => '1']);
}
