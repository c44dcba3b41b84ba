// How operators add, change and move clients of OpenID Connect (contract 14.8, 14.96 and 14.98).
import { sql } from 'kysely';
import { beforeEach, expect, it } from 'vitest';
import { keepLocalClients, readLocalClients } from '../../server/clients/local.ts';
import { openApp } from '../support/app/app.ts';
import { expectMisused, expectRefused, runCli } from '../support/app/cli.ts';
import { listAudit, newPath, readSecrets, writeClients } from '../support/app/client-files.ts';
import { shared, sharedFolder } from '../support/run/shared.ts';

const app = shared(openApp);
const folder = await sharedFolder();
const why = ['--why', 'bought', '--by', 'Olga'];
const run = (...args: string[]) => runCli(app.databaseUrl, [...args, ...why]);
const show = (...args: string[]) => runCli(app.databaseUrl, args);
const site = 'http://localhost:3000';
const uri = `${site}/cb`;

beforeEach(async () => {
  for (const table of ['clients', 'audit_events', 'mails'])
    await sql`delete from ${sql.table(table)}`.execute(app.db);
});

const read = async () =>
  (
    await sql`select name, kind, callback_url, redirect_uris, post_logout_uris, back_channel_uri, pkce, auth, roles
      from clients order by name`.execute(app.db)
  ).rows;

it('are added and changed by options that may be repeated (contract 14.8)', async () => {
  const added = await run(
    ...['client:add', 'desk', '--kind', 'openid', '--redirect-uri', uri, '--redirect-uri', `${site}/two`],
    ...['--post-logout-uri', `${site}/bye`, '--post-logout-uri', site, '--back-channel-uri', `${site}/back`],
    ...['--pkce', 'optional', '--auth', 'secret'],
  );
  expect([added.code, added.err]).toEqual([0, '']);
  expect(added.out).toMatch(/^Client desk is added\. Its secret is shown only now: idsec_\S{49}\n$/);
  const facts = {
    ...{ name: 'desk', kind: 'openid', callback_url: uri, redirect_uris: [uri, `${site}/two`] },
    ...{ post_logout_uris: [`${site}/bye`, site], back_channel_uri: `${site}/back` },
    ...{ pkce: 'optional', auth: 'secret', roles: ['admin'] },
  };
  expect(await read()).toEqual([facts]);
  const args = ['--redirect-uri', `${site}/three`, '--post-logout-uri', 'none', '--back-channel-uri', 'none'];
  const set = await run('client:set', 'desk', ...args, '--pkce', 'required', '--auth', 'none');
  expect(set).toMatchObject({ code: 0, err: '', out: 'Client desk is changed.\n' });
  const now = {
    ...{ redirect_uris: [`${site}/three`], post_logout_uris: [], back_channel_uri: null },
    ...{ pkce: 'required', auth: 'none' },
  };
  expect(await read()).toEqual([{ ...facts, ...now, callback_url: `${site}/three` }]);
  expect((await show('clients')).out).toMatch(
    /^desk\n(?: {2}.*\n)* {2}Redirects to {2}http:\/\/localhost:3000\/three\n/m,
  );
  const [listed] = JSON.parse((await show('clients', '--json')).out).filter(
    ({ client }: { client: string }) => client === 'desk',
  );
  // Contract 14.96.
  expect(listed.row).toMatchObject({ state: 'on', kind: 'openid', ...now });
  // Contract 14.98.
  expect(await show('doctor', 'desk')).toMatchObject({
    code: 2,
    err: expect.stringContaining('OpenID Connect'),
  });
});

it.each([
  [['client:add', 'desk', '--kind', 'openid'], /--redirect-uri: Enter at least one/],
  [
    ['client:add', 'desk', '--kind', 'openid', '--callback', uri],
    /--callback: Only clients of the kind hand-off/,
  ],
  [['client:add', 'desk', '--callback', uri, '--redirect-uri', uri], /--redirect-uri: Only .* openid/],
  [['client:add', 'desk', '--kind', 'openid', '--redirect-uri', uri, '--redirect-uri', ''], /Enter a value/],
  [['client:add', 'desk', '--kind', 'openid', '--redirect-uri', `${uri}?code=1`], /must not have code/],
  [
    ['client:add', 'desk', '--kind', 'openid', '--redirect-uri', uri, '--pkce', 'no'],
    /required, optional, state-only/,
  ],
  [
    ['client:add', 'desk', '--kind', 'openid', '--redirect-uri', uri, '--pkce', 'optional', '--auth', 'none'],
    /--pkce: A client that shows no secret/,
  ],
])('%j is wrong usage, and does nothing (contract 14.5 to 14.8)', async (args, sentence) => {
  expectMisused(await run(...args), sentence);
  expect(await read()).toEqual([]);
});

const desk = {
  ...{ name: 'desk', kind: 'openid', redirect_uris: [uri, `${site}/two`], post_logout_uris: [site] },
  ...{ back_channel_uri: `${site}/back`, pkce: 'optional' },
};
const apply = async (clients: unknown, ...args: string[]) =>
  run('client:apply', await writeClients(folder, clients), ...args);

it('are made as a file says, once (contract 14.8 and 13.84)', async () => {
  const secrets = newPath(folder);
  const added = await apply([desk, { name: 'shop', callback: uri }], '--secrets-to', secrets);
  expect([added.code, added.out]).toEqual([
    0,
    'desk: added\nshop: added\n0 clients are as the file says already.\n',
  ]);
  expect([...(await readSecrets(secrets)).keys()]).toEqual(['desk', 'shop']);
  const same = await apply([desk, { name: 'shop', callback: uri, redirect_uris: null }]);
  expect(same.out).toBe('2 clients are as the file says already.\n');
  const { back_channel_uri: _, ...without } = desk;
  const changed = await apply([{ ...without, redirect_uris: [`${site}/two`], auth: 'none', pkce: null }]);
  expect(changed.out).toBe(
    [
      'desk: changed',
      `  redirect_uris: ["${uri}","${site}/two"] → ["${site}/two"]`,
      `  back_channel_uri: "${site}/back" → null`,
      '  pkce: "optional" → "required"',
      '  auth: "secret" → "none"',
      '0 clients are as the file says already.\n',
    ].join('\n'),
  );
  expect((await read())[0]).toMatchObject({ callback_url: `${site}/two`, auth: 'none' });
  expect((await listAudit(app.db)).map(({ type }) => type)).toEqual([
    ...['staff.add_client', 'staff.add_client', 'staff.set_client'],
  ]);
});

it.each([
  [{ ...desk, callback: uri }, 'callback: Only clients of the kind hand-off have this.'],
  [{ ...desk, events_url: uri }, 'events_url: Only clients of the kind hand-off have this.'],
  [{ ...desk, redirect_uris: [] }, 'redirect_uris: Enter at least one address.'],
  [{ ...desk, redirect_uris: uri }, 'redirect_uris: Enter a list of texts.'],
  [{ ...desk, redirect_uris: [`${uri} ${site}/two`] }, 'redirect_uris: Enter a list of texts.'],
  [{ ...desk, post_logout_uris: [''] }, 'post_logout_uris: Enter a list of texts.'],
  [{ ...desk, auth: 'none' }, 'pkce: A client that shows no secret must use PKCE: required.'],
  [{ ...desk, kind: undefined, callback: uri }, 'redirect_uris: Only clients of the kind openid have this.'],
])('of a file are refused with %j (contract 13.81 and 14.8)', async (entry, fault) => {
  const refused = await apply([entry], '--secrets-to', newPath(folder));
  expectRefused(refused, /Nothing was done/);
  expect(refused.err).toContain(`Entry 1 (desk), ${fault}`);
});

it('never change their kind, by a file or by an adoption (contract 13.3 and 14.98)', async () => {
  await apply([{ ...desk, name: 'till' }], '--secrets-to', newPath(folder));
  const before = await read();
  expectRefused(await apply([{ name: 'till', callback: uri }]), /never changes/);
  const settings = {
    SSO_CLIENTS: 'till',
    SSO_TILL_CALLBACK_URL: uri,
    SSO_TILL_SECRET: 'kF6nZ0qLr3vXs9yTb2mWc5hJd8gPe1uA',
  };
  const adopted = await runCli(app.databaseUrl, ['client:adopt', 'till', ...why], '', 'test', settings);
  expectRefused(adopted, /another kind/);
  const asked = await readLocalClients([`till=${uri}`], app.config);
  await expect(keepLocalClients({ ...app, now: () => new Date() }, asked)).rejects.toThrow('another kind');
  expect(await read()).toEqual(before);
});

it.each([
  ['redirect_uris', [uri, 'http://elsewhere.example.test/']],
  ['redirect_uris', [`${uri}?state=1`]],
  ['post_logout_uris', [site, 'http://elsewhere.example.test/']],
  ['back_channel_uri', 'http://elsewhere.example.test/'],
  ['login_url', 'http://elsewhere.example.test/'],
])('stay under their issuer if %s is %j (contract 13.94)', async (column, value) => {
  await apply([desk], '--secrets-to', newPath(folder));
  const settings = { IDENTITY_ISSUER: 'http://localhost:3999' };
  const rebind = () =>
    runCli(app.databaseUrl, ['client:rebind', '--from', app.config.issuer, ...why], '', 'test', settings);
  await sql`update clients set ${sql.ref(column)} = ${value}`.execute(app.db);
  const left = await rebind();
  expect([left.code, left.out.includes('desk')]).toEqual([1, true]);
  await sql`update clients set redirect_uris = ${[uri]}, post_logout_uris = ${[site]}, back_channel_uri = null,
    login_url = null`.execute(app.db);
  expect((await rebind()).code).toBe(0);
});
