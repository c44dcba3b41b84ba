// The door turns requests away before any work is done, with an answer made beforehand: every request while the service
// starts, later the requests that come while more are under way than the service can work at, and logins for which no password
// can be hashed. A flood must cost no more than refusing it, and refusing it must leave the processor to those who get in.
import type { Dependencies } from '../ground/dependencies.ts';
import type { Fetch, Made, Peer } from '../runtime/listener.ts';
import { pathOf } from '../web/incoming.ts';
import { prefersHtml } from '../web/requests.ts';
import { isHealthPath } from './health.ts';

export type DoorOptions = {
  fetch: Fetch;
  isUp: () => boolean;
  isDraining: () => boolean;
  /** How many requests do no work now and have a limit of their own: those in the queue for hashing, or held for events. */
  countApart: () => number;
  /** 503 `unavailable`, for programs and for people. */
  unavailable: { problem: Made; page: Made };
  /** The same for logins (contract 9.49). */
  busy: { problem: Made; page: Made };
  /** Whether too many passwords are being hashed for one more login. Counts that login. */
  refusesLogin: () => boolean;
  deps: Pick<Dependencies, 'log' | 'metrics'>;
};

// The last of so many requests waits well under half a second; docs/decisions/turned-away-at-the-door.md says more.
const maxUnderWay = 200;
const logPauseMs = 1_000;

// Logins that are turned away get their answers at this pace, 200 a second. An instance can make many times that, and then has
// no processor left for those who got in.
const pace = { answers: 4, everyMs: 20 };
// The last of so many waits for five seconds. Further ones are answered at once, so that they take no memory.
const maxWaiting = 1_000;

// Until 1.1.0: with the suffix of what pages of 0.6.0 ask for.
const loginPath = /^\/login(?:\.data)?$/;
// As the form of passkeys says it, for which nothing is hashed. Who says so with a password is refused before the hashing instead.
const withPasskey = /[?&]with=passkey(?:&|$)/;

const isPasswordLogin = ({ method, url }: Request, path: string) =>
  method === 'POST' && loginPath.test(spellPlainly(path)) && !withPasskey.test(url);

/** As the routes read the path. */
function spellPlainly(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

export function createDoor(options: DoorOptions): Fetch {
  const { fetch, isUp, isDraining, countApart, unavailable, busy, refusesLogin, deps } = options;
  let underWay = 0;
  // Requests that may still wait for their body. A slow sender takes no place.
  const withBody = new Set<Peer>();
  let turnedAway = 0;

  const isFull = () => {
    const working = underWay - countApart();
    if (working < maxUnderWay) return false;
    let arriving = 0;
    for (const { isArriving } of withBody) if (isArriving?.()) arriving++;
    return working - arriving >= maxUnderWay;
  };

  const turnAway = (request: Request, { problem, page }: typeof unavailable, closes = isDraining()) => {
    const { status, headers, body } = prefersHtml(request) ? page : problem;
    return new Response(body, { status, headers: closes ? { ...headers, connection: 'close' } : headers });
  };

  const waiting: (() => void)[] = [];
  let timer: ReturnType<typeof setInterval> | undefined;
  const takeTurn = () =>
    new Promise<void>((done) => {
      waiting.push(done);
      timer ??= setInterval(() => {
        for (const answer of waiting.splice(0, pace.answers)) answer();
        if (waiting.length > 0) return;
        clearInterval(timer);
        timer = undefined;
      }, pace.everyMs);
    });
  /** Contract 9.320. */
  const turnLoginAway = async (request: Request) => {
    if (waiting.length < maxWaiting && !isDraining()) await takeTurn();
    return turnAway(request, busy, true);
  };

  // One line in the log for many requests: a line for each would be most of the work.
  const count = () => {
    deps.metrics.countTurnedAway();
    if (turnedAway++ > 0) return;
    setTimeout(() => {
      deps.log.error({ requests: turnedAway }, 'turned away: too busy');
      turnedAway = 0;
    }, logPauseMs);
  };

  return (request, peer) => {
    const path = pathOf(request.url);
    if (!isUp()) {
      if (path !== '/healthz') return turnAway(request, unavailable);
    } else if (isFull() && !isHealthPath(path)) {
      count();
      return turnAway(request, unavailable);
    } else if (isPasswordLogin(request, path) && refusesLogin()) {
      count();
      return turnLoginAway(request);
    }
    const hasBody = request.method !== 'GET' && request.method !== 'HEAD';
    if (hasBody) withBody.add(peer);
    underWay++;
    const leave = () => {
      underWay--;
      if (hasBody) withBody.delete(peer);
    };
    const answer = Promise.resolve(fetch(request, peer));
    answer.then(leave, leave);
    return answer;
  };
}
