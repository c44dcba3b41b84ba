<?php

declare(strict_types=1);

namespace Identity;

/** Answers one request for the callback. Client::handleCallback describes the parameters. */
final class Callback
{
    private readonly Attempts $attempts;
    /** Where a silent attempt leads if it is refused. Nobody has clicked, so nobody is shown an error. */
    private ?string $silentEnd = null;

    public function __construct(
        private readonly Configuration $configuration,
        private readonly Request $request,
        private readonly int $now,
    ) {
        $this->attempts = new Attempts($configuration);
    }

    /**
     * @param callable(): list<string> $finish is called when all checks have passed, and returns further `Set-Cookie` values
     */
    public function answer(
        callable $startSession,
        callable $endSession,
        callable $finish,
        ?callable $isLoggedIn,
        ?callable $onError,
        callable $log,
    ): Response {
        try {
            $this->throwError();
            $handOff = $this->accept();
            $cookies = $startSession($handOff) ?? [];
            $this->requireGoingOn($handOff, $endSession);
            $cookies = [...$cookies, ...$finish()];
            error_log("identity-client: accepted, launch $handOff->launchId");
            $url = $handOff->returnTo === null ? $this->configuration->homeUrl
                : ReturnTo::resolve($this->configuration->origin, $handOff->returnTo);
            // The redirect takes the signed payload out of the address bar.
            return Response::unkept(303, ['Location' => $url], $cookies);
        } catch (Refusal $refusal) {
            if ($this->silentEnd !== null) {
                return Response::unkept(303, ['Location' => $this->silentEnd]);
            }
            $refusal->launchId ??= LaunchId::find($this->request->query);
            $log($refusal);
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

    /** Errors are not signed. So an error can do nothing but choose a page, and only for an attempt of this browser. */
    private function throwError(): void
    {
        $found = Query::readOnce($this->request->query, Envelope::PARAMETERS);
        if (!isset($found['error']) || array_diff_key($found, ['error' => 1, 'state' => 1]) !== []) {
            return;
        }
        $this->findAttempt($found['state'] ?? '');
        $error = new LoginError($found['error']);
        if ($error->refusalCode !== 'error_unknown') {
            $this->silentEnd = (new Silence($this->configuration))->findEnd($found['state'], true);
        }
        throw $error;
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
        if (!$this->findAttempt($handOff->state)->isMetBy($handOff)) {
            $refuse('auth_time_too_old');
        }
        // The nonce is used last. If a hand-off is opened in a browser that has not asked for it, its nonce stays unused.
        $nonces = $this->configuration->nonces;
        $isNew = Stores::ask(static fn() => $nonces->consume($handOff->nonce, $handOff->expiresAt + 60));
        return $isNew ? $handOff : $refuse('nonce_replayed');
    }

    private function findAttempt(string $state): Attempt
    {
        $attempt = $this->attempts->find($this->request, $state, $this->now);
        if ($attempt === null) {
            $this->silentEnd = (new Silence($this->configuration))->findEnd($state, false);
            throw new Refusal('state_unknown');
        }
        return $attempt;
    }

    /** The login may have ended while its session was being started. The event about its end then found no session to end. */
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
