// Take-back links in mails, and somebody who uses the links.
import { sql } from 'kysely';
import { expect, vi } from 'vitest';
import type { Told } from '../../../db/tables/take-back-changes.ts';
import { sendDueMails } from '../../../server/mail/outbox.ts';
import type { Browser } from '../app/visitor.ts';
import type { AddressChanges } from './address-changes.ts';
import { type Authenticator, fetchOptions, type Lie, origin } from './authenticator.ts';
import { tokenIn } from './mail-server.ts';

/** Returns the take-back link in the newest mail of that kind to the recipient. */
export async function linkOf({ other, app }: AddressChanges, email: string, kind: Told): Promise<string> {
  await sendDueMails(other.backend.deps, undefined, new AbortController().signal);
  // An instance may be sending the mail already.
  return vi.waitFor(async () => {
    const { rows } = await sql<{ text: string | null }>`select kept_text as text from mails
      where recipient = ${email} and kind = ${kind} order by created_at desc, id desc limit 1`.execute(
      app.db,
    );
    expect(rows[0]?.text).toBeTypeOf('string');
    return `/take-back?token=${tokenIn({ text: rows[0]?.text ?? '' }, '/take-back')}`;
  }, 10_000);
}

/** What the script of the page posts for this passkey. */
export async function answerWith(
  browser: Browser,
  link: string,
  passkey: Authenticator,
  lie: Lie = {},
  purpose: 'take-back' | 'new-address' = 'take-back',
): Promise<string> {
  const token = new URL(link, origin).searchParams.get('token') ?? '';
  return passkey.answer(await fetchOptions(browser, purpose, token), origin, lie);
}
