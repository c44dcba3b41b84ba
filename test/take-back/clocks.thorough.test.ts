// Taking an account back if the clocks of instances differ. No instance's clock decides what came first.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { runCli } from '../support/app/cli.ts';
import { logIn, openBrowser } from '../support/app/visitor.ts';
import { dayMs, password, shareAddressChanges } from '../support/people/address-changes.ts';
import { addPasskey, logInByPasskey } from '../support/people/authenticator.ts';
import { linkOf } from '../support/people/take-backs.ts';
import { setUp } from '../support/people/totp-app.ts';

const changes = shareAddressChanges();
const now = () => changes.clock.now.getTime();

/** Starts an instance whose clock is a second behind that of the first one. */
const startSlow = () => changes.app.startInstance({ now: () => new Date(now() - 1_000) });

/**
 * Arranges somebody who has been here for a month, and a thief who changed the address on the instance whose clock is ahead.
 */
async function rob() {
  const { email, id, thief } = await changes.rob();
  const link = await changes.change(thief, email, changes.newEmail());
  // This is the thief's browser at the other instance.
  const elsewhere = openBrowser((await startSlow()).send, thief.cookie());
  return { email, id, link, elsewhere };
}

const dueAt = async (id: string) =>
  (
    await sql<{ due: Date | null }>`select deletion_due_at as due from users where id = ${id}`.execute(
      changes.app.db,
    )
  ).rows[0]?.due;

describe('what a thief does on an instance with a slower clock, after a change on one that is ahead', () => {
  it('is removed with the change: a passkey', async () => {
    const { email, id, link, elsewhere } = await rob();
    const passkey = await addPasskey(elsewhere);
    expect((await changes.undo(link)).status).toBe(303);
    expect(await changes.emailOf(id)).toBe(email);
    expect((await logInByPasskey(openBrowser(changes.app.send), passkey)).status).toBe(401);
  });

  it('is removed with the change: an app', async () => {
    const { email, id, link, elsewhere } = await rob();
    await setUp(elsewhere, now());
    expect((await changes.undo(link)).status).toBe(303);
    expect(await changes.emailOf(id)).toBe(email);
    const { rows } = await sql`select from authenticators where user_id = ${id}`.execute(changes.app.db);
    expect(rows).toEqual([]);
  });

  it('is removed with the change: a deletion', async () => {
    const { id, link, elsewhere } = await rob();
    expect((await elsewhere.send('/profile/delete', { form: { intent: 'delete' } })).status).toBe(303);
    expect(await dueAt(id)).toBeInstanceOf(Date);
    expect((await changes.undo(link)).status).toBe(303);
    expect(await dueAt(id)).toBeNull();
  });
});

it('a deletion that the command asks for, on a machine whose clock is behind, is canceled with what came before', async () => {
  const { email, id, browser } = await changes.signUp();
  changes.passTime(30 * dayMs);
  await browser.login(email, password);
  const present = changes.newEmail();
  const link = await changes.change(browser, email, present);
  // The command uses the machine's clock, which is a month behind.
  expect((await runCli(changes.app.databaseUrl, ['user:delete', present])).code).toBe(0);
  expect((await changes.undo(link)).status).toBe(303);
  expect(await dueAt(id)).toBeNull();
});

it('changes made at once on two instances with different clocks have times of their own, and each link works', async () => {
  const { email, id } = await changes.signUp();
  changes.passTime(30 * dayMs);
  const browser = await logIn(changes.app.send, email, password);
  await setUp(browser, now());
  const elsewhere = openBrowser((await startSlow()).send, browser.cookie());
  const answers = await Promise.all(
    Array.from({ length: 9 }, (_, each) =>
      (each % 2 ? browser : elsewhere).send('/profile/authenticator', {
        form: { intent: 'renew-codes', sure: 'yes' },
      }),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array(9).fill(200));
  const { rows } = await sql<{ at: Date; isTold: boolean }>`
    select at, expires_at = at + interval '168 hours' as "isTold" from take_back_changes where user_id = ${id}
      order by at`.execute(changes.app.db);
  expect(new Set(rows.map(({ at }) => at.getTime())).size).toBe(10);
  expect(rows.every(({ isTold }) => isTold)).toBe(true);
  // The recovery codes of the last change are the ones that work.
  const { rows: codes } = await sql<{ at: Date }>`
    select distinct made_at as at from recovery_codes where user_id = ${id}`.execute(changes.app.db);
  expect(codes).toEqual([{ at: rows.at(-1)?.at }]);
  expect((await changes.app.send(await linkOf(changes, email, 'recovery_codes_made'))).status).toBe(200);
});
