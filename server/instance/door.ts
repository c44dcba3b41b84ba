// The door. It turns requests away before any work is done, with ready-made answers: while the service starts, and while too
// many requests are in progress. It also refuses logins while too many passwords are being hashed. So a flood of requests costs
// no more than their refusal.
import { decodeIfPossible } from '../basics/text.ts';
import type { Dependencies } from '../ground/dependencies.ts';
import type { Fetch, Made, Peer } from '../runtime/listener.ts';
import { pathOf } from '../web/incoming.ts';
import { isByPasskey, prefersHtml } from '../web/requests.ts';
import { isHealthPath } from './health.ts';

type DoorOptions = {
  fetch: Fetch;
  isUp: () => boolean;
  isDraining: () => boolean;
  /** Returns how many requests only wait and have their own limit, such as requests in the queue for hashing. */
  countApart: () => number;
  unavailable: { problem: Made; page: Made };
  /** The answers to refused logins (contract 9.246). */
  busy: { problem: Made; page: Made };
  /** Returns whether one more login must be refused, because too many passwords are being hashed. If so, counts the refusal. */
  refusesLogin: () => boolean;
  deps: Pick<Dependencies, 'log' | 'metrics'>;
};

// With 200 requests in progress, the last one waits well under half a second (docs/inside/decisions/turned-away-at-the-door.md).
const maxUnderWay = 200;
const logPauseMs = 1_000;

// The door answers 200 refused logins a second. Without this pace, refusals would leave no processor time for accepted logins.
const pace = { answers: 4, everyMs: 20 };
// With this many refused logins that wait for their answer, the last one waits five seconds. Further logins are refused
// immediately, because each waiting login takes memory.
const maxWaiting = 1_000;

const isPasswordLogin = ({ method, url }: Request, path: string) =>
  method === 'POST' && decodeIfPossible(path) === '/login' && !isByPasskey(url);

export function createDoor(options: DoorOptions): Fetch {
  const { fetch, isUp, isDraining, countApart, unavailable, busy, refusesLogin, deps } = options;
  let underWay = 0;
  // Requests whose body may still be arriving. They do not count as in progress, so slow senders cannot fill the service.
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
  /**
   * If the queue for hashing is full, refuses logins in their order of arrival, at a limited rate (contract 9.155 and
   * docs/inside/decisions/turned-away-at-the-door.md).
   */
  const turnLoginAway = async (request: Request) => {
    if (waiting.length < maxWaiting && !isDraining()) await takeTurn();
    return turnAway(request, busy, true);
  };

  // Writes one line in the log for many requests, because a line for each would be most of the work.
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
