import { sql } from 'kysely';
import { expect, it, vi } from 'vitest';
import { listen } from '../../server/runtime/listen.ts';
import { openApp } from '../support/app/app.ts';
import { expectMisused, expectRefused, runCli } from '../support/app/cli.ts';
import { findFreePort } from '../support/app/process.ts';
import { setSettings } from '../support/billing/settings.ts';
import { shared } from '../support/run/shared.ts';

const port = await findFreePort();
const app = shared(() => openApp({ env: { PORT: String(port) } }));
shared(async () => {
  const listener = await listen(app.fetch, { host: '127.0.0.1', port });
  return { close: () => listener.close(1_000) };
});

const cli = (...args: string[]) => runCli(app.databaseUrl, args);
const sendSignup = (...args: string[]) =>
  cli('signup:send', '--url', app.config.baseUrl, '--email', 'ann@example.test', '--plan', 'pro', ...args);
const statusOf = async (signupId: string) =>
  (
    await app.db
      .selectFrom('service_contracts')
      .select('status')
      .where('signup_id', '=', signupId)
      .executeTakeFirst()
  )?.status;

it('signup:send signs and posts a signup, and prints the answer', async () => {
  const { code, out, err } = await sendSignup('--signup-id', 'a', '--status', 'active', '--amount', '2900');
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).toMatch(/^201 \{"signup_id":"a",.*"status":"active","plan":"pro"/);
  const again = await sendSignup(
    '--signup-id',
    'a',
    '--status',
    'active',
    '--name',
    'Ann',
    '--account',
    'Ann & Co',
  );
  expect(again.out).toMatch(/^200 /);
});

it('signup:send says why a signup was refused, or that nothing answers', async () => {
  expectRefused(
    await sendSignup('--amount', '1', '--currency', 'XXX'),
    /^422 .*"\/contract\/price\/currency"/,
  );
  const away = await sendSignup('--url', `http://localhost:${await findFreePort()}`);
  expectRefused(away, /^Nothing answers at .* Start the service, or set PORT or --url to where it runs\.\n$/);
});

it('invoice:paid records a payment, and invoice:void makes a paid invoice void, until 1.2.0 (contract 7.479)', async () => {
  await setSettings(app.db);
  await sendSignup('--signup-id', 'b', '--status', 'active', '--amount', '100');
  const { number } = await vi.waitFor(
    () =>
      app.db
        .selectFrom('invoices as i')
        .innerJoin('service_contracts as c', 'c.id', 'i.contract_id')
        .select('i.document as number')
        .$narrowType<{ number: string }>()
        .where('c.signup_id', '=', 'b')
        .executeTakeFirstOrThrow(),
    30_000,
  );
  expect(await cli('invoice:paid', number)).toEqual({
    code: 0,
    err: 'invoice:paid goes with version 1.2.0: use payment:record.\n',
    out: `Invoice ${number} is paid.\n`,
  });
  expect((await cli('invoice:paid', number)).out).toBe(`Invoice ${number} was already paid.\n`);
  expect(await cli('invoice:void', number)).toEqual({
    code: 0,
    err: 'invoice:void goes with version 1.2.0: use invoice:credit.\n',
    out: expect.stringMatching(`^Invoice ${number} is void. The credit note is CN-\\d{4}-0001.\n$`),
  });
  expect((await cli('invoice:void', number)).out).toBe(`Invoice ${number} was already void.\n`);
  expectRefused(
    await cli('invoice:paid', number),
    new RegExp(`\nNothing changed: invoice ${number} is already void\\.`),
  );
  expectRefused(await cli('invoice:paid', '999999'), /There is no invoice with this number/);
  expectMisused(await cli('invoice:paid', '\n'), /Enter the number of an invoice/);
});

it('contract:cancel cancels a contract for good', async () => {
  await sendSignup('--signup-id', 'c');
  expect((await cli('contract:cancel', 'c')).out).toBe('The contract is canceled.\n');
  expect(await statusOf('c')).toBe('canceled');
  expect((await cli('contract:cancel', 'c')).out).toBe('The contract had already ended.\n');
  expectRefused(await cli('contract:cancel', 'nothing'), /There is no contract for this signup/);
});

it('signup:send can report that a contract was canceled', async () => {
  await sendSignup('--signup-id', 'd', '--status', 'active');
  expect((await sendSignup('--signup-id', 'd', '--status', 'canceled')).out).toMatch(
    /^200 \{"signup_id":"d","applied":true,.*"status":"canceled"/,
  );
  expect(await statusOf('d')).toBe('canceled');
});

it('mails lists what could not be sent, and tries it again with --retry', async () => {
  const id = crypto.randomUUID();
  await sql`insert into mails (id, kind, user_id, recipient, created_at, attempts, next_attempt_at, last_error,
      given_up_at)
    select ${id}, 'set_password', id, email, now() - interval '4 days', 20, now(), '550 No such mailbox', now()
    from users where email = 'customer@example.test'`.execute(app.db);
  expect((await cli('mails')).out).toMatch(
    new RegExp(
      `^given up {2}${id} {2}set_password {2}customer@example.test {2}20 tries {2}550 No such mailbox$`,
      'm',
    ),
  );
  expect((await cli('mails', '--retry')).out).toContain('1 will be sent again.');
  await vi.waitFor(async () => {
    const { rows } = await sql`select 1 from mails where id = ${id} and sent_at is not null`.execute(app.db);
    expect(rows).toHaveLength(1);
  }, 30_000);
});
