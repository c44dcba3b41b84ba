// The mails that local mode keeps instead of sending them.
import { sql } from 'kysely';
import { expect, vi } from 'vitest';
import type { Database } from '../../../db/postgres/client.ts';
import { sendDueMails } from '../../../server/mail/outbox.ts';
import type { TestBackend } from '../app/backend.ts';
import { tokenIn } from './mail-server.ts';

const letters = sql.join(
  [
    ...['welcome', 'set_password', 'prove_address', 'verify_email', 'sign_up', 'account_exists'],
    'invitation',
    ...['change_email', 'email_changed'],
  ].map((kind) => sql.lit(kind)),
);

export type KeptMail = { recipient: string; subject: string; text: string };

/** Sends due mails, and waits until the recipient has `count` mails with a link to use. Returns them, oldest first. */
export async function readMails(
  { backend, db }: TestBackend,
  recipient: string,
  count = 1,
): Promise<KeptMail[]> {
  await sendDueMails(backend.deps, undefined, new AbortController().signal);
  // An instance may be sending the mails already.
  return vi.waitFor(async () => {
    const { rows } = await sql<KeptMail>`select recipient, kept_subject as subject, kept_text as text
      from mails where recipient = ${recipient} and kept_text is not null
        and kind in (${letters})
      order by created_at, id`.execute(db);
    expect(rows).toHaveLength(count);
    return rows;
  }, 10_000);
}

const paths = {
  set_password: '/set-password',
  verify_email: '/verify-email/confirm',
  sign_up: '/signup/confirm',
  invitation: '/invitation',
  change_email: '/profile/email/confirm',
  undo_email_change: '/take-back',
};

/** Returns the token in the newest of `count` mails. */
export async function readToken(
  test: TestBackend,
  recipient: string,
  purpose: keyof typeof paths,
  count = 1,
): Promise<string> {
  return tokenIn((await readMails(test, recipient, count)).at(-1) ?? {}, paths[purpose]);
}

/** Returns how many mails with a link there are to the recipient, sent or not. */
export async function countLetters(db: Database, recipient: string): Promise<number> {
  const { rows } =
    await sql`select from mails where recipient = ${recipient} and kind in (${letters})`.execute(db);
  return rows.length;
}

/** Returns the kinds of all mails to the recipient that tell what happened. Oldest first. */
export async function listNotices(db: Database, recipient: string): Promise<string[]> {
  const { rows } = await sql<{ kind: string }>`select kind from mails where recipient = ${recipient}
    and kind not in (${letters})
    order by created_at, id`.execute(db);
  return rows.map(({ kind }) => kind);
}
