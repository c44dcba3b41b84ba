// oidc:rotate-keys and database:restored (contract 14.83 and 14.84).
import { sql } from 'kysely';
import { expect, it, vi } from 'vitest';
import { openApp } from '../support/app/app.ts';
import { expectMisused, runCli } from '../support/app/cli.ts';
import {
  addOpenIdClient,
  decodeJwt,
  exchange,
  getCode,
  logInTo,
  readJwks,
  readUserinfo,
} from '../support/openid/client.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(openApp);

const run = (...args: string[]) => runCli(app.databaseUrl, args);
const why = ['--why', 'A key may have leaked'];
const kids = async () => (await readJwks(app)).map(({ kid }) => kid);
const soon = { timeout: 15_000, interval: 50 };

it('makes a key that signs at once; with --revoke all others end (contract 14.83)', async () => {
  const wiki = await addOpenIdClient(app);
  const signedBy = async () => decodeJwt((await logInTo(app, wiki)).tokens.id_token).header.kid;
  const first = await signedBy();
  const rotated = await run('oidc:rotate-keys', ...why, '--by', 'Kim', '--json');
  expect(rotated.err).toBe('');
  const { kid, ...said } = JSON.parse(rotated.out);
  expect(said).toEqual({ done: true, intent: 'rotate-keys', issuer: app.config.issuer, revoked: [] });
  await vi.waitFor(async () => expect(await signedBy()).toBe(kid), soon);
  expect(await kids()).toEqual([kid, first]);
  const revoked = await run('oidc:rotate-keys', ...why, '--revoke');
  expect([revoked.code, revoked.out]).toEqual([
    0,
    expect.stringMatching(
      /^ID tokens of \S+ are signed with the key [0-9a-f-]{36} within two seconds\. Keys that have ended: 2\.\n$/,
    ),
  ]);
  const [, third = ''] = /key ([0-9a-f-]{36})/.exec(revoked.out) ?? [];
  await vi.waitFor(async () => expect(await kids()).toEqual([third]), soon);
  expect(await signedBy()).toBe(third);
  const { rows } = await sql`select why, details - 'systemUser' as details from audit_events
    where type = 'oidc.rotated_keys' order by at`.execute(app.db);
  expect(rows).toEqual([
    { why: why[1], details: { by: 'cli', operator: 'Kim', kid, revoked: [] } },
    { why: why[1], details: expect.objectContaining({ kid: third, revoked: [kid, first] }) },
  ]);
});

it('needs a reason', async () => {
  expectMisused(await run('oidc:rotate-keys'), /--why/);
});

it('several at once with --revoke leave one key (contract 14.83)', async () => {
  const wiki = await addOpenIdClient(app);
  await Promise.all(Array.from({ length: 4 }, () => run('oidc:rotate-keys', ...why, '--revoke')));
  await vi.waitFor(async () => expect(await kids()).toHaveLength(1), soon);
  expect((await logInTo(app, wiki)).claims.aud).toBe(wiki.name);
});

it('database:restored ends codes, access tokens and keys (contract 14.84)', async () => {
  const wiki = await addOpenIdClient(app);
  const { browser, tokens } = await logInTo(app, wiki);
  const code = await getCode(browser, wiki);
  const before = await kids();
  const restored = await run('database:restored');
  expect(restored.out).toContain('the keys that sign ID tokens revoked');
  const { rows } = await sql`select from oidc_grants union all select from oidc_keys`.execute(app.db);
  expect(rows).toEqual([]);
  await sql`update clients set restores = (select count(*) from restores)`.execute(app.db);
  await vi.waitFor(async () => expect(before).not.toContain((await kids())[0]), soon);
  expect(await kids()).toHaveLength(1);
  expect((await exchange(app, wiki, code)).status).toBe(400);
  expect((await readUserinfo(app, tokens.access_token)).status).toBe(401);
});
