<?php

declare(strict_types=1);

namespace Identity;

/** Answers one request for the callback. Client::handleCallback describes the parameters. */
final class Callback
{
    private readonly Attempts $attempts;

    public function __construct(private readonly Configuration $configuration, private readonly Request $request, private readonly int $now)
    {
        $this->attempts = new Attempts($configuration);
    }

    public function answer(
        callable $startSession,
        callable $endSession,
        ?callable $isLoggedIn,
        ?callable $onError,
        callable $log,
    ): Response {
        try {
            $this->throwError();
            $handOff = $this->accept();
            $cookies = $startSession($handOff) ?? [];
            $this->requireGoingOn($handOff, $endSession);
            $url = $handOff->returnTo === null ? $this->configuration->homeUrl
                : ReturnTo::resolve($this->configuration->origin, $handOff->returnTo);
            // The redirect also takes the signed payload out of the address bar.
            return Response::unkept(303, ['Location' => $url], $cookies);
        } catch (Refusal $refusal) {
            $refusal->launchId ??= LaunchId::find($this->request->query);
            $log($refusal);
            if ($refusal->refusalCode === 'state_missing') {
                $isHere = $isLoggedIn !== null && $isLoggedIn();
                $url = $isHere ? $this->configuration->homeUrl : $this->configuration->loginUrl;
                return Response::unkept(303, ['Location' => $url] + $refusal->headers());
            }
            $own = $refusal instanceof LoginError && $onError !== null ? $onError($refusal) : null;
            return $own?->with(Response::UNKEPT + $refusal->headers()) ?? RefusalPage::build($refusal, $this->configuration);
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
        $isNew = $this->askStore(
            static fn(NonceStore $nonces) => $nonces->consume($handOff->nonce, $handOff->expiresAt + 60),
        );
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
            && $this->askStore(static fn(NonceStore $nonces) => $nonces->hasEnded($handOff->sid));
    }

    private function askStore(callable $question): bool
    {
        try {
            return $question($this->configuration->nonces);
        } catch (Refusal $refusal) {
            // A store may itself throw a refusal.
            throw $refusal;
        } catch (\Throwable $error) {
            throw new Refusal('store_unavailable', previous: $error);
        }
    }
}
