// The floor's answer to a signup from the CRM, of a known customer or a new one.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { HMAC } from 'oslo/crypto';
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { insertAuditEvent, insertMail, inTransaction, query, sha256, userColumns } from './floor-database.ts';
import { settings } from './population.ts';

const hmac = new HMAC('SHA-256');
const key = Buffer.from(settings.CRM_SIGNUPS_SECRET.slice('whsec_'.length), 'base64');

export async function signups(request: IncomingMessage, body: Buffer, response: ServerResponse) {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp } = request.headers;
  const message = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body]);
  const mac = Buffer.from(await hmac.sign(key, message)).toString('base64');
  if (`v1,${mac}` !== request.headers['webhook-signature']) throw new Error('signature');
  const signup = JSON.parse(body.toString());
  const { contract } = signup;
  let answer = '';
  await inTransaction(async (client) => {
    await query(client, 'select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as locked', [id]);
    await query(client, 'select body_hash, status, answer from webhook_requests where webhook_id = $1', [id]);
    const byId = 'select * from service_contracts where signup_id = $1 for update';
    await query(client, byId, [signup.signup_id]);
    const byEmail = `select ${userColumns} from users u join accounts a on a.id = u.account_id where u.email = $1 and u.holds_email`;
    const [known] = await query(client, byEmail, [signup.user.email]);
    const user = known ?? (await createCustomer(client, signup));
    const contractId = uuidv7();
    const trialEndsAt = new Date(contract.trial_ends_at);
    await query(
      client,
      `insert into service_contracts (id, user_id, account_id, signup_id, plan, status, trial_ends_at, price_currency,
        price_unit_amount, price_interval, occurred_at, next_period_starts_at, billing_anchor_day)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $7, $12)`,
      [
        contractId,
        user.user_id,
        user.account_id,
        signup.signup_id,
        contract.plan,
        contract.status,
        trialEndsAt,
        contract.price.currency,
        contract.price.unit_amount,
        contract.price.interval,
        new Date(signup.occurred_at),
        trialEndsAt.getUTCDate(),
      ],
    );
    answer = JSON.stringify({
      signup_id: signup.signup_id,
      user: { id: user.user_id, created: !known },
      account: { id: user.account_id, created: !known },
      contract: { id: contractId, status: contract.status, plan: contract.plan, created: true },
    });
    const event = { type: 'signup.accepted', reason: 'created', userId: user.user_id, address: '127.0.0.1' };
    await insertAuditEvent(client, { ...event, details: { contractId } });
    if (known) await insertMail(client, 'contract_added', known.user_id, signup.user.email);
    await query(
      client,
      'insert into webhook_requests (webhook_id, body_hash, status, answer, created_at) values ($1, $2, $3, $4, $5)',
      [id, sha256(body), 201, answer, new Date()],
    );
  });
  response.writeHead(201, { 'Content-Type': 'application/json' }).end(answer);
}

async function createCustomer(
  client: pg.PoolClient,
  { user, account }: { user: Record<string, string>; account: Record<string, string> },
) {
  const [id, accountId] = [uuidv7(), uuidv7()];
  await query(client, 'insert into accounts (id, name, capabilities, verified_at) values ($1, $2, $3, $4)', [
    accountId,
    account.name,
    [],
    null,
  ]);
  await query(
    client,
    `insert into users (id, account_id, email, holds_email, name, role, password_hash, email_verified_at, suspended_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [id, accountId, user.email, true, user.name, 'user', null, null, null],
  );
  await insertMail(client, 'welcome', id, user.email);
  return { user_id: id, account_id: accountId };
}
