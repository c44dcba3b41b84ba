// People who lost their mailbox and are offered another email address, as our support does it.

import { sql } from 'kysely';
import { expect, vi } from 'vitest';
import { inTransaction } from '../../../db/postgres/transactions.ts';
import { lockUser } from '../../../db/tables/users.ts';
import { actAsOperator } from '../../../server/acts/act.ts';
import { endsWithPerson } from '../../../server/billing/customers/ends-with-person.ts';
import { sendDueMails } from '../../../server/mail/outbox.ts';
import { peopleActs } from '../../../server/staff/people-acts.ts';
import type { TestApp } from '../app/app.ts';
import { type AddressChanges, dayMs } from './address-changes.ts';
import { tokenIn } from './mail-server.ts';

type Changes = Pick<AddressChanges, 'app' | 'other' | 'clock' | 'signUp' | 'newEmail'>;

export const offer = (
  { app, clock = { now: new Date() } }: { app: Pick<TestApp, 'db' | 'config'>; clock?: { now: Date } },
  id: string,
  email: string,
  more: { removeFactors?: 'yes' } = {},
) =>
  inTransaction(app.db, { by: 'operator', cause: 'test' }, async (trx) => {
    const user = await lockUser(trx, { id });
    if (!user) throw new Error('no such user');
    const deps = { endsWithPerson, config: app.config, now: () => clock.now };
    const author = { by: 'operator', name: 'Olga', systemUser: 'root' } as const;
    await actAsOperator(trx, deps, peopleActs['change-email'], { given: { id, email, ...more }, author });
  });

const pages = { new_address: '/new-address', stop_new_address: '/stop-new-address' };

/** Returns the newest mail of that kind to the recipient, after it was sent. */
export async function readOfferMail(
  { app, other }: Pick<Changes, 'app' | 'other'>,
  email: string,
  kind: keyof typeof pages,
): Promise<{ subject: string; text: string }> {
  await sendDueMails(other.backend.deps, undefined, new AbortController().signal);
  // An instance may be sending the mail already.
  return vi.waitFor(async () => {
    const { rows } = await sql<{ subject: string; text: string | null }>`select kept_subject as subject,
      kept_text as text from mails where recipient = ${email} and kind = ${kind}
      order by created_at desc, id desc limit 1`.execute(app.db);
    const { subject = '', text = null } = rows[0] ?? {};
    if (text === null) throw new Error(`no mail of the kind ${kind} to ${email}`);
    return { subject, text };
  }, 10_000);
}

export async function offeredLink(
  changes: Pick<Changes, 'app' | 'other'>,
  email: string,
  kind: keyof typeof pages,
): Promise<string> {
  const mail = await readOfferMail(changes, email, kind);
  return `${pages[kind]}?token=${tokenIn(mail, pages[kind])}`;
}

/** Somebody who lost their mailbox, with the links in both mails. */
export async function offerTo(changes: Changes, person: { id: string; email: string }) {
  const fresh = changes.newEmail();
  await offer(changes, person.id, fresh);
  const link = await offeredLink(changes, fresh, 'new_address');
  const stopLink = await offeredLink(changes, person.email, 'stop_new_address');
  return { fresh, link, stopLink };
}

/** Somebody who has had their account for a month, and is offered another email address. */
export async function offerAfterMonth(changes: AddressChanges) {
  const person = await changes.signUp();
  changes.passTime(30 * dayMs);
  return { ...person, ...(await offerTo(changes, person)) };
}

/** Expects 404 for both links, when the link is opened and when its form is sent. */
export async function expectDead(
  { app }: Pick<Changes, 'app'>,
  { link, stopLink }: { link: string; stopLink: string },
  form: Record<string, string>,
): Promise<void> {
  const statuses = [
    (await app.send(link)).status,
    (await app.send(link, { form })).status,
    (await app.send(stopLink)).status,
    (await app.send(stopLink, { form: {} })).status,
  ];
  expect(statuses).toEqual([404, 404, 404, 404]);
}
