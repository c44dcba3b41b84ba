// Accounts that somebody may have got into, in every combination of what contract section 2 looks at, and what has to come
// of it: written from the contract, not from the code.
import { randomBytes, randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Told } from '../../db/take-back-changes.ts';
import { hashRecoveryCode } from '../../server/identity/recovery-codes.ts';
import { seal } from '../../server/identity/sealing.ts';
import { hashToken } from '../../server/identity/tokens.ts';
import type { TestApp } from './app.ts';

const told: Told[] = [
  'passkey_added',
  'authenticator_added',
  'recovery_codes_made',
  'deletion_requested',
  'email_changed',
];

/** Whose link is clicked: of the present address, or of one that was changed once or twice since. */
const clickers = ['present', 'changed once', 'changed twice', 'second of three'] as const;
const factors = ['none', 'passkey', 'app'] as const;
const origins = ['before', 'in an established browser', 'in a new browser'] as const;
const states = ['live', 'suspended', 'leaving'] as const;

export type TakeBackCase = {
  clicker: (typeof clickers)[number];
  link: Told;
  factor: (typeof factors)[number];
  origin: (typeof origins)[number];
  role: 'user' | 'manager' | 'admin';
  state: (typeof states)[number];
};

export const nameOf = ({ clicker, link, factor, origin, role, state }: TakeBackCase) =>
  `${clicker}, ${link}, ${factor === 'none' ? 'no factor' : `${factor} ${origin}`}, ${role}, ${state}`;

const all: TakeBackCase[] = clickers.flatMap((clicker) =>
  told
    .filter((link) => clicker !== 'present' || link !== 'email_changed')
    .flatMap((link) =>
      factors.flatMap((factor) =>
        (factor === 'none' ? origins.slice(0, 1) : origins).flatMap((origin) => [
          ...states.map((state) => ({ clicker, link, factor, origin, role: 'user' as const, state })),
          { clicker, link, factor, origin, role: 'manager' as const, state: 'live' as const },
          { clicker, link, factor, origin, role: 'admin' as const, state: 'leaving' as const },
        ]),
      ),
    ),
);

// What a suspension means does not depend on the factor, nor leaving on where it comes from.
export const takeBackCases = all.filter(
  ({ factor, origin, state, role }) =>
    (state !== 'suspended' || factor === 'app') &&
    (state !== 'leaving' || role === 'admin' || factor !== 'app' || origin === 'before'),
);

const dayMs = 24 * 60 * 60 * 1_000;
// In days from now.
const at = { first: -2, changed: -1.5, second: -1, factor: -0.75, deletion: -0.6, changedAgain: -0.5 };
const factorAt = (origin: TakeBackCase['origin']) => (origin === 'before' ? -10 : at.factor);

/** What was told, to which of up to three addresses, in order. */
function tell({ clicker, link }: TakeBackCase): { to: number; what: Told; days: number }[] {
  const first = link === 'email_changed' ? [] : [{ to: 0, what: link, days: at.first }];
  if (clicker === 'present') return first;
  const once = [...first, { to: 0, what: 'email_changed' as const, days: at.changed }];
  if (clicker === 'changed once') return once;
  const second = link === 'email_changed' ? [] : [{ to: 1, what: link, days: at.second }];
  return [...once, ...second, { to: 1, what: 'email_changed', days: at.changedAgain }];
}

const clickedOf = ({ clicker }: TakeBackCase) => (clicker === 'second of three' ? 1 : 0);
const countOf = ({ clicker }: TakeBackCase) =>
  clicker === 'present' ? 1 : clicker === 'changed once' ? 2 : 3;

/** What has to come of it (contract section 2). */
export function outcomeOf(given: TakeBackCase) {
  const { factor, origin, role, state } = given;
  const clicked = clickedOf(given);
  const since = Math.min(...tell(given).flatMap(({ to, days }) => (to === clicked ? [days] : [])));
  const isFromWindow = factorAt(origin) >= since;
  const isLeft =
    factor !== 'none' && (!isFromWindow || origin === 'in an established browser' || role !== 'user');
  return {
    isRefused: state === 'suspended',
    asks: isLeft ? factor : undefined,
    /** After the factor was given where one is asked for. */
    keepsFactor: factor !== 'none' && (!isFromWindow || isLeft),
    keepsDeletion: state === 'leaving' && at.deletion < since,
    earlier: clicked,
  };
}

export type Arranged = Awaited<ReturnType<typeof arrange>>;

const secret = new Uint8Array(20).fill(7);
/** That secret, as an app has it. */
export const secretInBase32 = 'A4DQOBYHA4DQOBYHA4DQOBYHA4DQOBYH';

/** The rows of a case, and a link for each mailbox. */
export async function arrange(
  { db, config }: Pick<TestApp, 'db' | 'config'>,
  given: TakeBackCase,
  now: Date,
) {
  const [userId, accountId] = [randomUUID(), randomUUID()];
  const time = (days: number) => new Date(now.getTime() + days * dayMs);
  const emails = Array.from({ length: countOf(given) }, (_, each) => `case-${userId}-${each}@example.test`);
  const present = emails.at(-1) ?? '';
  await sql`insert into accounts (id, name) values (${accountId}, 'Case')`.execute(db);
  await sql`insert into users (id, account_id, email, holds_email, email_verified_at, name, role, password_hash)
    values (${userId}, ${accountId}, ${present}, true, ${time(-30)}, 'Cora Case', ${given.role}, 'a hash')`.execute(
    db,
  );
  if (given.state === 'leaving')
    await sql`update users set deletion_due_at = ${time(at.deletion + 14)} where id = ${userId}`.execute(db);
  await addFactor({ db, config }, given, { userId, addedAt: time(factorAt(given.origin)) });
  const links: string[] = [];
  for (const { to, what, days } of tell(given)) {
    const id = randomUUID();
    const expiresAt = time(days + 7);
    await sql`insert into take_back_changes (id, user_id, email, what, at, expires_at, device)
      values (${id}, ${userId}, ${emails[to]}, ${what}, ${time(days)}, ${expiresAt}, 'Firefox on Linux')`.execute(
      db,
    );
    if (what === 'email_changed')
      await sql`insert into reserved_addresses (email, user_id, expires_at)
        values (${emails[to]}, ${userId}, ${expiresAt})`.execute(db);
    const token = randomBytes(32).toString('base64url');
    await sql`insert into mail_tokens (token_hash, purpose, user_id, email, expires_at, change_id)
      values (${hashToken(token)}, 'undo_email_change', ${userId}, ${emails[to]}, ${expiresAt}, ${id})`.execute(
      db,
    );
    links[to] ??= `/take-back?token=${token}`;
  }
  if (given.state === 'suspended')
    await sql`update users set suspended_at = now() where id = ${userId}`.execute(db);
  const clicked = clickedOf(given);
  return { userId, emails, present, mailbox: emails[clicked] ?? '', links, link: links[clicked] ?? '' };
}

async function addFactor(
  { db, config }: Pick<TestApp, 'db' | 'config'>,
  { factor, origin }: TakeBackCase,
  { userId, addedAt }: { userId: string; addedAt: Date },
): Promise<void> {
  const isEstablished = origin !== 'in a new browser';
  if (factor === 'passkey')
    await sql`insert into passkeys (id, user_id, credential_id, public_key, counter, transports, backed_up, name, created_at, from_established_browser)
      values (${randomUUID()}, ${userId}, ${`credential-${userId}`}, ${Buffer.alloc(8)}, 0, '{}', false, 'Key', ${addedAt}, ${isEstablished})`.execute(
      db,
    );
  if (factor !== 'app') return;
  const sealed = await seal(config.encryptionKeys, `authenticator ${userId}`, secret);
  await sql`insert into authenticators (user_id, sealed_secret, last_step, added_at, last_used_at, from_established_browser)
    values (${userId}, ${sealed}, 0, ${addedAt}, ${addedAt}, ${isEstablished})`.execute(db);
  await sql`insert into recovery_codes (user_id, code_hash, made_at)
    values (${userId}, ${hashRecoveryCode(userId, recoveryCode)}, ${addedAt})`.execute(db);
}

export const recoveryCode = '7k2m-0qfx-w9zd';
