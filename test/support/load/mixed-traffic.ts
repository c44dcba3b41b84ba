// What people and products ask of the service all day, as random users of the bench.
import { type Asked, buildAsking, issuer } from '../../bench/population.ts';
import type { Sent } from './open-loop.ts';

export type Kind = keyof ReturnType<typeof buildAsking> | 'edit';

/** The status of a successful answer to each kind of request. */
const expected: Record<Kind, number> = {
  launch: 303,
  'first launch': 303,
  newcomer: 303,
  profile: 200,
  'hand-off': 303,
  signups: 201,
  'new signups': 201,
  edit: 200,
  login: 303,
  'page /login': 200,
  'page /profile': 200,
};

export const isDone = ({ kind, status }: { kind: string; status: number }) =>
  expected[kind as Kind] === status;

const usual: Partial<Record<Kind, number>> = {
  launch: 40,
  profile: 25,
  'hand-off': 10,
  signups: 6,
  'new signups': 3,
  edit: 6,
  login: 3,
  'page /login': 4,
  'page /profile': 3,
};

/** Returns a function that builds one request at a time. Each kind comes as often as its weight says. */
export function buildMixedTraffic(users: number, weights: Partial<Record<Kind, number>> = usual) {
  const asking = buildAsking(users);
  const all = { ...asking, edit: () => buildEdit(asking.profile()) };
  const kinds = Object.entries(weights).flatMap(([kind, weight]) => Array<Kind>(weight).fill(kind as Kind));
  return (): Asked & { kind: Kind } => {
    const kind = kinds[Math.floor(Math.random() * kinds.length)] ?? 'launch';
    return { ...all[kind](), kind };
  };
}

let edits = 0;

/** An edit of the profile by the user of that request. */
function buildEdit({ headers }: { headers: Record<string, string> }): Asked {
  return {
    method: 'POST',
    path: '/trpc/profile.update',
    headers: { ...headers, 'content-type': 'application/json', origin: issuer },
    body: JSON.stringify({ json: { name: `Edit ${edits++}`, accountName: 'Edited' } }),
  };
}

const inTimeMs = 500;

/** Returns the most requests a second that are answered in good time. Raises the load until no more requests are answered. */
export async function findPeak(
  load: (perSecond: number, seconds: number) => Promise<Sent[]>,
): Promise<number> {
  let peak = 0;
  for (let rate = 250; ; rate *= 1.4) {
    const sent = await load(rate, 3);
    const done = sent.filter((one) => isDone(one) && one.ms < inTimeMs).length / 3;
    peak = Math.max(peak, done);
    if (done < rate * 0.9) return peak;
  }
}
