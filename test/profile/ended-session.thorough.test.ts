// If a session ends during a change that needs a credential, the change is not made (contract 9.19).
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { Answer } from '../support/app/app.ts';
import type { Browser } from '../support/app/visitor.ts';
import { buildHandOff } from '../support/marketplace/marketplace.ts';
import { password, shareAddressChanges } from '../support/people/address-changes.ts';
import { addPasskey, createAuthenticator, fetchOptions, origin } from '../support/people/authenticator.ts';
import { page as appPage, setUp, setUpPage, showCode, startSetUp } from '../support/people/totp-app.ts';

const changes = shareAddressChanges();

type Sent = [path: string, form: Record<string, string>];
type Person = { browser: Browser; id: string; email: string };

const now = () => changes.clock.now.getTime();

async function passkeyOf({ browser, id }: Person): Promise<string> {
  await addPasskey(browser);
  await addPasskey(browser);
  const { rows } = await sql<{ id: string }>`select id from passkeys where user_id = ${id}`.execute(
    changes.app.db,
  );
  return rows[0]?.id ?? '';
}

/** Each function prepares a change. Returns the request to send. */
const kinds: Record<string, (person: Person) => Promise<Sent>> = {
  'adding a passkey': async ({ browser }) => {
    const passkey = createAuthenticator().register(await fetchOptions(browser, 'add'), origin);
    return ['/profile/passkeys/add', { name: 'Phone', passkey }];
  },
  'renaming a passkey': async (person) => [
    '/profile/passkeys',
    { intent: 'rename', id: await passkeyOf(person), name: 'Old laptop' },
  ],
  'removing a passkey': async (person) => [
    '/profile/passkeys',
    { intent: 'remove', id: await passkeyOf(person) },
  ],
  'turning on the app': async ({ browser }) => {
    const secret = await startSetUp(browser);
    return [setUpPage, { code: showCode(secret, now()) }];
  },
  'making recovery codes': async ({ browser }) => {
    await setUp(browser, now());
    return [appPage, { intent: 'renew-codes', sure: 'yes' }];
  },
  'turning off the app': async ({ browser }) => {
    await setUp(browser, now());
    return [appPage, { intent: 'turn-off', sure: 'yes' }];
  },
  'asking for a deletion': async () => ['/profile/delete', { intent: 'delete' }],
  'connecting a marketplace account': async ({ browser, id, email }) => {
    const asked = await browser.send(await buildHandOff(changes.app, { id, email }, changes.clock.now));
    return [asked.headers.get('location') ?? '', {}];
  },
  'removing a connected account': async ({ id }) => {
    await sql`insert into external_links (provider, external_id, user_id) values ('marketplace', ${id}, ${id})`.execute(
      changes.app.db,
    );
    return ['/profile/security', { intent: 'remove-link', externalId: id, currentPassword: password }];
  },
  'asking for a change of address': async () => ['/profile/email', { email: changes.newEmail() }],
};

/** Reads the rows that any of these changes would write. */
async function digest(id: string): Promise<unknown> {
  const { rows } = await sql`select
    (select json_agg(p order by p.id) from passkeys p where user_id = ${id}) as passkeys,
    (select json_agg(a) from authenticators a where user_id = ${id}) as apps,
    (select json_agg(r order by code_hash) from recovery_codes r where user_id = ${id}) as codes,
    (select json_agg(l) from external_links l where user_id = ${id}) as links,
    (select json_agg(c) from pending_email_changes c where user_id = ${id}) as addresses,
    (select deletion_due_at from users where id = ${id}) as deletion,
    (select count(*) from mails where user_id = ${id}) as mails,
    (select count(*) from audit_events where user_id = ${id}) as events`.execute(changes.app.db);
  return rows;
}

/** Sends requests while the user's row is locked. Ends all sessions of the user before any request goes on. */
async function sendWhileEnding(id: string, send: () => Promise<Answer>[]): Promise<Answer[]> {
  const { sent } = await changes.app.db.transaction().execute(async (trx) => {
    await sql`select from users where id = ${id} for no key update`.execute(trx);
    const sent = Promise.all(send());
    await waitForLocks();
    await sql`update sessions set ended_at = now() where user_id = ${id} and ended_at is null`.execute(trx);
    return { sent };
  });
  return sent;
}

async function waitForLocks(): Promise<void> {
  await expect
    .poll(
      async () =>
        (
          await sql`select from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock'`.execute(changes.app.db)
        ).rows.length,
      { timeout: 10_000, interval: 10 },
    )
    .toBeGreaterThan(0);
}

describe('in a session that ends meanwhile', () => {
  it.each(Object.keys(kinds))('%s changes nothing, also where 16 are sent at once', async (kind) => {
    const person = await changes.signUp();
    const { browser, id } = person;
    const [path, form] = (await kinds[kind]?.(person)) ?? ['', {}];
    const before = await digest(id);
    const answers = await sendWhileEnding(id, () =>
      Array.from({ length: 16 }, () => browser.send(path, { form, from: changes.from() })),
    );
    for (const { status, headers } of answers) {
      // Limits on passwords and on mails to one address refuse some requests, and so does a busy machine.
      expect(/address|removing a connected/.test(kind) ? [303, 401, 429, 503] : [303, 503]).toContain(status);
      if (status === 303)
        expect(headers.get('location')).toMatch(
          kind.startsWith('connecting') ? /\/continue\?id=/ : /^\/login\?next=/,
        );
    }
    expect(answers.map(({ status }) => status)).toContain(303);
    expect(await digest(id)).toEqual(before);
  });

  it.each(Object.keys(kinds))('%s counts if the session does not end', async (kind) => {
    const person = await changes.signUp();
    const [path, form] = (await kinds[kind]?.(person)) ?? ['', {}];
    const before = await digest(person.id);
    const { status } = await person.browser.send(path, { form, from: changes.from() });
    expect([200, 303]).toContain(status);
    expect(await digest(person.id)).not.toEqual(before);
  });
});
