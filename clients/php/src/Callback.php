<?php

declare(strict_types=1);

namespace Identity;

/** Answers one request for the callback. Client::handleCallback describes the parameters. */
final class Callback
{
    private const NOBODY = ['login_required', 'interaction_required', 'access_denied'];

    private readonly Attempts $attempts;

    public function __construct(
        private readonly Configuration $configuration,
        private readonly Request $request,
        private readonly int $now,
    ) {
        $this->attempts = new Attempts($configuration);
    }

    /** @param callable(): list<string> $finish runs once the login is sure, and returns further `Set-Cookie` values */
    public function answer(
        callable $startSession,
        callable $endSession,
        callable $finish,
        ?callable $isLoggedIn,
        ?callable $onError,
        callable $log,
    ): Response {
        try {
            $silent = $this->answerSilence();
            if ($silent !== null) {
                return $silent;
            }
            $this->throwError();
            $handOff = $this->accept();
            $cookies = $startSession($handOff) ?? [];
            $this->requireGoingOn($handOff, $endSession);
            $cookies = [...$cookies, ...$finish()];
            $url = $handOff->returnTo === null ? $this->configuration->homeUrl
                : ReturnTo::resolve($this->configuration->origin, $handOff->returnTo);
            // The redirect also takes the signed payload out of the address bar.
            return Response::unkept(303, ['Location' => $url], $cookies);
        } catch (Refusal $refusal) {
            $refusal->launchId ??= LaunchId::find($this->request->query);
            $log($refusal);
        }
        if ($refusal->refusalCode === 'state_unknown' && $this->looksSilent()) {
            // This browser keeps no cookie, and nobody has clicked, so nobody sees an error.
            $home = (new Silence($this->configuration))->homeUrl();
            return Response::unkept(303, ['Location' => $home] + $refusal->headers());
        }
        if ($refusal->refusalCode === 'state_missing') {
            try {
                $isHere = $isLoggedIn !== null && $isLoggedIn();
                $url = $isHere ? $this->configuration->homeUrl : $this->configuration->loginUrl;
                return Response::unkept(303, ['Location' => $url] + $refusal->headers());
            } catch (Refusal $refusal) {
                $log($refusal);
            }
        }
        $own = $refusal instanceof LoginError && $onError !== null ? $onError($refusal) : null;
        return $own?->with(Response::UNKEPT + $refusal->headers()) ?? RefusalPage::build($refusal, $this->configuration);
    }

    /** Answers the end of a silent attempt that found nobody: leads back to where the person was. */
    private function answerSilence(): ?Response
    {
        $found = Query::readOnce($this->request->query, Envelope::PARAMETERS);
        $isOver = count($found) === 2 && in_array($found['error'] ?? '', self::NOBODY, true);
        $page = $isOver ? $this->attempts->find($this->request, $found['state'] ?? '', $this->now)?->page : null;
        return $page === null ? null : Response::unkept(
            303,
            ['Location' => ReturnTo::resolve($this->configuration->origin, $page)],
            [$this->attempts->end($found['state'])],
        );
    }

    /** Whether this is the answer to a silent attempt. Nothing is proved by that. */
    private function looksSilent(): bool
    {
        try {
            $state = $this->request->parameter('state')
                ?? Verifier::verify($this->configuration, $this->request->query, $this->now)->state;
            return Attempts::isSilent((string) $state);
        } catch (Refusal) {
            return false;
        }
    }

    /** An error is not signed, so it may only choose a page, and only for an attempt of this browser. */
    private function throwError(): void
    {
        $found = Query::readOnce($this->request->query, Envelope::PARAMETERS);
        if (!isset($found['error']) || array_diff_key($found, ['error' => 1, 'state' => 1]) !== []) {
            return;
        }
        if ($this->attempts->find($this->request, $found['state'] ?? '', $this->now) === null) {
            throw new Refusal('state_unknown');
        }
        throw new LoginError($found['error']);
    }

    /** Returns a hand-off that is genuine, new, and asked for by this browser. Throws a Refusal for any other. */
    private function accept(): HandOff
    {
        $handOff = Verifier::verify($this->configuration, $this->request->query, $this->now);
        $refuse = static fn(string $code) => throw new Refusal($code, $handOff->launchId);
        if ($this->hasEnded($handOff)) {
            $refuse('session_ended');
        }
        if ($handOff->state === null) {
            $refuse('state_missing');
        }
        $attempt = $this->attempts->find($this->request, $handOff->state, $this->now) ?? $refuse('state_unknown');
        if (!$attempt->isMetBy($handOff)) {
            $refuse('auth_time_too_old');
        }
        // The nonce comes last, so that a hand-off planted in another browser does not use its nonce up.
        $nonces = $this->configuration->nonces;
        $isNew = Stores::ask(static fn() => $nonces->consume($handOff->nonce, $handOff->expiresAt + 60));
        return $isNew ? $handOff : $refuse('nonce_replayed');
    }

    /** The login may have ended while its session was started. Then there was no session to end yet. */
    private function requireGoingOn(HandOff $handOff, callable $endSession): void
    {
        try {
            $refusal = $this->hasEnded($handOff) ? new Refusal('session_ended', $handOff->launchId) : null;
        } catch (Refusal $unanswered) {
            $refusal = $unanswered;
        }
        if ($refusal !== null) {
            $endSession($handOff->sid);
            throw $refusal;
        }
    }

    private function hasEnded(HandOff $handOff): bool
    {
        return $handOff->sid !== null
            && Stores::ask(fn() => $this->configuration->nonces->hasEnded($handOff->sid));
    }
}
