// People who are erased, by any statement: their history still says that something happened, but not what it was (contract
// 9.108).
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { Change } from '../../db/tables/changes.ts';
import { sweep } from '../../server/doors/jobs/sweep.ts';
import { openApp } from '../support/app/app.ts';
import { runCli } from '../support/app/cli.ts';
import { buildSignup, pushSignup, sendSignup } from '../support/crm/crm.ts';
import { idOf } from '../support/database/database.ts';
import { openOtherRole } from '../support/database/database-role.ts';
import { checkHistory, connectInUtc, listChanges } from '../support/history/history.ts';
import { buildHandOff, handOver } from '../support/marketplace/marketplace.ts';
import { findText, makeDue, runErasure } from '../support/people/leaving.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(openApp);

const changesOf = async (userId: string) =>
  (await listChanges(app.db)).filter((change) => change.userId === userId);

const inChanges = async (text: string) =>
  (await findText(app.db, text)).filter((column) => column.startsWith('changes.'));

/** Adds a customer with a contract and a marketplace link, who has had several names and email addresses. */
async function settle(word: string) {
  const email = `former-${word}@example.test`;
  const signup = buildSignup(`crm_${word}`, {
    user: { email, name: `First ${word}` },
    account: { name: `Account of ${word}` },
  });
  const { user, account } = JSON.parse((await sendSignup(app, signup, { webhookId: `msg_${word}` })).text);
  const profile = { id: `external-${word}`, email, name: `Second ${word}`, accountName: `Shop of ${word}` };
  await handOver(app, profile);
  const moved = { ...profile, email: `${word}@example.test`, profileUpdatedAt: new Date() };
  expect((await app.send(await buildHandOff(app, moved))).status).toBe(303);
  expect(await idOf(app.db, `${word}@example.test`)).toBe(user.id);
  // The history has each text that the erasure must remove.
  for (const text of [
    `former-${word}`,
    `First ${word}`,
    `Second ${word}`,
    `Shop of ${word}`,
    `external-${word}`,
  ])
    expect(await inChanges(text), text).not.toEqual([]);
  return { email: `${word}@example.test`, userId: user.id as string, accountId: account.id as string };
}

async function expectGone(word: string, userId: string): Promise<Change[]> {
  // Every name and email address of this person contains `word`. Only the contract keeps such a text: the id that the CRM gave
  // its signup.
  expect((await inChanges(word)).filter((column) => column !== 'changes.members')).toEqual([]);
  const { rows } = await sql<{
    members: object;
  }>`select members from changes where members::text ilike ${`%${word}%`}
    and not (subject = 'contract' and members -> 'signup_id' ->> 'to' = ${`crm_${word}`})`.execute(app.db);
  expect(rows).toEqual([]);
  const changes = await changesOf(userId);
  expect(changes.filter(({ requestId }) => requestId !== null)).toEqual([]);
  const personal = changes.filter(({ subject }) => subject !== 'contract');
  expect(personal.filter(({ members }) => members !== null)).toEqual([]);
  // The history still says that something happened, and who did it.
  expect(personal.map(({ subject, kind, by }) => [subject, kind, by])).toEqual(
    expect.arrayContaining([
      ['user', 'created', 'crm'],
      ['user', 'changed', 'marketplace'],
      ['link', 'created', 'marketplace'],
    ]),
  );
  expect(
    personal
      .filter(({ kind }) => kind === 'removed')
      .map(({ subject }) => subject)
      .sort(),
  ).toEqual(['link', 'user']);
  return changes;
}

describe('is without names, addresses and ids elsewhere', () => {
  it('where the job erased them', async () => {
    const { email, userId, accountId } = await settle('zoe');
    await makeDue(app.db, email);
    await runErasure(app.db);
    const changes = await expectGone('zoe', userId);
    const contract = changes.filter(({ subject }) => subject === 'contract');
    // The contract keeps the changes of its status (contract 9.423).
    expect(contract.map(({ kind, by, cause, members }) => [kind, by, cause, members?.status])).toEqual([
      ['created', 'crm', null, { from: null, to: 'trialing' }],
      ['changed', 'service', null, { from: 'trialing', to: 'canceled' }],
      ['changed', 'service', null, undefined],
      ['changed', 'service', null, undefined],
    ]);
    const account = (await listChanges(app.db)).filter(({ rowId }) => rowId === accountId);
    expect(account.map(({ kind, members }) => [kind, members])).toEqual([
      ['created', null],
      ['changed', null],
      ['removed', null],
    ]);
  });

  it('where an operator did', async () => {
    const { userId } = await settle('yves');
    expect(await runCli(app.databaseUrl, ['user:delete', userId, '--now', '--yes'])).toMatchObject({
      code: 0,
    });
    const changes = await expectGone('yves', userId);
    expect(changes.find(({ subject, kind }) => subject === 'user' && kind === 'removed')).toMatchObject({
      by: 'operator',
      cause: 'user:delete',
    });
  });

  it('where somebody deleted the row by SQL', async () => {
    const { userId, accountId } = await settle('xena');
    const other = await openOtherRole(app.db, app.databaseUrl);
    try {
      await sql`update service_contracts set user_id = null, account_id = null where user_id = ${userId}`.execute(
        other.db,
      );
      await sql`delete from users where id = ${userId}`.execute(other.db);
      await sql`delete from accounts where id = ${accountId}`.execute(other.db);
    } finally {
      await other.close();
    }
    await expectGone('xena', userId);
  });

  it('where they had only typed an address, whose holder now has their link', async () => {
    const id = 'external-wim';
    await handOver(app, { id, email: 'wim@example.test', name: 'Typed wim', emailVerified: false });
    const typed = await idOf(app.db, 'wim@example.test');
    const signup = buildSignup('crm_holder', { user: { email: 'wim@example.test', name: 'Holder' } });
    await pushSignup(app, signup);
    const profile = { id, email: 'wim@example.test', name: 'Holder', profileUpdatedAt: new Date() };
    expect((await app.send(await buildHandOff(app, profile))).status).toBe(303);
    const changes = await changesOf(typed);
    expect(changes.map(({ subject, kind, members }) => [subject, kind, members]).sort()).toEqual([
      ['link', 'created', null],
      ['link', 'removed', null],
      ['user', 'created', null],
      ['user', 'removed', null],
    ]);
    expect(await inChanges('Typed wim')).toEqual([]);
  });
});

it('of an account that others belong to is still theirs, but for which request made it', async () => {
  const { email, userId, accountId } = await settle('vera');
  await sql`update users set account_id = ${accountId} where email = 'new-merchant@example.test'`.execute(
    app.db,
  );
  await sql`update changes set by = 'person', by_user = ${userId}, request_id = 'request-of-vera'
    where row_id = ${accountId} and kind = 'changed'`.execute(app.db);
  await makeDue(app.db, email);
  await runErasure(app.db);
  const account = (await listChanges(app.db)).filter(({ rowId }) => rowId === accountId);
  expect(account.map(({ kind, members, requestId }) => [kind, members?.name?.to, requestId])).toEqual([
    ['created', 'Account of vera', expect.any(String)],
    ['changed', 'Shop of vera', null],
  ]);
});

it('gives the rows of everybody who is left', async () => {
  const reader = connectInUtc(app.databaseUrl);
  expect(await checkHistory(reader.db)).toEqual([]);
  await reader.close();
});

it('is swept 400 days after a person is erased, and never while they are here', async () => {
  const { userId, email } = await settle('ursula');
  await makeDue(app.db, email);
  await runErasure(app.db);
  await sql`update changes set erased_at = erased_at - interval '399 days', at = at - interval '900 days'
    where erased_at is not null`.execute(app.db);
  await sql`update changes set at = at - interval '900 days' where erased_at is null`.execute(app.db);
  const here = async () => (await listChanges(app.db)).filter(({ members }) => members).length;
  const before = await here();
  await sweep(app);
  expect((await changesOf(userId)).length).toBeGreaterThan(3);
  await sql`update changes set erased_at = erased_at - interval '1 day'`.execute(app.db);
  await sweep(app);
  // Only the changes of the contract remain.
  expect(new Set((await changesOf(userId)).map(({ subject }) => subject))).toEqual(new Set(['contract']));
  expect(await here()).toBe(before);
});
