import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { openFreshDatabase } from '../support/database/database.ts';
import { shared } from '../support/run/shared.ts';

const client = shared(openFreshDatabase);

it('an invoice keeps its buyer, whatever they are called later', async () => {
  const { db } = client;
  const issue = (number: number) =>
    sql`insert into invoices (number, contract_id, plan, period_starts_at, period_ends_at, currency, unit_amount, status,
        issued_at, due_at)
      select ${number}, id, plan, now() + ${number} * interval '1 day', now() + interval '9 days', 'EUR', 1, 'open', now(),
        now() from service_contracts`.execute(db);
  await sql`insert into accounts (id, name) values (gen_random_uuid(), 'Then')`.execute(db);
  await sql`insert into users (id, account_id, email, holds_email, name)
    select gen_random_uuid(), id, 'then@example.test', true, 'x' from accounts`.execute(db);
  await sql`insert into service_contracts (id, user_id, account_id, signup_id, plan, status, occurred_at)
    select gen_random_uuid(), id, account_id, 's', 'p', 'active', now() from users`.execute(db);
  await issue(1);
  await sql`update accounts set name = 'Now'`.execute(db);
  await sql`update users set email = 'now@example.test'`.execute(db);
  await issue(2);
  const { rows } = await sql<{ name: string; email: string }>`
    select buyer_name as name, buyer_email as email from invoices order by number`.execute(db);
  expect(rows).toEqual([
    { name: 'Then', email: 'then@example.test' },
    { name: 'Now', email: 'now@example.test' },
  ]);
});
