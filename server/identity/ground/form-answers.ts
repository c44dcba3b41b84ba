// What a form that works once has answered, for the same form from the same browser (contract 9.285 to 9.289): on a slow network
// people press twice, and the browser shows the answer to the second request only.
//
// The row is found by the hash of the browser cookie, and its answer is sealed with a key made from that cookie. So the database
// alone opens none, and no other browser gets one.
import { z } from 'zod';
import {
  claimForm,
  dropFormAnswer,
  findFormAnswer,
  keepFormAnswer,
} from '../../../db/tables/form-answers.ts';
import type { Visit } from '../../http/requests.ts';
import type { Dependencies } from '../../instance/dependencies.ts';
import { sha256 } from '../../runtime/hash.ts';
import { seal, unseal } from './sealing.ts';
import { buildTokenCookie, createToken, hashToken, readToken, sendsCookieLike } from './tokens.ts';

const cookie = 'identity_browser';
const cookieSeconds = 24 * 60 * 60;
const keepMs = 60_000;
/** For how long the first request may take before the second does not wait for it any more. */
const claimMs = 10_000;
const pausesMs = [30, 60, 120];
const longestPauseMs = 250;
const maxBytes = 64 * 1_024;

const answerSchema = z.object({
  status: z.int(),
  headers: z.array(z.tuple([z.string(), z.string()])),
  body: z.string().nullable(),
  /** Of the scripts in the page: each answer has its own. */
  nonce: z.string(),
});

type Deps = Pick<Dependencies, 'config' | 'db' | 'now' | 'log'>;

/** The `Set-Cookie` value that gives the browser its cookie, or undefined if it has one. */
export const nameBrowser = ({ config }: Pick<Deps, 'config'>, request: Request): string | undefined =>
  readToken(request, config.issuer, cookie) === undefined
    ? buildTokenCookie(config.issuer, cookie, createToken(), cookieSeconds)
    : undefined;

/** Whether the browser keeps our cookies: it has sent one of them. */
export const sendsCookies = ({ config }: Pick<Deps, 'config'>, request: Request): boolean =>
  sendsCookieLike(request, config.issuer, 'identity_');

/**
 * Answers a posted form by `act`, whose result says whether the form has done what it is for. If `worksOnce`, the same form from
 * the same browser gets the same answer for a minute, and waits for it while `act` is at work. Any other form that the browser
 * sends ends that.
 */
export async function answerOnce(
  deps: Deps,
  {
    request,
    visit,
    body,
    worksOnce,
  }: { request: Request; visit: Visit; body: Uint8Array; worksOnce: boolean },
  act: () => Promise<{ response: Response; isDone: boolean }>,
): Promise<Response> {
  const token = readToken(request, deps.config.issuer, cookie);
  if (token === undefined) return (await act()).response;
  const browserHash = hashToken(token);
  if (!worksOnce) {
    const { response, isDone } = await act();
    if (isDone) await settle(deps, visit, dropFormAnswer(deps.db, { browserHash }));
    return response;
  }
  const key = { browserHash, formHash: hashForm(request, body) };
  const isFirst = await claimForm(deps.db, { ...key, now: deps.now(), expiresAt: later(deps, claimMs) });
  const sealed = isFirst ? undefined : await visit.deadline.pause(() => waitForAnswer(deps, key));
  const answer = sealed && (await open(token, sealed));
  if (answer) return repeat(answer, visit);
  let kept: Uint8Array | undefined;
  try {
    const { response, isDone } = await act();
    if (!isDone) return response;
    const given = await read(response, visit);
    const plain = new TextEncoder().encode(JSON.stringify(given));
    if (plain.length <= maxBytes) kept = await seal([keyOf(token)], context, plain);
    return build(given.status, given.headers, given.body);
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

/** The form is answered, whatever becomes of the row. */
const settle = ({ log }: Deps, { requestId }: Visit, work: Promise<void>) =>
  work.catch((err) => log.error({ requestId, err }, 'the answer to a form is not kept'));

type Key = { browserHash: Uint8Array; formHash: Uint8Array };

const later = ({ now }: Pick<Deps, 'now'>, ms: number) => new Date(now().getTime() + ms);

/** The answer to the first, or undefined if it did nothing, or has not come in time. Holds no connection meanwhile. */
async function waitForAnswer({ db, now }: Deps, key: Key): Promise<Uint8Array | undefined> {
  for (let tries = 0; ; tries++) {
    const found = await findFormAnswer(db, { ...key, now: now() });
    if (!found || found.sealed) return found?.sealed ?? undefined;
    await new Promise((done) => setTimeout(done, pausesMs[tries] ?? longestPauseMs));
  }
}

/** Names the form by where it was sent and what it holds. A script of the page sends it to a path of its own. */
function hashForm(request: Request, body: Uint8Array): Uint8Array {
  const { pathname, search } = new URL(request.url);
  const start = new TextEncoder().encode(`${pathname}${search}\n`);
  return sha256(new Uint8Array([...start, ...body]));
}

const context = 'form answers';
const keyOf = (token: string) => sha256(`${context} ${token}`);

type Answer = z.infer<typeof answerSchema>;

async function open(token: string, sealed: Uint8Array): Promise<Answer | undefined> {
  const opened = await unseal([keyOf(token)], context, sealed);
  const read = opened && answerSchema.safeParse(JSON.parse(new TextDecoder().decode(opened.plain)));
  return read?.data;
}

const read = async (response: Response, { cspNonce }: Visit): Promise<Answer> => ({
  status: response.status,
  headers: [...response.headers] as [string, string][],
  body: response.body && (await response.text()),
  nonce: cspNonce,
});

const repeat = ({ status, headers, body, nonce }: Answer, { cspNonce }: Visit) =>
  build(status, headers, nonce && body ? body.replaceAll(nonce, cspNonce) : body);

const build = (status: number, headers: [string, string][], body: string | null) =>
  new Response(body, { status, headers });
