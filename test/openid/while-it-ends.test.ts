// A login at a product while its session or its person goes away: the answer is one of the contract, never a fault of ours.
import { sql } from 'kysely';
import { beforeAll, expect, it, vi } from 'vitest';
import { type Answer, locationOf, openApp, type TestApp } from '../support/app/app.ts';
import {
  addOpenIdClient,
  authorizePath,
  exchange,
  getCode,
  type OpenIdClient,
  readUserinfo,
  sentBack,
  tokensOf,
} from '../support/openid/client.ts';
import { addPerson, addSession } from '../support/people/staff.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(openApp);
let client: OpenIdClient;
beforeAll(async () => {
  client = await addOpenIdClient(app);
});

async function open() {
  const person = await addPerson(app);
  const { cookie, sessionId } = await addSession(app, person.id);
  const send: TestApp['send'] = (path, options) => app.send(path, { ...options, cookie });
  return { userId: person.id, sessionId, send };
}

/**
 * Sends a request while another transaction has done `work`. The transaction commits when the request waits for it or is
 * answered.
 */
const askWhile = (work: ReturnType<typeof sql>, ask: () => Promise<Answer>): Promise<Answer> =>
  app.db
    .transaction()
    .execute(async (trx) => {
      await work.execute(trx);
      let isAnswered = false;
      const answer = ask().finally(() => {
        isAnswered = true;
      });
      await vi.waitFor(
        async () => {
          const { rows } = await sql`select from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`.execute(app.db);
          expect(isAnswered || rows.length > 0).toBe(true);
        },
        { timeout: 15_000, interval: 20 },
      );
      // The caller gets a promise in an object, so that the transaction does not wait for the answer.
      return { answer };
    })
    .then(({ answer }) => answer);

const ends: [name: string, by: (ids: { userId: string; sessionId: string }) => ReturnType<typeof sql>][] = [
  ['is erased', ({ userId }) => sql`delete from users where id = ${userId}`],
  ['is suspended', ({ userId }) => sql`update users set suspended_at = now() where id = ${userId}`],
  ['is logged out', ({ sessionId }) => sql`update sessions set ended_at = now() where id = ${sessionId}`],
];

it.each(ends)(
  'nobody gets a token by a code that is made while the person %s (Contract 14.58)',
  async (_, by) => {
    for (const prompt of [undefined, 'none']) {
      const { send, ...ids } = await open();
      const answer = await askWhile(by(ids), () => send(authorizePath(client, { prompt })));
      expect(answer.status).toBe(303);
      const { code, error } = sentBack(answer);
      if (code) expect((await exchange(app, client, code)).status).toBe(400);
      else if (prompt) expect(error).toBe('login_required');
      else expect(locationOf(answer).pathname).toBe('/login');
    }
  },
);

it.each(ends)('no token lives that is made while the person %s (Contract 14.47 and 14.58)', async (_, by) => {
  const { send, ...ids } = await open();
  const code = await getCode({ send }, client);
  const answer = await askWhile(by(ids), () => exchange(app, client, code));
  if (answer.status === 200)
    expect((await readUserinfo(app, tokensOf(answer).access_token)).status).toBe(401);
  else expect([answer.status, JSON.parse(answer.text).error]).toEqual([400, 'invalid_grant']);
  expect((await exchange(app, client, code)).status).toBe(400);
});
