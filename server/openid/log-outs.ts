// Tells clients of OpenID Connect that somebody has logged out (contract 14.70 to 14.76; OpenID Connect Back-Channel Logout 1.0).
// A trigger plans each log-out in the transaction that causes it. The database decides which instance tries to send it, and when.
import { claimLogOuts, type LogOut, recordLogOut } from '../../db/tables/log-outs.ts';
import { callClient, createTries, inTime, stopping } from '../clients/call.ts';
import type { Dependencies } from '../ground/dependencies.ts';
import { secondsOf } from '../identity/person/entry.ts';
import { version } from '../runtime/version.ts';
import { isOpenId, type OpenIdClient } from '../sso/clients.ts';
import { signToken } from './id-token.ts';

type Deps = Pick<Dependencies, 'config' | 'clients' | 'db' | 'now' | 'log' | 'metrics'>;

type Target = OpenIdClient & { backChannelUri: string };
const isTarget = (client: OpenIdClient): client is Target => client.backChannelUri !== undefined;

/**
 * At most this many tries run at the same time for each client on each instance. A client that does not answer takes up only
 * its own places.
 */
const maxAtOnce = 16;

const secondsValid = 120;

export type LogOutSender = {
  /** Does not wait for the tries that it starts. */
  send: (signal: AbortSignal) => Promise<void>;
  /** Stops the running tries. Any instance repeats them later. */
  stop: () => Promise<void>;
};

export function createLogOutSender(deps: Deps): LogOutSender {
  const { clients, db, log } = deps;
  const tries = createTries(log, 'log-out not recorded');

  return {
    async send(signal) {
      const targets = clients.list().filter(isOpenId).filter(isTarget);
      const free = targets.map((target) => ({ id: target.id, places: maxAtOnce - tries.count(target.name) }));
      const claimable = free.filter(({ places }) => places > 0);
      if (claimable.length === 0) return;
      for (const logOut of await claimLogOuts(db, claimable)) {
        const target = targets.find(({ id }) => id === logOut.clientId);
        if (target && !signal.aborted)
          tries.start(target.name, (controller) => tryLogOut(deps, target, logOut, controller));
      }
    },
    stop: tries.stop,
  };
}

async function tryLogOut(
  deps: Deps,
  target: Target,
  logOut: LogOut,
  controller: AbortController,
): Promise<void> {
  const { config, db, log, metrics } = deps;
  const message = await buildMessage(deps, target, logOut);
  const failure = await inTime(controller, (signal) =>
    callClient(config, target.backChannelUri, message, signal),
  );
  if (failure !== undefined && controller.signal.reason === stopping) return;
  metrics.countLogOut(target.name, failure === undefined ? 'taken' : 'failed');
  const { isGivenUp } = await recordLogOut(db, logOut, failure);
  if (isGivenUp) log.info({ client: target.name, failure }, 'log-out given up');
}

async function buildMessage(deps: Deps, { name }: Target, { userId, sid }: LogOut) {
  const iat = secondsOf(deps.now()) ?? 0;
  const token = await signToken(deps, 'logout+jwt', {
    ...{ iss: deps.config.issuer, aud: name, iat, exp: iat + secondsValid, jti: crypto.randomUUID() },
    ...{ sub: userId, ...(sid !== null && { sid }) },
    events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
  });
  const headers = {
    'Content-Type': 'application/x-www-form-urlencoded',
    'User-Agent': `identity-service/${version}`,
  };
  return { headers, body: new TextEncoder().encode(`logout_token=${token}`) };
}
