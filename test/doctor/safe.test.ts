// What the doctor does not do, whatever the client answers.
import { expect, it, vi } from 'vitest';
import { announce } from '../../clients/doctor/describe-report.ts';
import { examine } from '../../clients/doctor/examine.ts';
import type { Tools } from '../../clients/doctor/target.ts';
import { shared } from '../support/run/shared.ts';
import { startClients, targetOf } from './harness/clients.ts';

const clients = shared(() => startClients('typescript'));

const now = () => new Date();

function watch() {
  const asked: { url: URL; answer?: Response }[] = [];
  let underWay = 0;
  let most = 0;
  const watched = async (input: string | URL | Request, init?: RequestInit) => {
    const entry: (typeof asked)[number] = { url: new URL(String(input)) };
    asked.push(entry);
    underWay += 1;
    most = Math.max(most, underWay);
    try {
      entry.answer = await fetch(input, init);
      return entry.answer;
    } finally {
      underWay -= 1;
    }
  };
  return { fetch: watched as Tools['fetch'], asked, mostAtOnce: () => most };
}

it.each(['return_to_open', 'host_followed', 'launch_elsewhere'])(
  'it asks the client only, at %s',
  async (name) => {
    const watched = watch();
    await examine(targetOf(clients.base, name), { fetch: watched.fetch, now });
    expect(watched.asked.length).toBeGreaterThan(100);
    expect([...new Set(watched.asked.map(({ url }) => url.origin))]).toEqual([clients.base]);
  },
);

it('it sends a few requests at once, but for the sixteen with one hand-off', async () => {
  const watched = watch();
  await examine(targetOf(clients.base, 'right'), { fetch: watched.fetch, now });
  expect(watched.mostAtOnce()).toBeGreaterThanOrEqual(16);
  expect(watched.mostAtOnce()).toBeLessThanOrEqual(24);
  expect(watched.asked.length).toBeLessThan(450);
});

it('it finds the secret without a login: no session, no cookie, no nonce used up', async () => {
  const watched = watch();
  const secrets = ['wrong-one-wrong-one-wrong-one-wro', 'wrong-two-wrong-two-wrong-two-wro'];
  await examine({ ...targetOf(clients.base, 'right'), secrets }, { fetch: watched.fetch, now });
  expect(watched.asked.length).toBeGreaterThan(5);
  for (const { url, answer } of watched.asked) {
    expect(url.pathname).toBe('/right/callback');
    expect(answer?.headers.getSetCookie()).toEqual([]);
    const payload = JSON.parse(Buffer.from(url.searchParams.get('payload') ?? '', 'base64url').toString());
    expect(payload.exp).toBeLessThan(Date.now() / 1_000 - 7_000);
  }
});

it('it does not follow a login start to another site', async () => {
  const answers: Tools['fetch'] = async (input) =>
    new URL(String(input)).pathname.endsWith('/login')
      ? new Response(null, { status: 302, headers: { location: 'https://elsewhere.test/login' } })
      : fetch(input);
  const report = await examine(targetOf(clients.base, 'right'), { fetch: answers, now });
  expect(report).toMatchObject({
    verdict: 'not_examined',
    reason: 'The login start leads to https://elsewhere.test/login, and not to the launch.',
  });
});

it('it waits ten seconds for an answer, and no longer', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    let isAsked: () => void = () => undefined;
    const asked = new Promise<void>((done) => {
      isAsked = done;
    });
    const hanging: Tools['fetch'] = (_, init) => {
      isAsked();
      return new Promise((_, failed) =>
        init?.signal?.addEventListener('abort', () => failed(new Error('aborted'))),
      );
    };
    const examined = examine(targetOf(clients.base, 'right'), { fetch: hanging, now });
    await asked;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await examined).toMatchObject({
      verdict: 'not_examined',
      reason: 'The client did not answer: no answer within 10 seconds.',
    });
  } finally {
    vi.useRealTimers();
  }
});

it('it reads no more than a part of an endless answer', async () => {
  const endless: Tools['fetch'] = async (input) => {
    const answer = await fetch(input, { redirect: 'manual' });
    const body = new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(65_536).fill(97)),
    });
    return new Response(body, { status: answer.status, headers: answer.headers });
  };
  const report = await examine(targetOf(clients.base, 'right'), { fetch: endless, now });
  expect(report.findings.map(({ id }) => id)).not.toContain('crashes');
});

it('its test people are the same at each run, differ between clients, and get no mail (contract 3.32)', async () => {
  const people = async (client: string) => {
    const watched = watch();
    await examine({ ...targetOf(clients.base, 'right'), client }, { fetch: watched.fetch, now });
    const profiles = watched.asked.flatMap(({ url }) => {
      const payload = url.searchParams.get('payload') ?? '';
      try {
        return [JSON.parse(Buffer.from(payload, 'base64url').toString()).profile];
      } catch {
        return [];
      }
    });
    return profiles.filter((profile) => typeof profile?.id === 'string');
  };
  const [once, again, elsewhere] = [await people('shop'), await people('shop'), await people('shop_two')];
  const idsOf = (profiles: { id: string }[]) => new Set(profiles.map(({ id }) => id));
  expect(idsOf(once).size).toBe(4);
  expect(idsOf(again)).toEqual(idsOf(once));
  expect([...idsOf(elsewhere)].filter((id) => idsOf(once).has(id))).toEqual([]);
  for (const { id, email, role, account } of once) {
    expect(id).toMatch(/^00000000-0000-7[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(email).toMatch(/^identity-doctor[a-z-]*@shop\.invalid$/);
    expect(['customer', 'merchant', '<i>']).toContain(/<i>/.exec(role)?.[0] ?? role ?? 'customer');
    expect(['', 'identity_doctor', 'sell_products']).toContain([account.capabilities ?? []].join());
  }
});

it('one person is a merchant for a moment, with markup in the name, and the next hand-off takes that back (contract 3.40)', async () => {
  const watched = watch();
  await examine(targetOf(clients.base, 'right'), { fetch: watched.fetch, now });
  const taken = watched.asked.flatMap(({ url, answer }) =>
    url.pathname.endsWith('/callback') && answer?.headers.getSetCookie().length
      ? [JSON.parse(Buffer.from(url.searchParams.get('payload') ?? '', 'base64url').toString()).profile]
      : [],
  );
  const at = taken.findIndex(({ role }) => role === 'merchant');
  const [promoted, next] = taken.slice(at).filter(({ id }) => id === taken[at].id);
  expect(taken.filter(({ role }) => role !== 'customer')).toEqual([promoted]);
  expect(promoted).toMatchObject({
    name: expect.stringContaining('<i>'),
    account: { capabilities: ['sell_products'] },
  });
  expect(next).toMatchObject({
    role: 'customer',
    name: 'Identity doctor (newer)',
    account: { capabilities: [] },
  });
  expect(next.profile_updated_at > promoted.profile_updated_at).toBe(true);
});

it('keeps its pace, but for the sixteen with one hand-off (contract 3.38)', async () => {
  const watched = watch();
  const startedAt = performance.now();
  await examine(targetOf(clients.base, 'right'), { fetch: watched.fetch, now, pace: 6_000 });
  const seconds = (performance.now() - startedAt) / 1_000;
  expect(watched.asked.length / seconds).toBeLessThan(101);
  expect(watched.mostAtOnce()).toBeGreaterThanOrEqual(16);
});

it('it says before what it will do', () => {
  const words = announce(targetOf('https://shop.example.test', 'sso'));
  for (const part of ['Identity doctor', '.invalid', 'https://shop.example.test/sso/callback'])
    expect(words).toContain(part);
});
