// Checks what must be true after a load of signups, even if messages were repeated, cut off, or sent at the same time (contract
// 7.17).
import { sql } from 'kysely';
import type { Database } from '../../../db/postgres/client.ts';
import { demoUsers } from '../../../server/doors/demo/demo-users.ts';
import type { Message } from './signup-load.ts';

type Row = Record<string, string | null>;
type Kept = { message: Message; status: string | null; body: ReturnType<typeof JSON.parse> };

/**
 * Describes every fault. There is none if all of this holds for a database that had only the demo users before:
 *
 * 1. Messages. Each one was acknowledged. Every answer to it has the same status and bytes, and that answer is kept under
 *    its webhook id. No answer is kept for a message that nobody sent.
 * 2. Customers. Each address has one user, in its canonical form, with an account of their own. Every account has a user.
 *    Each user got one welcome mail at that address, and nobody got any other mail.
 * 3. Contracts. Each signup id has one contract, of the user of that address and of that user's account. Its terms are
 *    those of its newest message, in whatever order messages came in.
 * 4. Answers. Each answer names rows that exist. For each signup, one message made the contract: only its answer is 201,
 *    says `created` and shows the plan of that message. The others are 200 and show their own plan or a newer one. An
 *    answer that says `applied` shows its own plan, and one answer with the newest plan says so. For each address, one
 *    message made the user and the account, and made a contract, too.
 * 5. Audit. Each message has one `signup.accepted`, which names its user and contract. Its reason is `created` exactly if the
 *    answer was 201.
 */
export async function checkSignups(db: Database, messages: Message[]): Promise<string[]> {
  const stored = await readStored(db);
  const faults: string[] = [];
  const expectThat = (holds: boolean, fault: () => string) => {
    if (!holds) faults.push(fault());
  };
  /** The one row with that key. No row, or more than one, is a fault. */
  const single = (what: string, rows: Map<string, Row[]>, key: string): Row => {
    const [row, ...more] = rows.get(key) ?? [];
    expectThat(
      row !== undefined && more.length === 0,
      () => `${more.length + (row ? 1 : 0)} ${what} of ${key}`,
    );
    return row ?? {};
  };
  /** Any row with another key is a fault. */
  const nothingElse = (what: string, rows: Map<string, Row[]>, keys: Iterable<string>) => {
    const expected = new Set(keys);
    for (const key of rows.keys())
      expectThat(expected.has(key), () => `${what} of ${key}, which nobody sent`);
  };

  const answersKept = groupBy(stored.answers, ({ webhook_id }) => webhook_id);
  const events = groupBy(stored.events, ({ webhook_id }) => webhook_id);
  const kept: Kept[] = messages.map((message) => {
    const { webhookId, answers } = message;
    const { status = null, answer } = single('answers kept', answersKept, webhookId);
    expectThat(answers.length > 0, () => `no answer to ${webhookId}`);
    for (const given of answers) {
      const isKept = String(given.status) === status && given.text === answer;
      expectThat(
        isKept,
        () => `${webhookId} was answered ${given.status} ${given.text}, kept is ${status} ${answer}`,
      );
    }
    return { message, status, body: JSON.parse(answer ?? '{"user":{},"account":{},"contract":{}}') };
  });
  const webhookIds = messages.map(({ webhookId }) => webhookId);
  nothingElse('an answer kept', answersKept, webhookIds);
  nothingElse('an audit event', events, webhookIds);

  const users = groupBy(stored.users, ({ email }) => email);
  const mails = groupBy(stored.mails, ({ user_id }) => user_id);
  const accountsWithUser = groupBy(stored.users, ({ account_id }) => account_id);
  const byEmail = groupBy(kept, ({ message }) => message.email);
  for (const [email, sent] of byEmail) {
    const user = single('users', users, email);
    single('users in the account', accountsWithUser, user.account_id ?? '');
    const mail = single('mails', mails, user.id ?? '');
    expectThat(
      mail.kind === 'welcome' && mail.recipient === email,
      () => `a ${mail.kind} to ${mail.recipient}`,
    );
    const creators = sent.filter(({ body }) => body.user.created || body.account.created);
    const isOne =
      creators.length === 1 && creators.every(({ body }) => body.user.created && body.account.created);
    expectThat(isOne, () => `${creators.length} answers say that they made ${email}`);
    expectThat(
      creators.every(({ status }) => status === '201'),
      () => `${email} was made without a contract`,
    );
  }
  nothingElse('a user', users, byEmail.keys());
  nothingElse(
    'a mail',
    mails,
    stored.users.map(({ id }) => id ?? ''),
  );
  nothingElse(
    'an account',
    groupBy(stored.accounts, ({ id }) => id),
    accountsWithUser.keys(),
  );

  const contracts = groupBy(stored.contracts, ({ signup_id }) => signup_id);
  const bySignup = groupBy(kept, ({ message }) => message.signupId);
  for (const [signupId, sent] of bySignup) {
    const contract = single('contracts', contracts, signupId);
    const user = users.get(sent[0]?.message.email ?? '')?.[0];
    const isOwn = contract.user_id === user?.id && contract.account_id === user?.account_id;
    expectThat(isOwn, () => `the contract of ${signupId} is somebody else's`);
    const newest = Math.max(...sent.map(({ message }) => message.version));
    expectThat(
      contract.plan === `v${newest}`,
      () => `${signupId} has ${contract.plan}, its newest is v${newest}`,
    );
    const created = sent.filter(({ status, body }) => status === '201' || body.contract.created);
    expectThat(created.length === 1, () => `${created.length} answers say that they made ${signupId}`);
    const applied = sent.filter(({ message, body }) => body.applied && message.version === newest);
    expectThat(
      applied.length === 1,
      () => `${applied.length} answers say that the newest of ${signupId} was applied`,
    );

    for (const { message, status, body } of sent) {
      const { webhookId, version } = message;
      const named = [body.signup_id, body.user.id, body.account.id, body.contract.id, body.contract.status];
      const there = [signupId, contract.user_id, contract.account_id, contract.id, 'trialing'];
      expectThat(named.join() === there.join(), () => `${webhookId} names ${named}, there is ${there}`);
      expectThat(
        (status === '201') === body.contract.created,
        () => `${webhookId} is ${status} with another body`,
      );
      const shown = Number(body.contract.plan?.slice(1));
      const isOwn = status === '201' || body.applied;
      const isRight = isOwn ? body.applied && shown === version : shown >= version;
      expectThat(isRight, () => `${webhookId} with v${version} was shown v${shown} and ${status}`);

      const event = single('audit events', events, webhookId);
      const told = [event.user_id, event.contract_id, event.reason === 'created'];
      const due = [contract.user_id, contract.id, status === '201'];
      expectThat(told.join() === due.join(), () => `the audit of ${webhookId} tells ${told}, not ${due}`);
    }
  }
  nothingElse('a contract', contracts, bySignup.keys());
  return faults;
}

async function readStored(db: Database) {
  const demo = demoUsers.map(({ email }) => email);
  const read = async (query: ReturnType<typeof sql<Row>>) => (await query.execute(db)).rows;
  return {
    users: await read(sql`select id, email, account_id from users where email <> all (${demo})`),
    accounts: await read(
      sql`select id from accounts where id not in (select account_id from users where email = any (${demo}))`,
    ),
    contracts: await read(sql`select id, signup_id, user_id, account_id, plan from service_contracts`),
    mails: await read(sql`select user_id, kind, recipient from mails where kind <> 'contract_added'`),
    answers: await read(sql`select webhook_id, status::text, answer from webhook_requests`),
    events: await read(sql`
      select reason, user_id, details->>'webhookId' as webhook_id, details->>'contractId' as contract_id
      from audit_events where type = 'signup.accepted'`),
  };
}

function groupBy<T>(items: T[], keyOf: (item: T) => string | null | undefined): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item) ?? '';
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}
