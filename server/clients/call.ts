// Calls an address of a client in the database (contract 13.17). The host's name is looked up only one time, and the call
// connects to the IP address that was checked. So nobody can swap the IP address in between. The results never show what the
// server there answered.
import type { Log } from '../basics/log.ts';
import { fetchAt, lookUp } from '../runtime/fetch-as-host.ts';
import type { Config } from '../settings/config.ts';
import { mayConnect } from './addresses.ts';

const answerWithinMs = 10_000;

/** The reason that the signal gets if a call takes too long. */
const tooLate = new Error('no answer in time');

type Message = { headers: Record<string, string>; body: Uint8Array };

/** Returns undefined if the client answered with a 2xx. Otherwise returns why the client did not accept the message. */
export async function callClient(
  config: Pick<Config, 'production' | 'allowsPrivateNetworks'>,
  url: string,
  message: Message,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const { hostname } = new URL(url);
    const found = await Promise.race([lookUpOnce(hostname.replace(/^\[|\]$/g, '')), whenAborted(signal)]);
    const address = found.find((each) => !each.includes(':')) ?? found[0];
    if (address === undefined) return 'host not found';
    if (!found.every((each) => mayConnect(each, config))) return 'address not allowed';
    return explainStatus((await fetchAt(address, url, { ...message, method: 'POST', signal })).status);
  } catch (error) {
    return explainError(error, signal);
  }
}

const underWay = new Map<string, Promise<string[]>>();

/**
 * Calls to the same host share a lookup that is running, because a lookup that hangs occupies one of the few threads for
 * lookups.
 */
function lookUpOnce(host: string): Promise<string[]> {
  const known = underWay.get(host);
  if (known) return known;
  const found = lookUp(host).finally(() => underWay.delete(host));
  underWay.set(host, found);
  return found;
}

/** Ends the wait for a name's lookup, because the lookup itself cannot be stopped. */
function whenAborted(signal: AbortSignal): Promise<never> {
  const aborted = new Promise<never>((_done, failed) => {
    signal.addEventListener('abort', () => failed(signal.reason), { once: true });
  });
  // The signal may abort after the wait is over. Then nobody handles this error.
  aborted.catch(() => undefined);
  return aborted;
}

export function explainStatus(status: number): string | undefined {
  if (status >= 200 && status < 300) return undefined;
  return status >= 300 && status < 400 ? 'redirected' : `HTTP ${status}`;
}

// Node gives the cause as a code, and Deno gives it in words.
const causes: [form: RegExp, words: string][] = [
  [/refused/i, 'connection refused'],
  [/ENOTFOUND|EAI_AGAIN|dns error|lookup/i, 'host not found'],
  [/CERT|TLS|SSL/i, 'TLS failed'],
  [/ECONNRESET|EPIPE|UND_ERR_SOCKET|reset|closed|SendRequest/i, 'connection dropped'],
];

export function explainError(error: unknown, signal: AbortSignal): string {
  if (signal.reason === tooLate) return 'timed out';
  const { message, code, cause } = error as {
    message?: string;
    code?: string;
    cause?: { code?: string; message?: string };
  };
  const text = `${message} ${code} ${cause?.code} ${cause?.message}`;
  return causes.find(([form]) => form.test(text))?.[1] ?? 'connection failed';
}

/**
 * Aborts the controller if the work takes too long. AbortSignal.any and AbortSignal.timeout are not used, because they would
 * stay in memory after the work.
 */
export async function inTime<T>(
  controller: AbortController,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const timer = setTimeout(() => controller.abort(tooLate), answerWithinMs);
  return work(controller.signal).finally(() => clearTimeout(timer));
}

/** The reason that tries get if their instance stops. Later, any instance makes these tries again. */
export const stopping = new Error('this instance is stopping');

/**
 * Keeps a list of the tries that are running. Nobody waits for a try, so a client that is down delays nothing else. `failed` is
 * the log's message for a try that throws.
 */
export function createTries(log: Log, failed: string) {
  const underWay = new Map<Promise<void>, { client: string; controller: AbortController }>();
  return {
    start(client: string, work: (controller: AbortController) => Promise<void>): void {
      const controller = new AbortController();
      const run: Promise<void> = work(controller)
        .catch((err) => log.error({ client, err }, failed))
        .finally(() => underWay.delete(run));
      underWay.set(run, { client, controller });
    },
    count: (client: string) => [...underWay.values()].filter((each) => each.client === client).length,
    async stop(): Promise<void> {
      for (const { controller } of underWay.values()) controller.abort(stopping);
      await Promise.all(underWay.keys());
    },
  };
}
