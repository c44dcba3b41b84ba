// Measures how far the client's clock is off, by trying which times of a hand-off the client accepts. This uses up no nonce,
// and changes no session and no person.
import { createNonce } from '../../server/sso/envelope.ts';
import { type Exam, makeFor, newBrowser, nowSeconds } from './exam.ts';

const leewaySeconds = 30;
/** Ten years, in seconds. */
const farthest = 315_360_000;

export type Verdict = 'early' | 'current' | 'late';

/**
 * How many seconds the client's clock is ahead of ours. Undefined if the client's refusals do not say whether a hand-off is too
 * early or too late.
 */
export async function measureClock(exam: Exam): Promise<number | undefined> {
  const judge = (ahead: number) => judgeTime(exam, ahead);
  const first = await judge(0);
  if (first === undefined) return undefined;
  if (first === 'current') return findEdge(judge, 0);
  // The steps get longer in the direction in which the client's clock is off. After one step has gone too far, each further
  // step halves the range that is left.
  const sign = first === 'late' ? 1 : -1;
  let near = 0;
  let far = 60;
  let verdict = await judge(sign * far);
  while (verdict === first && far < farthest) {
    near = far;
    far *= 4;
    verdict = await judge(sign * far);
  }
  while (verdict !== 'current' && verdict !== undefined && far - near > 1) {
    const middle = Math.floor((near + far) / 2);
    verdict = await judge(sign * middle);
    if (verdict === first) near = middle;
    else if (verdict !== 'current') far = middle;
    else return findEdge(judge, sign * middle);
  }
  return verdict === 'current' ? findEdge(judge, sign * far) : undefined;
}

/**
 * Returns how many seconds the client's clock is ahead: the latest time that the client accepts, less 30 seconds. `current` is
 * a time that the client accepts.
 */
async function findEdge(
  judge: (ahead: number) => Promise<Verdict | undefined>,
  current: number,
): Promise<number> {
  let taken = current;
  // The client must refuse this time as too early, even if its hand-offs last for an hour.
  let refused = current + 3_600 + 2 * leewaySeconds + 1;
  while (refused - taken > 1) {
    const middle = Math.floor((taken + refused) / 2);
    if ((await judge(middle)) === 'early') refused = middle;
    else taken = middle;
  }
  return taken - leewaySeconds;
}

/**
 * What the client says about a hand-off issued `ahead` seconds from now. `early`: it was issued in the future. `late`: it has
 * expired.
 */
async function judgeTime(exam: Exam, ahead: number): Promise<Verdict | undefined> {
  const issuedAt = nowSeconds(exam) + ahead;
  const handOff = await makeFor(
    exam,
    { state: createNonce() },
    {
      changes: {
        members: (payload) => {
          payload.iat = issuedAt;
          payload.exp = issuedAt + exam.target.ttlSeconds;
        },
      },
    },
  );
  const { code } = await exam.logins.open(newBrowser(exam), handOff);
  if (code === 'issued_in_future') return 'early';
  if (code === 'expired') return 'late';
  return code === 'state_unknown' ? 'current' : undefined;
}

/** Describes the clock in words, such as "3 minutes fast". */
export function describeClock(ahead: number): string {
  const seconds = Math.abs(ahead);
  const [size, unit] =
    seconds >= 7_200 ? [3_600, 'hours'] : seconds >= 120 ? [60, 'minutes'] : [1, 'seconds'];
  return `${Math.round(seconds / size)} ${unit} ${ahead > 0 ? 'fast' : 'slow'}`;
}
