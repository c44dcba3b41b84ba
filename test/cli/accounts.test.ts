// account:grant and similar commands: an operator's decision overrides the marketplace's (contract 2.69, 2.70 and 11.112).
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { openApp } from '../support/app/app.ts';
import { expectMisused, expectRefused, runCli } from '../support/app/cli.ts';
import { logIn, textOf } from '../support/app/visitor.ts';
import { handOver } from '../support/marketplace/marketplace.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(openApp);

const why = ['--why', 'A call with the owner'];
const cli = (...args: string[]) => runCli(app.databaseUrl, args);
const merchant = 'merchant@example.test';

it('decides, says what the account has then, and leaves a trail that its owner can read', async () => {
  const browser = await logIn(app.send, 'customer@example.test');
  const steps: [args: string[], out: string][] = [
    [
      ['account:grant', 'customer@example.test', 'sell_products', ...why],
      'has sell_products, and is not verified.',
    ],
    [['account:verify', 'customer@example.test', ...why], 'has sell_products, and is verified.'],
    [
      ['account:revoke', 'customer@example.test', 'sell_products', ...why],
      'has no capability, and is verified.',
    ],
    [['account:unverify', 'customer@example.test', ...why], 'has no capability, and is not verified.'],
    [
      ['account:undecide', 'customer@example.test', 'sell_products', ...why],
      'has no capability, and is not verified.',
    ],
    [
      ['account:undecide', 'customer@example.test', 'verification', ...why],
      'has no capability, and is not verified.',
    ],
  ];
  for (const [args, said] of steps) {
    const { code, out, err } = await cli(...args);
    expect({ code, out, err }).toEqual({
      code: 0,
      out: `Done. The account of customer@example.test ${said}\n`,
      err: '',
    });
  }
  const { rows } = await sql`select type, reason, details, why from audit_events
    where type in ('capability.decided', 'verification.decided') order by at, id`.execute(app.db);
  const details = (what: string) => ({ by: 'cli', what });
  expect(rows).toEqual([
    { type: 'capability.decided', reason: 'yes', details: details('sell_products'), why: why[1] },
    { type: 'verification.decided', reason: 'yes', details: details('verification'), why: why[1] },
    { type: 'capability.decided', reason: 'no', details: details('sell_products'), why: why[1] },
    { type: 'verification.decided', reason: 'no', details: details('verification'), why: why[1] },
    { type: 'capability.decided', reason: 'undecided', details: details('sell_products'), why: why[1] },
    { type: 'verification.decided', reason: 'undecided', details: details('verification'), why: why[1] },
  ]);
  const history =
    await sql`select by, cause, why from changes where subject = 'account' and kind = 'changed'`.execute(
      app.db,
    );
  expect(history.rows).toEqual(steps.map(([[command]]) => ({ by: 'operator', cause: command, why: why[1] })));
  const activity = textOf(await browser.send('/profile/activity'));
  expect(activity).toContain(
    'We decided that the account may sell products What the account may do: sell products',
  );
  expect(activity).toContain('By our support team');
  expect(activity).not.toContain('A call with the owner');
});

it('says that something was so already, and leaves no trail of it (contract 12.20)', async () => {
  const grant = ['account:grant', 'manager@example.test', 'sell_services', ...why];
  const outcomes = await Promise.all(Array.from({ length: 4 }, () => cli(...grant)));
  expect(outcomes.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
  expect(outcomes.map(({ out }) => out.split('.')[0]).sort()).toEqual([
    'Done',
    ...Array(3).fill('Nothing to change'),
  ]);
  const { rows } = await sql`select 1 from audit_events e join users u on u.id = e.user_id
    where u.email = 'manager@example.test' and e.type = 'capability.decided'`.execute(app.db);
  expect(rows).toHaveLength(1);
});

it('undecides what SQL had taken, and the marketplace counts again', async () => {
  await handOver(app, { id: 'undecided', capabilities: ['sell_services'] });
  const email = 'undecided@example.test';
  await sql`update accounts set capabilities = '{}' where id = (select account_id from users where email = ${email})`.execute(
    app.db,
  );
  const { out } = await cli('account:undecide', email, 'sell_services', ...why);
  expect(out).toContain('has sell_services, and is not verified.');
});

it('refuses what it does not know, and no reason (contract 12.47)', async () => {
  const before = (await sql`select * from accounts order by id`.execute(app.db)).rows;
  expectRefused(
    await cli('account:grant', 'nobody@example.test', 'sell_services', ...why),
    /No user has this email address/,
  );
  expectMisused(await cli('account:grant', merchant, 'sell_everything', ...why), /Allowed choices are/);
  expectMisused(await cli('account:undecide', merchant, 'everything', ...why), /Allowed choices are/);
  expectMisused(await cli('account:revoke', merchant, 'sell_services'), /--why/);
  expectMisused(await cli('account:unverify', merchant, '--why', ' '), /3 to 500 characters/);
  expect((await sql`select * from accounts order by id`.execute(app.db)).rows).toEqual(before);
});
