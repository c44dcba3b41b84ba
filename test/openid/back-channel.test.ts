// Back-channel log-outs, as two instances post them to products (contract 14.70 to 14.76).
import { sql } from 'kysely';
import { afterAll, expect, it, vi } from 'vitest';
import { findLogOutTaken } from '../../db/tables/log-outs.ts';
import { openApp } from '../support/app/app.ts';
import { scrape } from '../support/app/metrics.ts';
import { openBrowser } from '../support/app/visitor.ts';
import { fails, hangs, openBackChannel, takes } from '../support/openid/back-channel.ts';
import { addOpenIdClient, logInTo, logoutPath, verifyJwt } from '../support/openid/client.ts';
import { setRole } from '../support/openid/log-outs.ts';
import { addPerson, addSession, addStaff } from '../support/people/staff.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(openApp);
const second = shared(() => app.startInstance());

const opened: Awaited<ReturnType<typeof openBackChannel>>[] = [];
afterAll(async () => {
  for (const target of opened) await target.close();
});

async function addProduct(answering = takes, facts: Parameters<typeof addOpenIdClient>[1] = {}) {
  const target = await openBackChannel(answering);
  opened.push(target);
  const client = await addOpenIdClient(app, { ...facts, backChannelUri: target.uri });
  return { target, client };
}

type Product = Awaited<ReturnType<typeof addProduct>>;

/** Somebody who logs in at each of the products. */
async function enter(products: Product[], role: 'user' | 'admin' = 'user') {
  const person = role === 'admin' ? await addStaff(app) : await addPerson(app);
  const { cookie, sessionId } = await addSession(app, person.id);
  const browser = openBrowser(app.send, cookie);
  const logins = [];
  for (const { client } of products) logins.push(await logInTo(app, client, { browser }));
  return { ...person, browser, sessionId, logins };
}

const soon = { timeout: 15_000, interval: 20 };
const waitFor = (read: () => unknown) => vi.waitFor(() => expect(read()).toBeTruthy(), soon);
const end = (sessionId: string) =>
  sql`update sessions set ended_at = now() where id = ${sessionId}`.execute(app.db);

it('a log-out reaches each product with sub and sid, within two seconds, as Back-Channel Logout 1.0 says (contract 14.70 to 14.73)', async () => {
  const products = [await addProduct(), await addProduct()];
  const { id, browser, logins } = await enter(products);
  const [login] = logins;
  const startedAt = performance.now();
  await browser.send(logoutPath({ id_token_hint: login?.tokens.id_token }));
  await waitFor(() => products.every(({ target }) => target.received.length > 0));
  // On a busy machine, one of the log-outs may come late.
  const came = products.map(({ target }) => (target.received[0]?.at ?? 0) - startedAt);
  expect(Math.min(...came)).toBeLessThan(2_000);
  for (const [at, { target, client }] of products.entries()) {
    const [received] = target.received;
    if (!received) throw new Error('nothing was received');
    const { method, path, contentType, token } = received;
    expect([method, path, contentType]).toEqual([
      'POST',
      '/back-channel?from=identity',
      'application/x-www-form-urlencoded',
    ]);
    const { header, payload } = await verifyJwt(app, token);
    expect(header).toEqual({ alg: 'RS256', typ: 'logout+jwt', kid: header.kid });
    expect(payload).toEqual({
      ...{ iss: app.config.issuer, aud: client.name, sub: id, sid: logins[at]?.claims.sid },
      ...{ iat: payload.iat, exp: payload.iat + 120, jti: expect.stringMatching(/^[0-9a-f-]{36}$/) },
      events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
    });
    expect(Math.abs(payload.iat - Date.now() / 1_000)).toBeLessThan(30);
    const [row] = await app.db.selectFrom('clients').select('id').where('name', '=', client.name).execute();
    await vi.waitFor(
      async () => expect(await findLogOutTaken(app.db, row?.id ?? '')).toBeInstanceOf(Date),
      soon,
    );
  }
  await new Promise((done) => setTimeout(done, 1_500));
  expect(products.map(({ target }) => target.received.length)).toEqual([1, 1]);
  const labels = { client: products[0]?.client.name ?? '', result: 'taken' };
  const scrapes = [await scrape(app), await scrape(second)];
  expect(scrapes.map((each) => each.valueFor('identity_log_outs_total', labels) ?? 0).sort()).toEqual([0, 1]);
});

it('a suspension, and a role that may not enter, reach it with sub alone (contract 14.71)', async () => {
  const product = await addProduct(takes, { roles: ['admin'] });
  const [one, two] = [await enter([product], 'admin'), await enter([product], 'admin')];
  await setRole(app, two.id, 'user');
  await waitFor(() => product.target.of(two.id).length === 1);
  expect(product.target.of(two.id)[0]?.payload).not.toHaveProperty('sid');
  await sql`update users set suspended_at = now() where id = ${one.id}`.execute(app.db);
  await waitFor(() => product.target.of(one.id).length === 2);
  const sids = product.target.of(one.id).map(({ payload }) => payload.sid);
  expect(new Set(sids)).toEqual(new Set([one.logins[0]?.claims.sid, undefined]));
});

it('one that was not taken is tried again with another jti, and delays no other (contract 14.72 and 14.73)', async () => {
  const product = await addProduct((response, nth) => (nth < 3 ? fails : takes)(response, nth));
  const { id, sessionId } = await enter([product]);
  await end(sessionId);
  await waitFor(() => product.target.of(id).length === 3);
  const received = product.target.of(id);
  expect(new Set(received.map(({ payload }) => payload.jti)).size).toBe(3);
  const gaps = received.slice(1).map(({ at }, index) => at - (received[index]?.at ?? 0));
  expect(gaps[0]).toBeGreaterThanOrEqual(900);
  expect(gaps[1]).toBeGreaterThanOrEqual(1_900);
});

it('a product that hangs delays no other, and gets at most 16 at once from each instance (contract 14.77)', async () => {
  const [stuck, fine] = [await addProduct(hangs), await addProduct()];
  const { id, sessionId } = await enter([stuck, fine]);
  const { rows } = await sql<{
    id: string;
  }>`select id from clients where name = ${stuck.client.name}`.execute(app.db);
  await sql`insert into log_outs (client_id, user_id) select ${rows[0]?.id}, ${id} from generate_series(1, 200)`.execute(
    app.db,
  );
  await waitFor(() => stuck.target.received.length === 32);
  const startedAt = performance.now();
  await end(sessionId);
  await waitFor(() => fine.target.received.length === 1);
  // A try may last ten seconds.
  expect(performance.now() - startedAt).toBeLessThan(6_000);
  expect(stuck.target.received).toHaveLength(32);
  await sql`delete from log_outs where client_id = ${rows[0]?.id}`.execute(app.db);
});

it('follows no redirect, reads no body, and keeps the reason (contract 14.75)', async () => {
  const product = await addProduct((response) => {
    response.writeHead(302, { location: '/elsewhere' });
    // The body of this answer never ends.
    const timer = setInterval(() => response.write('x'.repeat(10_000)), 10);
    response.on('close', () => clearInterval(timer));
  });
  const { id, sessionId } = await enter([product]);
  await end(sessionId);
  const reasons = async () =>
    (await app.db.selectFrom('log_outs').select('failure').where('user_id', '=', id).execute()).map(
      ({ failure }) => failure,
    );
  await vi.waitFor(async () => expect(await reasons()).toEqual(['redirected']), soon);
  expect(product.target.received.map(({ path }) => path)).not.toContain('/elsewhere');
});

it('while its row is off, log-outs wait, and then come (contract 14.76)', async () => {
  const product = await addProduct();
  const { id, sessionId } = await enter([product]);
  const turn = (off: boolean) =>
    sql`update clients set off_at = ${off ? sql`now()` : sql`null`} where name = ${product.client.name}`.execute(
      app.db,
    );
  await turn(true);
  await vi.waitFor(async () => {
    const { client } = product;
    const path = `/oauth/authorize?client_id=${client.name}&redirect_uri=${client.redirectUri}`;
    expect((await app.send(path)).status).toBe(400);
  }, soon);
  // The other instance follows within two seconds.
  await new Promise((done) => setTimeout(done, 2_500));
  await end(sessionId);
  await new Promise((done) => setTimeout(done, 1_500));
  expect(product.target.received).toEqual([]);
  await turn(false);
  await waitFor(() => product.target.of(id).length === 1);
});

it('an instance that stops does not wait for a product that hangs', async () => {
  const target = await openBackChannel(hangs);
  opened.push(target);
  const alone = await openApp();
  const client = await addOpenIdClient(alone, { backChannelUri: target.uri });
  const { browser } = await logInTo(alone, client);
  await browser.send('/logout', { form: {} });
  await waitFor(() => target.received.length === 1);
  const startedAt = performance.now();
  await alone.close();
  // A try may last ten seconds.
  expect(performance.now() - startedAt).toBeLessThan(6_000);
});
