// The commands about clients in the database (contract 13.37 to 13.39).
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { openApp } from '../support/app/app.ts';
import { expectMisused, expectRefused, runCli } from '../support/app/cli.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(openApp);
const run = (...args: string[]) => runCli(app.databaseUrl, args);
const why = ['--why', 'asked by the shop', '--by', 'Olga'];
const callback = 'http://localhost:4000/cb';
const secretForm = /idsec_[A-Za-z0-9_-]{49}/g;

it('add, rotate, end, change, turn off and on, and print each secret once (contract 13.37 and 13.38)', async () => {
  const added = await run('client:add', 'shop', '--callback', callback, '--roles', 'merchant', ...why);
  expect(added).toMatchObject({ code: 0, err: '' });
  expect(added.out).toMatch(/^Client shop is added\. Its secret is shown only now: idsec_\S{49}\n$/);
  const rotated = JSON.parse((await run('client:rotate', 'shop', '--json', ...why)).out);
  expect(rotated).toEqual({
    done: true,
    intent: 'rotate-client',
    id: 'shop',
    secret: expect.stringMatching(secretForm),
  });
  expectRefused(await run('client:rotate', 'shop', ...why), /two secrets already/);
  expectRefused(
    await run('client:add', 'shop', '--callback', callback, ...why),
    /a client already has this name/i,
  );
  const outputs = [
    await run(
      'client:set',
      'shop',
      '--title',
      'The shop',
      '--login-url',
      'http://localhost:4000/login',
      ...why,
    ),
    await run('client:set', 'shop', '--login-url', 'none', '--factor', 'required', ...why),
    await run('client:end-secret', 'shop', 'first', ...why),
    await run('client:off', 'shop', ...why),
    await run('client:off', 'shop', ...why),
    await run('clients'),
    await run('client:on', 'shop', ...why),
    await run('client:confirm', 'shop', ...why),
  ];
  for (const { code, err } of outputs) expect([code, err]).toEqual([0, '']);
  expect(outputs.map(({ out }) => out).filter((_, at) => at !== 5)).toEqual([
    'Client shop is changed.\n',
    'Client shop is changed.\n',
    'The first secret of shop has ended.\n',
    'Client shop is off.\n',
    'Client shop is off already.\n',
    'Client shop is on.\n',
    'Client shop is confirmed already.\n',
  ]);
  expect(outputs[5]?.out).toMatch(
    /^shop\n {2}In database {3}off\n {2}First secret {2}made .*, not used yet\n/m,
  );
  for (const { out } of outputs) expect(out).not.toMatch(secretForm);
  expectRefused(await run('client:end-secret', 'shop', 'second', ...why), /the only secret/);
  const [client] = JSON.parse((await run('clients', '--json')).out).filter(
    ({ client }: { client: string }) => client === 'shop',
  );
  expect(client.row).toMatchObject({
    state: 'on',
    off_at: null,
    secrets: [{ is_sealed_with_older_key: false }],
  });
  const { rows } = await sql<{ type: string; operator: string; why: string }>`
    select type, details->>'operator' as operator, why from audit_events
    where details->>'client' = 'shop' order by at, id`.execute(app.db);
  expect(rows.map(({ type }) => type)).toEqual([
    ...['staff.add_client', 'staff.rotate_client', 'staff.set_client', 'staff.set_client'],
    ...['staff.end_client_secret', 'staff.turn_client_off', 'staff.turn_client_on'],
  ]);
  for (const row of rows) expect(row).toMatchObject({ operator: 'Olga', why: 'asked by the shop' });
  // Contract 13.106.
  const audited = (await run('audit', '--client', 'shop', '--json')).out.trimEnd().split('\n');
  expect(audited.map((line) => JSON.parse(line).type)).toEqual(rows.map(({ type }) => type));
});

it('the doctor knows a client of the database (contract 13.2)', async () => {
  await run(
    'client:add',
    'examined',
    '--callback',
    'http://localhost:1/cb',
    '--login-url',
    'http://localhost:1/login',
    ...why,
  );
  const { code, out, err } = await run('doctor', 'examined');
  expect(code).not.toBe(0);
  expect(`${out}${err}`).toContain('http://localhost:1/cb');
  expect((await run('doctor', 'nobody_here')).err).toContain('No client nobody_here is set here');
});

it.each([
  [['client:add', 'shop'], /callback/],
  [['client:add', 'shop', '--callback', callback], /--why/],
  [['client:add', 'none', '--callback', callback, ...why], /reserved/],
  [['client:add', 'Shop', '--callback', callback, ...why], /lower-case letters/],
  [['client:add', 'other', '--callback', 'https://shop.example.test/', ...why], /In local mode/],
  [['client:add', 'other', '--callback', callback, '--kind', 'saml', ...why], /must be hand-off or openid/],
  [['client:add', 'other', '--callback', callback, '--factor', 'maybe', ...why], /required, optional/],
  [['client:add', 'other', '--callback', callback, '--listed', 'nobody', ...why], /one or more/],
  [['client:set', 'marketplace_x', '--title', '', ...why], /Enter a value/],
])('%j is wrong usage, and does nothing (contract 13.37)', async (args, sentence) => {
  expectMisused(await run(...args), sentence);
});

it('a client that is not in the database is refused (contract 13.37)', async () => {
  expectRefused(await run('client:off', 'marketplace', ...why), /No client in the database/);
});
