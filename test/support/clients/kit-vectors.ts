// Checks the kit for TypeScript with the test vectors. vitest runs this on Node. Deno runs it as a program that prints each
// result.
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { findAttempt, startAttempt } from '../../../clients/typescript/src/attempts.ts';
import { readConfiguration } from '../../../clients/typescript/src/config.ts';
import {
  createIdentityClient,
  createMemoryStores,
  launchId,
  Refusal,
  verifyHandOff,
} from '../../../clients/typescript/src/index.ts';

const { sso } = JSON.parse(readFileSync(new URL('../../sso-vectors.json', import.meta.url), 'utf8'));
const { configuration } = sso.callbacks;

const noNonces = { consume: async () => Promise.reject(new Error('away')) };

/** The client that the vectors describe, with a clock that shows that time. */
export function buildKit(nowSeconds: number = sso.verifier.now, further: object = {}) {
  const now = () => new Date(nowSeconds * 1_000);
  const stores = createMemoryStores({ now });
  const { issuer, client, secrets, callback_url, login_url, home_url, ttl_seconds } = configuration;
  const given = {
    issuer,
    client,
    secrets,
    callbackUrl: callback_url,
    loginUrl: login_url,
    homeUrl: home_url,
    ttlSeconds: ttl_seconds,
    now,
    ...stores,
    ...further,
  };
  return { stores, given, identity: createIdentityClient(given) };
}

type Result = { name: string; isRight: boolean; was?: unknown };

export async function checkKitVectors(): Promise<Result[]> {
  const results: Result[] = [];
  const check = (name: string, was: unknown, expected: unknown) => {
    const isRight = JSON.stringify(was) === JSON.stringify(expected);
    results.push({ name, isRight, ...(!isRight && { was }) });
  };

  for (const each of listHandOffs()) {
    const { refusal = 'accepted', launch } = each;
    const { code, launchId: id } = await verify(each);
    check(`hand-off: ${each.why}`, code, refusal);
    if (launch !== undefined && refusal !== 'accepted') check(`launch id: ${each.why}`, id ?? null, launch);
  }
  check('launch id', await launchId(sso.launch.nonce), sso.launch.id);
  for (const { state, started_at, max_age, cookie } of sso.attempts) {
    const settings = readConfiguration(buildKit(started_at).given);
    const request = new Request('https://marketplace.example.test/', { headers: { cookie } });
    const expected = { startedAt: started_at, ...(max_age !== null && { maxAge: max_age }) };
    check(`attempt: ${cookie}`, await findAttempt(settings, request, state), expected);
    const { setCookies, ...made } = await startAttempt(settings, request, max_age ?? undefined);
    const [name, value = ''] = setCookies[0]?.split(/[=;]/) ?? [];
    const again = { headers: { cookie: `${name}=${value}` } };
    check(
      'attempt: found again',
      await findAttempt(settings, new Request(request, again), made.state),
      expected,
    );
  }
  for (const each of sso.callbacks.cases) check(`callback: ${each.why}`, ...(await call(each)));
  for (const each of sso.nudges.cases) {
    const { why, headers, body, method = 'POST', now, secrets = sso.nudges.secrets, status, refusal } = each;
    const { identity } = buildKit(now ?? sso.nudges.now, { secrets });
    const init = { method, headers, ...(method === 'POST' && { body }) };
    const answer = await identity.receiveNudge(new Request('https://marketplace.example.test/nudges', init));
    check(
      `nudge: ${why}`,
      [answer.status, answer.headers.get('identity-refusal')],
      [status, refusal ?? null],
    );
  }
  return results;
}

type HandOffVector = {
  why: string;
  query: string;
  refusal?: string;
  launch?: string | null;
  now?: number;
  secrets?: string[];
};

/** Returns the older vectors, in the form of the newer ones. */
function listHandOffs(): HandOffVector[] {
  const { payload, signature, verifier } = sso;
  const write = (params: Record<string, string>) => new URLSearchParams(params).toString();
  type Rejected = { why: string; refusal: string; payload: string; signature: string };
  return [
    ...sso.hand_offs,
    ...sso.rejected_signatures.map(({ why, refusal, signature: wrong }: Rejected) => ({
      why,
      refusal,
      query: write({ payload, signature: wrong }),
    })),
    ...sso.rejected_payloads.map(({ why, refusal, ...params }: Rejected) => ({
      why,
      refusal,
      query: write(params),
    })),
    ...sso.times.map(({ now, refusal }: { now: number; refusal?: string }) => ({
      why: `${now - verifier.now} s later`,
      now,
      refusal,
      query: write({ payload, signature }),
    })),
  ];
}

async function verify({
  query,
  now = sso.verifier.now,
  secrets = [sso.secret],
}: HandOffVector): Promise<{ code: string; launchId?: string | undefined }> {
  try {
    const handOff = await verifyHandOff(new URLSearchParams(query), {
      secrets,
      issuer: sso.verifier.iss,
      client: sso.verifier.aud,
      ttlSeconds: sso.verifier.ttl,
      now: new Date(now * 1_000),
    });
    const payload = new URLSearchParams(query).get('payload') ?? '';
    const said = JSON.parse(new TextDecoder().decode(Buffer.from(payload, 'base64url')));
    return { code: JSON.stringify(handOff) === JSON.stringify(said) ? 'accepted' : 'another payload' };
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

/** The result of a callback, and the expected result. */
async function call({ given, expected }: (typeof sso.callbacks.cases)[number]): Promise<[unknown, unknown]> {
  const further = {
    ...(given.secrets && { secrets: given.secrets }),
    ...(given.store_fails && { nonces: noNonces }),
  };
  const { identity, stores } = buildKit(given.now, further);
  const keepUntil = sso.verifier.now + 1_000;
  for (const nonce of given.used_nonces ?? []) await stores.nonces.consume(nonce, keepUntil);
  for (const sid of given.ended_sids ?? []) await stores.endedLogins.add(sid, keepUntil);
  let used = false;
  const { consume } = stores.nonces;
  stores.nonces.consume = async (...asked) => {
    const isNew = await consume(...asked);
    used ||= isNew;
    return isNew;
  };
  let starts = false;
  const answer = await identity.handleCallback(
    new Request(`${configuration.callback_url}?${given.query}`, {
      method: given.method,
      headers: { ...(given.cookie && { cookie: given.cookie }), ...given.headers },
    }),
    {
      isLoggedIn: () => given.logged_in,
      endSession() {},
      startSession() {
        if (given.refuses_person) throw new Refusal('person_refused', 'as the vector says');
        starts = true;
        return {};
      },
    },
  );
  const { headers } = answer;
  const was = {
    status: answer.status,
    refusal: headers.get('identity-refusal') ?? undefined,
    ...('launch' in expected && { launch: headers.get('identity-launch') }),
    location: headers.get('location') ?? undefined,
    starts_session: starts,
    uses_nonce: used,
    isPrivate:
      headers.get('cache-control') === 'no-store' && headers.get('referrer-policy') === 'no-referrer',
  };
  const { status, refusal, launch, location, starts_session, uses_nonce } = expected;
  return [was, { status, refusal, launch, location, starts_session, uses_nonce, isPrivate: true }];
}

if ('Deno' in globalThis) process.stdout.write(JSON.stringify(await checkKitVectors()));
