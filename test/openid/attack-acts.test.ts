// What an administrator changes counts immediately, and nothing of what they typed is lost (contract 14.3, 14.6 and 14.91).
import { sql } from 'kysely';
import { expect, it, vi } from 'vitest';
import { readConfig } from '../../server/settings/config.ts';
import { readClientFile } from '../../server/staff/apply-clients.ts';
import { codeOf, openApp } from '../support/app/app.ts';
import { production } from '../support/app/settings.ts';
import { logIn } from '../support/app/visitor.ts';
import { addOpenIdClient, authorizePath, exchange, getCode, sentBack } from '../support/openid/client.ts';
import { addStaff, call, readOutcome, why } from '../support/people/staff.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(openApp);
const without = { code_challenge: undefined, code_challenge_method: undefined };

it('a code without a challenge is worth nothing once the row requires one (contract 14.6 and 14.32)', async () => {
  const client = await addOpenIdClient(app, { pkce: 'optional' });
  const browser = await logIn(app.send, 'customer@example.test');
  const code = await getCode(browser, client, without);
  await sql`update clients set pkce = 'required', auth = 'none' where name = ${client.name}`.execute(app.db);
  await vi.waitFor(
    async () =>
      expect(sentBack(await app.send(authorizePath(client, without))).error).toBe('invalid_request'),
    15_000,
  );
  const form = { grant_type: 'authorization_code', client_id: client.name, redirect_uri: client.redirectUri };
  const answer = await app.send('/oauth/token', { form: { ...form, code } });
  expect([answer.status, JSON.parse(answer.text).error]).toEqual([400, 'invalid_grant']);
});

it('a challenge that somebody made up in their browser is not noted as the product’s (contract 14.91)', async () => {
  const client = await addOpenIdClient(app, { pkce: 'state-only' });
  const at = async () =>
    (await app.db.selectFrom('clients').select('challenge_at').where('name', '=', client.name).execute())[0]
      ?.challenge_at;
  const browser = await logIn(app.send, 'customer@example.test');
  const code = await getCode(browser, client);
  await exchange(app, client, code, { form: { code_verifier: undefined } });
  expect(await at()).toBeNull();
  expect((await exchange(app, client, await getCode(browser, client))).status).toBe(200);
  expect(await at()).toBeInstanceOf(Date);
});

it('a row has no log-out by the link of the hand-off (contract 14.1 and 14.62)', async () => {
  const { name } = await addOpenIdClient(app, { postLogoutUris: ['https://wiki.example.test/out'] });
  for (const path of [`/logout?client=${name}`, `/logout?client=${name}&return_to=/elsewhere`]) {
    const answer = await app.send(path);
    expect([answer.status, answer.status === 404 && codeOf(answer)]).toEqual([404, 'unknown_client']);
    expect((await app.send(`/go?next=${encodeURIComponent(path)}`)).status).toBe(404);
  }
});

it('a file may name an address with a comma, as a form may (contract 13.80)', async () => {
  const deps = { config: readConfig(production), now: () => new Date(), db: undefined as never };
  const uris = ['https://desk.example.test/cb?tags=a,b', 'https://desk.example.test/two'];
  const read = async (redirect_uris: string[]) =>
    readClientFile(
      deps,
      new TextEncoder().encode(
        JSON.stringify({
          clients: [{ name: 'desk', kind: 'openid', redirect_uris, post_logout_uris: redirect_uris }],
        }),
      ),
    );
  const { entries, faults } = await read(uris);
  expect(faults).toEqual([]);
  expect(entries[0]?.facts).toMatchObject({ redirectUris: uris, postLogoutUris: uris });
  expect((await read([uris.join(' ')])).faults).toMatchObject([
    { member: 'redirect_uris' },
    { member: 'post_logout_uris' },
  ]);
});

it('a list of addresses that is too long is refused, and never cut', async () => {
  const admin = await addStaff(app);
  const [one, two] = ['http://localhost:4000/one', 'http://localhost:4000/two'];
  for (const [space, outcome] of [
    [100, '200'],
    [41_990, '422 validation_failed'],
    [43_000, '422 validation_failed'],
  ] as const) {
    const answer = await call(app, 'clients.add', admin.cookie, {
      ...{ client: `long_${space}`, kind: 'openid', why },
      redirectUris: `${one}${' '.repeat(space)}${two}`,
    });
    expect(readOutcome(answer), answer.text).toBe(outcome);
  }
});
