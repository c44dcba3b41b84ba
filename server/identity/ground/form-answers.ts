// Keeps the answer to a form that works one time (contract 9.287). If somebody presses twice, the browser shows only the answer
// to the second press, so that answer repeats the first one. The kept answer is sealed with a key made from all our cookies, so
// neither the database nor another browser can open it. Each page with a form gives the cookie below a new value, and an answer
// is found only by the value that came with its form. So the form works again from a new page, because what it did may have
// been undone since.
import { decodeHex, encodeHex } from 'oslo/encoding';
import { z } from 'zod';
import { Turns } from '../../../db/postgres/turns.ts';
import {
  claimForm,
  dropFormAnswer,
  findFormAnswer,
  keepFormAnswer,
} from '../../../db/tables/form-answers.ts';
import { AppError } from '../../basics/errors.ts';
import { seal, unseal } from '../../basics/sealing.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { sha256 } from '../../runtime/hash.ts';
import type { Visit } from '../../web/requests.ts';
import {
  buildTokenCookie,
  createToken,
  hashToken,
  readOtherCookies,
  readToken,
  sendsCookieLike,
} from './tokens.ts';

const cookie = 'identity_browser';
const cookieSeconds = 24 * 60 * 60;
const keepMs = 60_000;
/** A second request with the same form waits no longer than this for the answer to the first. */
const claimMs = 10_000;
const pausesMs = [30, 60, 120];
const longestPauseMs = 250;
const maxBytes = 64 * 1_024;
/**
 * At most this many requests of one browser may wait on one instance, because each waiting request keeps asking the database.
 */
const maxWaiting = 4;

const answerSchema = z.object({
  status: z.int(),
  headers: z.array(z.tuple([z.string(), z.string()])),
  body: z.string().nullable(),
  session: z.string().nullable(),
});

type Deps = Pick<Dependencies, 'config' | 'db' | 'now' | 'log'>;

type Sessions = {
  findSessionAfter: (answered: { request: Request; response: Response }) => Promise<Uint8Array | undefined>;
  isSessionLive: (tokenHash: Uint8Array) => Promise<boolean>;
};

/** Returns a `Set-Cookie` value. */
export const nameBrowser = ({ config }: Pick<Deps, 'config'>): string =>
  buildTokenCookie(config.issuer, cookie, createToken(), cookieSeconds);

export const sendsCookies = ({ config }: Pick<Deps, 'config'>, request: Request): boolean =>
  sendsCookieLike(request, config.issuer, 'identity_');

/**
 * If `worksOnce`, the same form from the same page, browser and cookies gets the same answer for a minute. A second request
 * waits for the first. If too many requests wait already, it is refused. Without `worksOnce`, a form that has done its work
 * (`isDone`) drops the browser's kept answers, because these may no longer be true.
 */
export async function answerOnce(
  deps: Deps & Sessions,
  {
    request,
    visit,
    body,
    worksOnce,
    mayEnd,
  }: { request: Request; visit: Visit; body: Uint8Array; worksOnce: boolean; mayEnd: boolean },
  act: () => Promise<{ response: Response; isDone: boolean }>,
): Promise<Response> {
  const token = readToken(request, deps.config.issuer, cookie);
  if (token === undefined) return (await act()).response;
  const browserHash = hashToken(token);
  if (!worksOnce) {
    const { response, isDone } = await act();
    // Dropping costs a write to the database. A browser without a login has no answer to drop, except on a page with a form
    // that works one time.
    if (isDone && (mayEnd || isKnown(deps, request)))
      await settle(deps, visit, dropFormAnswer(deps.db, { browserHash }));
    return response;
  }
  const others = readOtherCookies(request, deps.config.issuer, cookie);
  const key = { browserHash, formHash: hashForm(request, others, body) };
  const sealKey = sha256(`${context} ${token} ${others}`);
  const isFirst = await claimForm(deps.db, { ...key, now: deps.now(), expiresAt: later(deps, claimMs) });
  const sealed = isFirst ? undefined : await visit.deadline.pause(() => waitForAnswer(deps, key, visit));
  const answer = sealed && (await open(sealKey, sealed));
  if (answer && (await isStillTheirs(deps, answer))) return repeat(answer);
  let kept: Uint8Array | undefined;
  try {
    const { response, isDone } = await act();
    if (!isDone) return response;
    // If we cannot tell the session, the form gets its answer, but the answer is not kept.
    const session = await deps.findSessionAfter({ request, response }).catch(() => 'unknown' as const);
    const given = await read(response, session === 'unknown' ? undefined : session);
    // The page in this answer may show the form again, so the answer gives the cookie a new value.
    if (given.status === 200) given.headers.push(['set-cookie', nameBrowser(deps)]);
    const plain = new TextEncoder().encode(JSON.stringify(given));
    if (plain.length <= maxBytes && session !== 'unknown') kept = await seal([sealKey], context, plain);
    return repeat(given);
  } finally {
    if (kept)
      await settle(
        deps,
        visit,
        keepFormAnswer(deps.db, { ...key, sealed: kept, expiresAt: later(deps, keepMs) }),
      );
    else if (isFirst) await settle(deps, visit, dropFormAnswer(deps.db, key));
  }
}

/** The form gets its answer even if the row cannot be written. */
const settle = ({ log }: Deps, { requestId }: Visit, work: Promise<void>) =>
  work.catch((err) => log.error({ requestId, err }, 'the answer to a form is not kept'));

type Key = { browserHash: Uint8Array; formHash: Uint8Array };

const later = ({ now }: Pick<Deps, 'now'>, ms: number) => new Date(now().getTime() + ms);

const isKnown = ({ config }: Deps, request: Request): boolean =>
  ['identity_session', 'identity_pending_'].some((name) => sendsCookieLike(request, config.issuer, name));

const waiting = new Turns({ each: maxWaiting, maxWaiting: { all: 0, each: 0 } });

/**
 * Waits for the answer to the first request with this form. Undefined if that request did nothing or takes more than ten seconds.
 * Throws 503 `unavailable` if too many requests of the browser wait already. Holds no database connection while it waits.
 */
async function waitForAnswer(
  { db, now }: Deps,
  key: Key,
  { signal }: Visit,
): Promise<Uint8Array | undefined> {
  const find = () => findFormAnswer(db, { ...key, now: now() });
  let found = await find();
  if (!found || found.sealed) return found?.sealed ?? undefined;
  const leave = await waiting.take(encodeHex(key.browserHash));
  if (!leave) throw new AppError('unavailable', { headers: { 'Retry-After': '1' } }).asExpected();
  try {
    for (let tries = 0; found && !found.sealed; tries++) {
      await new Promise((done) => setTimeout(done, pausesMs[tries] ?? longestPauseMs));
      // If a request was canceled while it waited, it must not do the work of the form, because nobody would see the result.
      if (signal?.aborted) throw new AppError('invalid_request', { detail: 'The request was canceled.' });
      found = await find();
    }
    return found?.sealed ?? undefined;
  } finally {
    leave();
  }
}

/** If a session has ended, for example by logging out everywhere, the answers that were given in it are not shown again. */
const isStillTheirs = async ({ isSessionLive }: Sessions, { session }: Answer): Promise<boolean> =>
  session === null || isSessionLive(decodeHex(session));

function hashForm(request: Request, others: string, body: Uint8Array): Uint8Array {
  const { pathname, search } = new URL(request.url);
  const start = new TextEncoder().encode(`${pathname}${search}\n${others}\n`);
  return sha256(new Uint8Array([...start, ...body]));
}

const context = 'form answers';

type Answer = z.infer<typeof answerSchema>;

async function open(key: Uint8Array, sealed: Uint8Array): Promise<Answer | undefined> {
  const opened = await unseal([key], context, sealed);
  const read = opened && answerSchema.safeParse(JSON.parse(new TextDecoder().decode(opened.plain)));
  return read?.data;
}

const read = async (response: Response, session: Uint8Array | undefined) => ({
  status: response.status,
  headers: [...response.headers] as [string, string][],
  body: response.body && (await response.text()),
  session: session ? encodeHex(session) : null,
});

const repeat = ({ status, headers, body }: Pick<Answer, 'status' | 'headers' | 'body'>) =>
  new Response(body, { status, headers });
