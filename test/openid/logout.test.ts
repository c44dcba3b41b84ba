// /oauth/logout: a product of OpenID Connect logs this browser out (contract 14.11 and 14.60 to 14.65).
import { createHmac, createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import { sql } from 'kysely';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { makeKey, rotateKeys } from '../../server/clients/keys.ts';
import { type Answer, codeOf, locationOf, nextStopOf, openApp } from '../support/app/app.ts';
import { type Browser, logIn, textOf } from '../support/app/visitor.ts';
import {
  addOpenIdClient,
  alterJwt,
  decodeJwt,
  logInTo,
  logoutPath,
  type OpenIdClient,
  readJwks,
} from '../support/openid/client.ts';
import { shared } from '../support/run/shared.ts';

const clock = { ahead: 0 };
const app = shared(() => openApp({ now: () => new Date(Date.now() + clock.ahead) }));
const out = 'https://wiki.example.test/out';
const outWithQuery = 'https://wiki.example.test/out?lang=de';
const html = { accept: 'text/html' };

let wiki: OpenIdClient;
let desk: OpenIdClient;
beforeAll(async () => {
  wiki = await addOpenIdClient(app, { name: 'wiki', title: 'The Wiki', postLogoutUris: [out, outWithQuery] });
  desk = await addOpenIdClient(app, { name: 'desk', postLogoutUris: ['https://desk.example.test/out'] });
});

const open = async (client = wiki, email = 'customer@example.test') => logInTo(app, client, { email });
const outcomeOf = (answer: Answer) => [answer.status, answer.headers.get('location')];
const isIn = async (browser: Browser) => (await browser.whoAmI()) !== undefined;

/** Clicks the button of our page, as the person has to. Returns where the browser is after that. */
async function click(browser: Browser, asked: Answer): Promise<string> {
  const page = asked.headers.get('location') ?? '';
  expect(page).toMatch(/^\/logout(\?next=%2Foauth%2Flogout%3F|$)/);
  expect((await browser.send(page, { headers: html })).status).toBe(200);
  let answer = await browser.send(page, { form: {}, headers: html });
  for (;;) {
    const next = nextStopOf(answer);
    if (!next) throw new Error(`stopped at ${answer.status}: ${answer.text.slice(0, 200)}`);
    if (!next.startsWith('/') || next.startsWith('/login')) return next;
    answer = await browser.send(next, { headers: html });
  }
}

describe('with an ID token of this session', () => {
  it('the session ends without a question, and the browser goes to a registered address with state (contract 14.61 and 14.62)', async () => {
    const { browser, tokens } = await open();
    const answer = await browser.send(
      logoutPath({ id_token_hint: tokens.id_token, post_logout_redirect_uri: out, state: 'a b&c=é' }),
    );
    expect(outcomeOf(answer)).toEqual([303, `${out}?state=a+b%26c%3D%C3%A9`]);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
    expect(answer.headers.get('clear-site-data')).toBe('"cache"');
    expect(await isIn(browser)).toBe(false);
  });

  it('the query of the address is kept, and client_id may be there, too', async () => {
    const { browser, tokens } = await open();
    const query = {
      id_token_hint: tokens.id_token,
      client_id: 'wiki',
      post_logout_redirect_uri: outWithQuery,
      state: 's',
    };
    expect(outcomeOf(await browser.send(logoutPath(query)))).toEqual([303, `${outWithQuery}&state=s`]);
  });

  it('that has expired, or was signed by a key that another one has followed, the session ends, too (contract 14.61 and 14.82)', async () => {
    const { browser, tokens } = await open();
    const key = await makeKey(app.config, new Date());
    await inTransaction(app.db, { by: 'service', cause: 'test' }, (trx) =>
      rotateKeys(trx, app.config, key, { revokes: false }),
    );
    await vi.waitFor(async () => expect(await readJwks(app)).toHaveLength(2), 15_000);
    clock.ahead = 10 * 24 * 60 * 60 * 1_000;
    expect((await readJwks(app)).map(({ kid }) => kid)).toEqual([key.kid]);
    const answer = await browser.send(logoutPath({ id_token_hint: tokens.id_token }));
    clock.ahead = 0;
    expect(outcomeOf(answer)).toEqual([303, '/login?logged_out']);
    expect(await isIn(browser)).toBe(false);
  });

  it('without an address, the browser goes to the page that says so (contract 14.64)', async () => {
    const { browser, tokens } = await open();
    const answer = await browser.send(
      logoutPath({ id_token_hint: tokens.id_token, state: 'ignored', logout_hint: '' }),
    );
    expect(outcomeOf(answer)).toEqual([303, '/login?logged_out']);
    expect(textOf(await browser.send('/login?logged_out', { headers: html }))).toContain('logged out');
  });

  it('16 at once end it once, and all go on', async () => {
    const { browser, tokens, claims } = await open();
    const path = logoutPath({ id_token_hint: tokens.id_token, post_logout_redirect_uri: out });
    const cookie = browser.cookie();
    const before = await countLogouts(claims.sub);
    const answers = await Promise.all(Array.from({ length: 16 }, () => app.send(path, { cookie })));
    expect(answers.map(outcomeOf)).toEqual(Array(16).fill([303, out]));
    expect(await countLogouts(claims.sub)).toBe(before + 1);
    const { rows: events } =
      await sql`select from events where type = 'session.ended' and body ->> 'sid' = ${claims.sid}`.execute(
        app.db,
      );
    expect(events).toHaveLength(1);
  });
});

async function countLogouts(userId: string): Promise<number> {
  const { rows } = await sql<{ n: number }>`select count(*)::int as n from audit_events
    where type = 'logout' and user_id = ${userId}`.execute(app.db);
  return rows[0]?.n ?? 0;
}

describe('the page asks (contract 14.61)', () => {
  it('without an ID token, and then leads through /go to the address of client_id (contract 14.19, 14.62 and 14.130)', async () => {
    const { browser } = await open();
    const asked = await browser.send(
      logoutPath({
        client_id: 'wiki',
        post_logout_redirect_uri: out,
        state: 'a b',
        ui_locales: 'de',
        unknown: 'x',
      }),
    );
    expect(await isIn(browser)).toBe(true);
    expect(textOf(await browser.send(locationOf(asked).href, { headers: html }))).toContain('The Wiki');
    // After Back, a browser sends no `Sec-Fetch-User`, and /go waits for a click.
    const way = locationOf(asked).searchParams.get('next') ?? '';
    const back = await browser.send(`/login?next=${encodeURIComponent(way)}`, {
      headers: { 'sec-fetch-mode': 'navigate' },
    });
    const go = await browser.send(locationOf(back).pathname + locationOf(back).search, { headers: html });
    expect([locationOf(back).pathname, go.status, go.headers.get('refresh')]).toEqual(['/go', 200, null]);
    expect(go.text).toContain(`href="${way.replaceAll('&', '&amp;')}"`);
    expect(await click(browser, asked)).toBe(`${out}?state=a+b`);
    expect(await isIn(browser)).toBe(false);
  });

  it('and keeps a state that has signs as they are', async () => {
    const { browser } = await open();
    const path = `${logoutPath({ client_id: 'wiki', post_logout_redirect_uri: out })}&state=a\\b'(;,)`;
    expect(await click(browser, await browser.send(path))).toBe(
      `${out}?${new URLSearchParams({ state: "a\\b'(;,)" })}`,
    );
  });

  it('without anything, and then says that the person is logged out', async () => {
    const { browser } = await open();
    expect(await click(browser, await browser.send('/oauth/logout'))).toBe('/login?logged_out');
  });

  it('in another browser, with the ID token of somebody else or of another session, which stays out of every address (contract 14.66)', async () => {
    const { tokens } = await open();
    for (const email of ['merchant@example.test', 'customer@example.test']) {
      const other = await logIn(app.send, email);
      const asked = await other.send(
        logoutPath({ id_token_hint: tokens.id_token, post_logout_redirect_uri: out, state: 's' }),
      );
      expect(asked.headers.get('location')).not.toContain(tokens.id_token);
      expect(await isIn(other)).toBe(true);
      expect(await click(other, asked)).toBe(`${out}?state=s`);
    }
  });

  it('with the longest query there is, and still leads on', async () => {
    const { browser } = await open();
    const state = 'é'.repeat(1_200);
    const path = logoutPath({ client_id: 'wiki', post_logout_redirect_uri: out, state });
    expect(path.length).toBeGreaterThan(7_200);
    expect(path.length).toBeLessThan(8_000);
    expect(await click(browser, await browser.send(path))).toBe(`${out}?${new URLSearchParams({ state })}`);
  });

  it('and nothing that was typed into its address leads to another site', async () => {
    const { browser } = await open();
    const nexts = [
      'https://evil.example.test/',
      '//evil.example.test/oauth/logout?client_id=wiki',
      '/oauth/logout?client_id=wiki&post_logout_redirect_uri=https://evil.example.test/',
      `/oauth/logout?client_id=desk&post_logout_redirect_uri=${out}`,
      `/oauth/logout?client_id=wiki&post_logout_redirect_uri=${out}&post_logout_redirect_uri=https://evil.example.test/`,
      `/oauth/logout/../logout?client_id=wiki&post_logout_redirect_uri=${out}@evil.example.test`,
    ];
    for (const next of nexts) {
      const path = `/logout?next=${encodeURIComponent(next)}`;
      const page = await browser.send(path, { headers: html });
      expect(page.text).not.toContain('evil.example.test"');
      const posted = await app.send(path, { form: {}, headers: html });
      expect(posted.headers.get('location') ?? '/').not.toMatch(/^(?!\/)|^\/\//);
      expect(
        (await app.send(`/go?next=${encodeURIComponent(next)}`, { headers: html })).headers.get('refresh'),
      ).toBeNull();
    }
    expect(await isIn(browser)).toBe(true);
  });
});

describe('nobody is logged in', () => {
  it.each([
    ['a right ID token', true],
    ['client_id alone', false],
  ])('with %s, the browser goes on at once (contract 14.65)', async (_, hinted) => {
    const { tokens } = await open();
    const hint = hinted ? { id_token_hint: tokens.id_token } : { client_id: 'wiki' };
    const path = logoutPath({ ...hint, post_logout_redirect_uri: out, state: 's' });
    expect(outcomeOf(await app.send(path))).toEqual([303, `${out}?state=s`]);
  });
});

const other = generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey;

function signed(token: string, header: object, by: (text: string) => Buffer | string): string {
  const text = alterJwt(token, {}, header as Record<string, unknown>)
    .split('.')
    .slice(0, 2)
    .join('.');
  const signature = by(text);
  return `${text}.${typeof signature === 'string' ? signature : signature.toString('base64url')}`;
}

/** Each function changes a correct ID token into one that must not count. */
const forgeries: Record<string, (token: string) => Promise<string> | string> = {
  'with another person': (token) => alterJwt(token, { sub: '0190f5a0-0000-7000-8000-000000000001' }),
  'for another client': (token) => alterJwt(token, { aud: 'desk' }),
  'unsigned, alg none': (token) => signed(token, { alg: 'none' }, () => ''),
  'signed by HS256 with the public key': async (token) => {
    const jwk = (await readJwks(app)).find(({ kid }) => kid === decodeJwt(token).header.kid);
    const pem = createPublicKey({ key: jwk as never, format: 'jwk' }).export({ type: 'spki', format: 'pem' });
    return signed(token, { alg: 'HS256' }, (text) => createHmac('sha256', pem).update(text).digest());
  },
  'signed by another key, with our kid': (token) =>
    signed(token, {}, (text) => sign('sha256', Buffer.from(text), other)),
  'signed by another key, which it brings': (token) =>
    signed(token, { jwk: createPublicKey(other).export({ format: 'jwk' }) }, (text) =>
      sign('sha256', Buffer.from(text), other),
    ),
  'with the kid of another issuer': (token) =>
    alterJwt(token, {}, { kid: '0190f5a0-0000-7000-8000-000000000002' }),
  'with no kid': (token) => alterJwt(token, {}, { kid: undefined }),
  'cut off': (token) => token.slice(0, -10),
  'no token at all': () => 'hint',
};

describe('is a page, nothing ends, and nothing is asked (contract 14.63)', () => {
  it.each(Object.entries(forgeries))('if the ID token is %s', async (_, forge) => {
    const { browser, tokens } = await open();
    const hint = await forge(tokens.id_token);
    for (const who of [browser.send, app.send]) {
      for (const address of [out, undefined]) {
        const answer = await who(logoutPath({ id_token_hint: hint, post_logout_redirect_uri: address }));
        expect([answer.status, codeOf(answer)]).toEqual([400, 'invalid_request']);
      }
    }
    expect(await isIn(browser)).toBe(true);
  });

  const hinted = (token: string) => ({ id_token_hint: token });
  const wrong: Record<string, (token: string) => Record<string, string> | string> = {
    'an address that is not registered': (token) => ({
      ...hinted(token),
      post_logout_redirect_uri: `${out}/`,
    }),
    'an address in another spelling': () => ({
      client_id: 'wiki',
      post_logout_redirect_uri: 'https://WIKI.example.test/out',
    }),
    'an address with more at its end': () => ({
      client_id: 'wiki',
      post_logout_redirect_uri: `${out}?lang=en`,
    }),
    'an address of another client': (token) => ({
      ...hinted(token),
      post_logout_redirect_uri: 'https://desk.example.test/out',
    }),
    'an address and no client': () => ({ post_logout_redirect_uri: out }),
    'a client_id that is not the aud': (token) => ({ ...hinted(token), client_id: 'desk' }),
    'an unknown client_id': () => ({ client_id: 'nobody' }),
    'a client_id of the hand-off': () => ({ client_id: 'marketplace', post_logout_redirect_uri: out }),
    'a client_id in another spelling': () => ({ client_id: 'WIKI' }),
    'an empty parameter': (token) => ({ ...hinted(token), state: '' }),
    'an empty hint': () => ({ id_token_hint: '' }),
    'a repeated parameter': () => `?client_id=wiki&post_logout_redirect_uri=${out}&state=a&state=b`,
    'a repeated address': () =>
      `?client_id=wiki&post_logout_redirect_uri=${out}&post_logout_redirect_uri=${out}`,
  };
  it.each(Object.entries(wrong))('for %s (contract 14.60)', async (_, ask) => {
    const { browser, tokens } = await open();
    const asked = ask(tokens.id_token);
    const path = typeof asked === 'string' ? `/oauth/logout${asked}` : logoutPath(asked);
    const answer = await browser.send(path);
    expect([answer.status, codeOf(answer)]).toEqual([400, 'invalid_request']);
    expect((await browser.send(path, { headers: html })).headers.get('content-type')).toContain('text/html');
    expect(await isIn(browser)).toBe(true);
  });

  it('for a query that is too long (contract 14.21)', async () => {
    const answer = await app.send(logoutPath({ client_id: 'wiki', state: 'a'.repeat(8_000) }));
    expect([answer.status, codeOf(answer)]).toEqual([414, 'uri_too_long']);
  });
});

describe('POST', () => {
  const cross = { 'sec-fetch-site': 'cross-site', origin: 'https://wiki.example.test' };

  it('from another site is 303 to the same path, reads no cookie and changes nothing (contract 14.11)', async () => {
    const { browser, tokens } = await open();
    const form = { id_token_hint: tokens.id_token, post_logout_redirect_uri: out };
    const answer = await browser.send('/oauth/logout?client_id=ignored', { form, headers: cross });
    expect(outcomeOf(answer)).toEqual([303, logoutPath(form)]);
    expect(await isIn(browser)).toBe(true);
    expect(outcomeOf(await browser.send(locationOf(answer).href))).toEqual([303, out]);
    expect(await isIn(browser)).toBe(false);
  });

  it('that is too long is 414, and one that is no form is 415', async () => {
    const long = await app.send('/oauth/logout', { form: { state: 'é'.repeat(2_000) }, headers: cross });
    expect([long.status, codeOf(long)]).toEqual([414, 'uri_too_long']);
    const json = await app.send('/oauth/logout', { json: {}, headers: cross });
    expect(json.status).toBe(415);
  });
});

it('a HEAD or a prefetch is 204 and ends nothing (contract 14.18)', async () => {
  const { browser, tokens } = await open();
  const path = logoutPath({ id_token_hint: tokens.id_token, post_logout_redirect_uri: out });
  expect((await browser.send(path, { method: 'HEAD' })).status).toBe(204);
  expect((await browser.send(path, { headers: { 'sec-purpose': 'prefetch' } })).status).toBe(204);
  expect(await isIn(browser)).toBe(true);
});

it('the query is never logged, and the page that asks has no ID token in it (contract 14.17)', async () => {
  const { browser, tokens } = await open();
  await browser.send(logoutPath({ id_token_hint: tokens.id_token, state: 'canary-of-the-query' }));
  expect(JSON.stringify(app.logged)).not.toMatch(/canary-of-the-query|eyJ/);
});

it('an ID token for a client that was turned off, or signed by a revoked key, is none that counts (contract 14.63 and 14.83)', async () => {
  const gone = await addOpenIdClient(app, { postLogoutUris: [] });
  const { browser, tokens } = await open(gone);
  const atDesk = await logInTo(app, desk, { browser });
  await sql`update clients set off_at = now() where name = ${gone.name}`.execute(app.db);
  const ask = async (token: string, by = app.send) => (await by(logoutPath({ id_token_hint: token }))).status;
  await vi.waitFor(async () => expect(await ask(tokens.id_token)).toBe(400), 15_000);
  expect(await ask(tokens.id_token, browser.send)).toBe(400);
  expect(await isIn(browser)).toBe(true);
  const key = await makeKey(app.config, new Date());
  await inTransaction(app.db, { by: 'service', cause: 'test' }, (trx) =>
    rotateKeys(trx, app.config, key, { revokes: true }),
  );
  await vi.waitFor(
    async () => expect((await readJwks(app)).map(({ kid }) => kid)).toEqual([key.kid]),
    15_000,
  );
  expect(await ask(atDesk.tokens.id_token, browser.send)).toBe(400);
  expect(await isIn(browser)).toBe(true);
});

it('while no client of this kind is on, it is 404 not_configured with no-store (contract 14.2)', async () => {
  await sql`update clients set off_at = now() where off_at is null`.execute(app.db);
  for (const options of [{}, { form: {} }]) {
    await vi.waitFor(async () => {
      const answer = await app.send('/oauth/logout', options);
      expect([answer.status, codeOf(answer)]).toEqual([404, 'not_configured']);
      expect(answer.headers.get('cache-control')).toBe('no-store');
    }, 15_000);
  }
});
