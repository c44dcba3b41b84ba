// Tells clients of OpenID Connect that somebody has logged out (contract 14.70 to 14.76; OpenID Connect Back-Channel Logout 1.0). A
// trigger plans each log-out in the transaction that causes it. The database decides which instance makes a try, and when.
import { claimLogOuts, type LogOut, recordLogOut } from '../../db/tables/log-outs.ts';
import { callClient, inTime } from '../clients/call.ts';
import type { Dependencies } from '../ground/dependencies.ts';
import { secondsOf } from '../identity/person/entry.ts';
import { version } from '../runtime/version.ts';
import { isOpenId, type OpenIdClient } from '../sso/clients.ts';
import { signToken } from './id-token.ts';

type Deps = Pick<Dependencies, 'config' | 'clients' | 'db' | 'now' | 'log' | 'metrics'>;

type Target = OpenIdClient & { backChannelUri: string };
const isTarget = (client: OpenIdClient): client is Target => client.backChannelUri !== undefined;

/** For each client and instance. A client that hangs takes up its own places only. */
const maxAtOnce = 16;

const secondsValid = 120;

export type LogOutSender = {
  /** Does not wait for the tries that it starts. */
  send: (signal: AbortSignal) => Promise<void>;
  /** Stops the tries under way. Later, any instance makes these tries again. */
  stop: () => Promise<void>;
};

export function createLogOutSender(deps: Deps): LogOutSender {
  const { clients, db, log } = deps;
  const underWay = new Map<Promise<void>, { clientId: string; controller: AbortController }>();

  function start(target: Target, logOut: LogOut): void {
    const controller = new AbortController();
    const run: Promise<void> = tryLogOut(deps, target, logOut, controller)
      .catch((err) => log.error({ client: target.name, err }, 'log-out not recorded'))
      .finally(() => underWay.delete(run));
    underWay.set(run, { clientId: target.id, controller });
  }

  function countPlaces({ id }: Target): number {
    return maxAtOnce - [...underWay.values()].filter(({ clientId }) => clientId === id).length;
  }

  return {
    async send(signal) {
      const targets = clients.list().filter(isOpenId).filter(isTarget);
      const free = targets.map((target) => ({ id: target.id, places: countPlaces(target) }));
      const claimable = free.filter(({ places }) => places > 0);
      if (claimable.length === 0) return;
      for (const logOut of await claimLogOuts(db, claimable)) {
        const target = targets.find(({ id }) => id === logOut.clientId);
        if (target && !signal.aborted) start(target, logOut);
      }
    },
    async stop() {
      for (const { controller } of underWay.values()) controller.abort(stopping);
      await Promise.all(underWay.keys());
    },
  };
}

const stopping = new Error('this instance is stopping');

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
