// Every combination of the facts that contract 2.44 to 2.47 looks at, and what has to happen in each. It is written from the
// contract, not from the code.
import { randomBytes, randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Told } from '../../../db/tables/take-back-changes.ts';
import { seal } from '../../../server/basics/sealing.ts';
import { hashRecoveryCode } from '../../../server/identity/factor/recovery-codes.ts';
import { hashToken } from '../../../server/identity/ground/tokens.ts';
import type { TestApp } from '../app/app.ts';
import { createAuthenticator } from './authenticator.ts';

const told: Told[] = [
  'passkey_added',
  'authenticator_added',
  'recovery_codes_made',
  'deletion_requested',
  'email_changed',
];

/** Which link is clicked: the link that went to the present email address, or to an earlier one. */
const clickers = ['present', 'changed once', 'changed twice', 'second of three'] as const;
const roles = ['user', 'manager', 'admin'] as const;
const states = ['live', 'suspended', 'leaving'] as const;

// All times are in days from now.
const at = { first: -2, changed: -1.5, second: -1, deletion: -0.6, changedAgain: -0.5 };

/** When and where a factor was added. The time may be in the window (contract 2.44) of one link, and before that of another. */
const origins = [
  undefined,
  ...(['an established browser', 'a new browser'] as const).flatMap((browser) => [
    { browser, when: 'ten days ago', days: -10 },
    { browser, when: 'after the first change', days: -1.75 },
    { browser, when: 'after the second', days: -0.75 },
  ]),
];
type Origin = (typeof origins)[number];

export type TakeBackCase = {
  clicker: (typeof clickers)[number];
  link: Told;
  passkey: Origin;
  app: Origin;
  role: (typeof roles)[number];
  state: (typeof states)[number];
};

const nameOfFactor = (what: string, origin: Origin) =>
  origin ? `${what} of ${origin.when} in ${origin.browser}` : `no ${what}`;

export const nameOf = ({ clicker, link, passkey, app, role, state }: TakeBackCase) =>
  [clicker, link, nameOfFactor('passkey', passkey), nameOfFactor('app', app), role, state].join(', ');

/** All combinations. The mail about a change of email address never goes to the present address. */
export const takeBackCases: TakeBackCase[] = clickers.flatMap((clicker) =>
  told
    .filter((link) => clicker !== 'present' || link !== 'email_changed')
    .flatMap((link) =>
      origins.flatMap((passkey) =>
        origins.flatMap((app) =>
          roles.flatMap((role) => states.map((state) => ({ clicker, link, passkey, app, role, state }))),
        ),
      ),
    ),
);

/** The changes that were told by mail, in order. `to` says to which of up to three mailboxes. */
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

export type Way = 'nothing' | 'passkey' | 'code' | 'recovery code';
export type Outcome = ReturnType<typeof outcomeOf>;

/** Returns what has to happen in that case (contract 2.46 to 2.54 and 2.168). */
export function outcomeOf(given: TakeBackCase) {
  const { passkey, app, role, state } = given;
  const clicked = clickedOf(given);
  const since = Math.min(...tell(given).flatMap(({ to, days }) => (to === clicked ? [days] : [])));
  const isBefore = (origin: Origin) => origin !== undefined && origin.days < since;
  const isLeft = (origin: Origin) =>
    origin !== undefined &&
    (isBefore(origin) || origin.browser === 'an established browser' || role !== 'user');
  const asks = { passkey: isLeft(passkey), code: isLeft(app) };
  const ways: Way[] = [
    ...(asks.passkey ? (['passkey'] as const) : []),
    ...(asks.code ? (['code', 'recovery code'] as const) : []),
  ];
  return {
    isRefused: state === 'suspended',
    asks,
    ways: ways.length > 0 ? ways : (['nothing'] as Way[]),
    // Only the mailbox that was told first can freeze the account.
    canFreeze: ways.length > 0 && clicked === 0,
    /** The user's factors after a take-back in which `way` was given. */
    factorsAfter: (way: Way) => [
      ...(isBefore(passkey) || way === 'passkey' ? ['passkey'] : []),
      ...(isBefore(app) || way === 'code' || way === 'recovery code' ? ['app'] : []),
    ],
    keepsDeletion: state === 'leaving' && at.deletion < since,
    /** The number of mailboxes that were told before this one. The links in their mails go on working. */
    earlier: clicked,
  };
}

export type Arranged = Awaited<ReturnType<typeof arrange>>;

const secret = new Uint8Array(20).fill(7);
export const secretInBase32 = 'A4DQOBYHA4DQOBYHA4DQOBYHA4DQOBYH';
export const recoveryCode = '7k2m-0qfx-w9zd';

/** The rows of a case, and a link for each mailbox. */
export async function arrange(
  { db, config }: Pick<TestApp, 'db' | 'config'>,
  given: TakeBackCase,
  now: Date,
) {
  const [userId, accountId] = [randomUUID(), randomUUID()];
  const time = (days: number) => new Date(now.getTime() + days * 24 * 60 * 60 * 1_000);
  const emails = Array.from({ length: countOf(given) }, (_, each) => `case-${userId}-${each}@example.test`);
  const present = emails.at(-1) ?? '';
  await sql`insert into accounts (id, name) values (${accountId}, 'Case')`.execute(db);
  await sql`insert into users (id, account_id, email, holds_email, email_verified_at, name, role, password_hash)
    values (${userId}, ${accountId}, ${present}, true, ${time(-30)}, 'Cora Case', ${given.role}, 'a hash')`.execute(
    db,
  );
  if (given.state === 'leaving')
    await sql`update users set deletion_due_at = ${time(at.deletion + 14)} where id = ${userId}`.execute(db);
  const passkey = createAuthenticator();
  const user = { userId, time };
  await addPasskey(db, given.passkey, { ...user, passkey });
  await addApp({ db, config }, given.app, user);
  await logIn(db, user);
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
  return { userId, emails, mailbox: emails[clicked] ?? '', links, link: links[clicked] ?? '', passkey };
}

type Db = TestApp['db'];
type Time = (days: number) => Date;

async function addPasskey(
  db: Db,
  origin: Origin,
  { userId, time, passkey }: { userId: string; time: Time; passkey: ReturnType<typeof createAuthenticator> },
): Promise<void> {
  if (!origin) return;
  const { credentialId, publicKey } = passkey;
  await sql`insert into passkeys (id, user_id, credential_id, public_key, counter, transports, backed_up, name, created_at, from_established_browser)
    values (${randomUUID()}, ${userId}, ${credentialId}, ${publicKey}, 0, '{}', false, 'Key', ${time(origin.days)}, ${isEstablished(origin)})`.execute(
    db,
  );
}

async function addApp(
  { db, config }: Pick<TestApp, 'db' | 'config'>,
  origin: Origin,
  { userId, time }: { userId: string; time: Time },
): Promise<void> {
  if (!origin) return;
  const addedAt = time(origin.days);
  const sealed = await seal(config.encryptionKeys, `authenticator ${userId}`, secret);
  await sql`insert into authenticators (user_id, sealed_secret, last_step, added_at, last_used_at, from_established_browser)
    values (${userId}, ${sealed}, 0, ${addedAt}, ${addedAt}, ${isEstablished(origin)})`.execute(db);
  await sql`insert into recovery_codes (user_id, code_hash, made_at)
    values (${userId}, ${hashRecoveryCode(userId, recoveryCode)}, ${addedAt})`.execute(db);
}

const isEstablished = ({ browser }: NonNullable<Origin>) => browser === 'an established browser';

/** Logs somebody in, in a known browser, with an account at the marketplace. */
async function logIn(db: Db, { userId, time }: { userId: string; time: Time }): Promise<void> {
  await sql`insert into sessions (id, user_id, token_hash, created_at, last_seen_at, auth_time, address, user_agent)
    values (${randomUUID()}, ${userId}, ${randomBytes(32)}, ${time(-1)}, ${time(-0.01)}, ${time(-1)}, '10.0.0.1', 'Firefox')`.execute(
    db,
  );
  await sql`insert into devices (token_hash, user_id, last_login_at, known_since, is_last)
    values (${randomBytes(32)}, ${userId}, ${time(-1)}, ${time(-20)}, true)`.execute(db);
  await sql`insert into external_links (provider, external_id, user_id) values ('marketplace', ${userId}, ${userId})`.execute(
    db,
  );
}
