// A backup brings back codes, tokens and keys that had ended. After `database:restored` none of them counts (contract 14.84).
import { expect, it, vi } from 'vitest';
import { openApp } from '../support/app/app.ts';
import { runCli } from '../support/app/cli.ts';
import { type Browser, logIn } from '../support/app/visitor.ts';
import { backUpDatabase } from '../support/database/postgres.ts';
import {
  addOpenIdClient,
  authorizePath,
  exchange,
  getCode,
  logInTo,
  readJwks,
  readUserinfo,
  sentBack,
  tokensOf,
  verifyJwt,
} from '../support/openid/client.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(openApp);
const other = shared(() => app.startInstance());

const follow = (check: () => Promise<void>) => vi.waitFor(check, { timeout: 20_000, interval: 100 });

const untilReady = () =>
  follow(async () => {
    for (const { send } of [app, other]) expect((await send('/readyz')).status).toBe(200);
  });

it('nothing that a backup brings back counts (contract 14.84)', async () => {
  const client = await addOpenIdClient(app);
  const { browser, tokens } = await logInTo(app, client);
  const code = await getCode(browser, client);
  const kids = async () => (await readJwks(app)).map(({ kid }) => kid);
  const revoked = await kids();
  const askWithHint = async (by: Browser, id_token_hint: string) => {
    const { code: made, error } = sentBack(
      await by.send(authorizePath(client, { prompt: 'none', id_token_hint })),
    );
    return made ? 'code' : error;
  };

  const backup = await backUpDatabase(app.databaseUrl);
  await untilReady();
  const rotated = await runCli(app.databaseUrl, [
    'oidc:rotate-keys',
    '--revoke',
    '--why',
    'Leaked',
    '--json',
  ]);
  const lostKey: string = JSON.parse(rotated.out).kid;
  await follow(async () => expect(await kids()).toEqual([lostKey]));
  const lost = await logInTo(app, client);
  expect((await browser.send('/logout', { form: {} })).status).toBe(303);
  await backup.restore();
  await untilReady();

  // Without the command, what was revoked counts again.
  await follow(async () => expect(await kids()).toEqual(revoked));
  expect((await readUserinfo(app, tokens.access_token)).status).toBe(200);

  const outcome = await runCli(app.databaseUrl, ['database:restored']);
  expect(outcome).toMatchObject({ code: 0, err: '' });
  for (const at of [app, other]) {
    // The row is unconfirmed, so the service offers nothing of OpenID Connect.
    await follow(async () => expect((await at.send('/oauth/jwks')).status).toBe(404));
    expect((await readUserinfo(at, tokens.access_token)).status).toBe(404);
  }
  expect(await app.db.selectFrom('oidc_grants').select('id').execute()).toEqual([]);

  const confirmed = await runCli(app.databaseUrl, ['client:confirm', client.name, '--why', 'Looked at it']);
  expect(confirmed).toMatchObject({ code: 0, err: '' });
  for (const at of [app, other]) {
    await follow(async () => expect((await at.send(authorizePath(client))).status).toBe(303));
    for (const { access_token } of [tokens, lost.tokens])
      expect((await readUserinfo(at, access_token)).status).toBe(401);
  }
  const uses = await Promise.all(
    Array.from({ length: 16 }, (_, n) => exchange(n % 2 ? app : other, client, code)),
  );
  expect(uses.map(({ status }) => status)).toEqual(Array(16).fill(400));

  const present = await kids();
  expect(present).toHaveLength(1);
  expect([...revoked, lostKey]).not.toContain(present[0]);
  const again = await logIn(app.send, 'customer@example.test');
  for (const { id_token } of [tokens, lost.tokens])
    expect(await askWithHint(again, id_token)).toBe('invalid_request');
  const { id_token } = tokensOf(await exchange(other, client, await getCode(again, client)));
  await verifyJwt(app, id_token);
  expect(await askWithHint(again, id_token)).toBe('code');
});
