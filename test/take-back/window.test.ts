import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { findWindowSince, listHappenings } from '../../server/identity/ground/take-back-window.ts';
import { openFreshDatabase } from '../support/database/database.ts';
import { shared } from '../support/run/shared.ts';

const dayMs = 24 * 60 * 60 * 1_000;
const now = new Date('2026-03-01T00:00:00Z');
const days = (count: number) => new Date(now.getTime() + count * dayMs);

const client = shared(openFreshDatabase);

type Change = { email: string; at: number; expiresAt: Date };

/** A change that was told to `email`, `at` days from now. `late` is for how many days the user was suspended after that. */
const told = (email: string, at: number, { late = 0 } = {}): Change => ({
  email,
  at,
  expiresAt: days(at + 7 + late),
});

/** Adds a user, with the changes that they were told of. */
async function tell(changes: Change[], suspendedAt: Date | null) {
  const { db } = client;
  const id = randomUUID();
  await sql`insert into accounts (id, name) values (${id}, 'Window')`.execute(db);
  await sql`insert into users (id, account_id, email, holds_email, name, role, suspended_at)
    values (${id}, ${id}, ${`${id}@example.test`}, true, 'Window', 'user', ${suspendedAt})`.execute(db);
  for (const { email, at, expiresAt } of changes)
    await sql`insert into take_back_changes (id, user_id, email, what, at, expires_at)
      values (${randomUUID()}, ${id}, ${email}, 'passkey_added', ${days(at)}, ${expiresAt})`.execute(db);
  return { id, suspendedAt };
}

/** Returns the start of the window (contract 2.44) of mailbox `a`, in days from now. */
async function sinceOf(changes: Change[], suspendedAt: Date | null = null): Promise<number | undefined> {
  const since = await findWindowSince(client.db, await tell(changes, suspendedAt), 'a', now);
  return since && (since.getTime() - now.getTime()) / dayMs;
}

describe('the window', () => {
  it.each([
    ['begins with the change that was told', [-3], -3],
    ['begins with the first of several', [-6, -3], -6],
    ['begins seven days before the oldest whose link still works', [-13, -6], -13],
    ['and not earlier', [-13.01, -6], -6],
    ['goes no further back than that, however many there were', [-18, -12, -6], -12],
    ['is none once no link works', [-12, -7], undefined],
    ['lasts to the last moment of a link', [-6.999], -6.999],
  ])('%s', async (_, at, since) => {
    expect(await sinceOf(at.map((each) => told('a', each)))).toBe(since);
  });

  it('does not begin with what was told to another mailbox, but has what happened in it', async () => {
    const changes = [told('b', -6), told('a', -3), told('b', -2)];
    const user = await tell(changes, null);
    const since = await findWindowSince(client.db, user, 'a', now);
    expect(since).toEqual(days(-3));
    const shown = [-3, -2].map((at) => ({ what: 'passkey_added', at: days(at), device: null }));
    expect(await listHappenings(client.db, user.id, days(-3))).toEqual({ shown, earlier: 0 });
  });

  it('does not grow by the time of a suspension', async () => {
    // A suspension of twenty days lies between the second change and today.
    const late = { late: 20 };
    expect(await sinceOf([told('a', -35, late), told('a', -27.5, late), told('a', -24, late)])).toBe(-27.5);
    expect(await sinceOf([told('a', -35, late), told('a', -5)])).toBe(-5);
    expect(await sinceOf([told('a', -27.5, late), told('a', -5)])).toBe(-27.5);
  });

  it('is the same while the user is suspended', async () => {
    const far = (Date.parse('3000-01-01T00:00:00Z') - now.getTime()) / dayMs;
    const changes = [-13, -6].map((at) => told('a', at, { late: far }));
    expect(await sinceOf(changes, now)).toBe(-13);
    expect(await sinceOf([told('a', -7, { late: far })], now)).toBe(undefined);
  });
});
