// Adds what staff pages read besides people: 400 days of documents, money and sums of hours, and a month of mails.
import type pg from 'pg';
import { callKinds, launchOutcomes, loginResults, mailResults } from '../../server/metrics/results.ts';
import { spellKey } from '../../server/metrics/sums.ts';
import { germanSettings } from '../support/billing/settings.ts';
import { idOf } from './ids.ts';

export const clients = ['marketplace', 'learn', 'shop', 'forum'];
export const days = 400;

const quote = (value: unknown) => `'${JSON.stringify(value).replaceAll("'", "''")}'::jsonb`;

/**
 * Adds a contract with two documents for each tenth person. Only old documents are in a rare state, so that a list of such a
 * state has to read all documents.
 */
export async function fillBooks(client: pg.Client, people: number): Promise<void> {
  const contracts = Math.floor(people / 10);
  const invoices = Math.floor(people * 0.18);
  const { seller, payment } = germanSettings;
  await client.query(`insert into billing_settings (version, settings, counts_from, made_by, why)
    values (1, ${quote(germanSettings)}, '-infinity', 'bench', 'for the bench')`);
  await client.query(`
    insert into service_contracts (id, user_id, account_id, signup_id, plan, status, trial_ends_at, price_currency, price_unit_amount,
      price_interval, occurred_at, created_at, next_period_starts_at, billing_anchor_day, cancels_at)
    select id, user_id, account_id, signup_id, plan, status, case status when 'trialing' then now() + k % 60 * interval '1 day' end,
      'EUR', price, case k % 5 when 0 then 'year' else 'month' end, at, at,
      case status when 'active' then now() + k % 30 * interval '1 day' end, case status when 'active' then 1 end,
      case when status = 'active' and k % 40 = 0 then now() + interval '9 days' end
    from (
      select k, ${idOf(4, 'k * 10')} as id, ${idOf(1, 'k * 10')} as user_id, ${idOf(0, 'k * 10')} as account_id,
        'signup_' || k * 10 as signup_id, (array['starter', 'team', 'business', 'agency', 'free'])[1 + k % 5] as plan,
        (array[1000, 5000, 20000, 50000, 0])[1 + k % 5] as price, now() - (${contracts} - k) * interval '${days} days' / ${contracts} as at,
        case when k <= 30 then 'expired' when k % 50 = 7 then 'past_due' when k % 20 = 3 then 'trialing' when k % 10 = 9 then 'canceled'
          else 'active' end as status
      from generate_series(1, ${contracts}) k) made`);
  await client.query(`
    create temporary table made as
    select j, k, 'INV-' || lpad(j::text, 7, '0') as document, issued_at, issued_at + interval '14 days' as due_at,
      currency, net, case currency when 'EUR' then net * 19 / 100 else 0 end as tax,
      case when j % 12 = 5 then 'void' when issued_at > now() - interval '14 days' and j % 2 = 0 or j % 100 = 3
        or k % 50 = 7 and issued_at > now() - interval '100 days' then 'open' else 'paid' end as status,
      j % 36 = 7 as is_partial
    from (
      select j, 1 + j % ${contracts} as k, now() - (${invoices} - j) * interval '${days} days' / ${invoices} as issued_at,
        case j % 50 when 0 then 'USD' else 'EUR' end as currency, (array[1000, 5000, 20000, 50000])[1 + j % 4]::bigint as net
      from generate_series(1, ${invoices}) j) numbered`);
  // A void invoice is credited in full. Some of the paid invoices are credited by half.
  await client.query(`
    insert into invoices (number, contract_id, plan, period_starts_at, period_ends_at, currency, unit_amount, status, issued_at, due_at,
      paid_at, document, credited, allocated)
    select j, ${idOf(4, 'k * 10')}, 'starter', issued_at, issued_at + interval '1 month', currency, net + tax, status, issued_at, due_at,
      case status when 'paid' then least(now(), issued_at + interval '9 days') end, document, credited,
      case status when 'paid' then net + tax - credited else 0 end
    from made, lateral (select case when status = 'void' then net + tax when status = 'paid' and is_partial then (net + tax) / 2 else 0 end
      as credited) c`);
  const facts = (kind: string) => `jsonb_build_object('version', 1, 'kind', '${kind}', 'number', number,
    'issued_on', at::date, 'due_on', case '${kind}' when 'invoice' then due_at::date end, 'currency', currency,
    'invoice', case '${kind}' when 'credit_note' then jsonb_build_object('number', document, 'issued_on', issued_at::date) end,
    'seller', ${quote(seller)}, 'buyer', jsonb_build_object('name', 'Kunde ' || k || ' GmbH', 'vat_id', null, 'email', 'kunde' || k || '@post.example.com',
      'address', case when j % 1000 <> 1 then jsonb_build_object('line1', 'Hauptstraße ' || k, 'postcode', '10115', 'city', 'Berlin', 'country', 'DE') end),
    'line', jsonb_build_object('plan', 'starter', 'title', 'Starter', 'description', 'The starter plan', 'first_day', issued_at::date,
      'last_day', (issued_at + interval '30 days')::date),
    'prices', 'net', 'category', case currency when 'EUR' then 'S' else 'O' end, 'rate', case currency when 'EUR' then 1900 else 0 end,
    'words', null, 'net', net, 'tax', tax, 'total', net + tax, 'payment', ${quote(payment)},
    'record', jsonb_build_object('contract_id', ${idOf(4, 'k * 10')}, 'account_id', ${idOf(0, 'k * 10')}, 'signup_id', 'signup_' || k * 10,
      'period_starts_at', issued_at, 'period_ends_at', issued_at + interval '1 month', 'issued_at', at, 'due_at', due_at,
      'past_due_at', due_at, 'settings_version', 1))`;
  const document = (kind: 'invoice' | 'credit_note', from: string) =>
    client.query(`
    insert into documents (number, kind, invoice, prefix, year, settings_version, issued_on, first_day, last_day, currency, net, tax, total,
      category, rate, issued_at, facts)
    select number, '${kind}', j, split_part(number, '-', 1) || '-', extract(year from at), 1, at::date, issued_at::date,
      (issued_at + interval '30 days')::date, currency, net, tax, net + tax, case currency when 'EUR' then 'S' else 'O' end,
      case currency when 'EUR' then 1900 else 0 end, at, ${facts(kind)}
    from (${from}) drawn`);
  await document('invoice', 'select *, document as number, issued_at as at from made');
  await document(
    'credit_note',
    `select j, k, document, issued_at, due_at, currency, half as net, credited - half as tax, replace(document, 'INV', 'CN') as number,
      least(now(), issued_at + interval '3 days') as at
    from (select made.*, credited, case made.status when 'void' then net else net / 2 end as half
      from made join invoices on number = j where credited > 0) m`,
  );
  await client.query(`
    insert into payments (id, kind, currency, amount, paid_at, method, reference, recorded_at, recorded_by, unallocated)
    select 'pay_' || number, 'payment', currency, allocated, paid_at, 'bank', 'RF' || number, paid_at, 'bench', 0
    from invoices where allocated > 0`);
  await client.query(`insert into allocations (payment, invoice, amount, recorded_at)
    select 'pay_' || number, number, allocated, paid_at from invoices where allocated > 0 order by paid_at`);
  await client.query(`
    insert into payments (id, kind, of, currency, amount, paid_at, invoice_number, recorded_at, recorded_by, unallocated)
    select 'more_' || n, case when n % 10 > 0 then 'payment' else 'refund' end, case when n % 10 = 0 then 'nobody_' || n end, 'EUR', 1000,
      now() - n * interval '1 day', 'INV-0-' || n, now() - n * interval '1 day', 'bench', case when n % 10 > 0 then 1000 else -1000 end
    from generate_series(1, 300) n`);
  await client.query(`insert into waiting_periods (contract_id, starts_at, ends_at, plan, currency, unit_amount, held_code, tried_at)
    select id, now(), now() + interval '1 month', plan, 'EUR', 1000, case row_number() over () % 2 when 0 then 'no_tax_rule' end,
      case row_number() over () % 2 when 0 then now() end
    from service_contracts where created_at < now() - interval '100 days' and status = 'active' limit 1000`);
  await client.query(`insert into billing_details (account_id, company, line1, postcode, city, country, ignored)
    select ${idOf(0, 'k * 10')}, 'Kunde ' || k || ' GmbH', 'Hauptstraße ' || k, '10115', 'Berlin', 'DE',
      case k % 2000 when 0 then '{/vat_id}'::text[] else '{}' end from generate_series(1, ${contracts}) k`);
  await client.query(`insert into documents_to_make (number, tries, next_try_at, last_error)
    select document, 3, now(), 'It is too long.' from made order by j desc limit 20`);
}

/** Adds sums for each hour, under some 60 keys. */
export async function fillSums(client: pg.Client): Promise<void> {
  const refused = ['invalid_request', 'unauthorized', 'not_found', 'rate_limited', 'conflict', 'unavailable'];
  const keys = [
    ...loginResults.slice(0, 8).map((result) => spellKey('identity_logins_total', { result })),
    ...mailResults.slice(0, 2).map((result) => spellKey('identity_mails_total', { result })),
    ...['password', 'passkey'].map((result) => spellKey('identity_sign_ups_total', { result })),
    ...['created', 'updated', 'repeated'].map((result) => spellKey('identity_signups_total', { result })),
    ...['accepted', 'continue', 'repeated'].map((result) =>
      spellKey('identity_inbound_hand_offs_total', { result }),
    ),
    ...clients.flatMap((name) => [
      ...launchOutcomes
        .slice(0, 3)
        .map((outcome) => spellKey('identity_launches_total', { client: name, outcome })),
      ...refused.map((code) => spellKey('identity_refusals_total', { code, client: name })),
      spellKey('identity_client_calls_total', { client: name, kind: callKinds[0], secret: 'first' }),
    ]),
  ];
  await client.query(
    `insert into sums_of_hours (hour, key, count, last_at)
    select hour, key, 1 + (random() * 1000)::int, hour + interval '59 minutes'
    from generate_series(date_trunc('hour', now()) - interval '${days} days', now(), interval '1 hour') hour, unnest($1::text[]) key`,
    [keys],
  );
}

/**
 * Adds the mails of a month, and events that a client has not read. Most mails have left, some have failed, and some are still
 * to be sent.
 */
export async function fillMails(client: pg.Client, people: number): Promise<void> {
  await client.query(`
    insert into mails (id, kind, user_id, recipient, created_at, attempts, next_attempt_at, last_error, sent_at, given_up_at)
    select gen_random_uuid(), (array['set_password', 'verify_email', 'new_device', 'invoice'])[1 + n % 4], ${idOf(1, 'n')},
      'kunde' || n || '@post.example.com', at, 1, at, case state when 'failed' then '450 try again later' end,
      case state when 'sent' then at end, case state when 'given_up' then at end
    from (select n, now() - random() * interval '30 days' as at, case n % 300 when 3 then 'failed' when 6 then 'given_up'
        when 9 then 'waiting' else 'sent' end as state
      from generate_series(3, ${people}, 3) n) written`);
  await client.query(`insert into events (client, seq, type, user_id, occurred_at, numbered_at, body)
    select 'marketplace', n, 'profile.updated', ${idOf(1, 'n')}, now() - (20001 - n) * interval '1 minute', now() - (20001 - n) * interval '1 minute', '{}'
    from generate_series(1, 20000) n`);
  await client.query(`insert into event_sequences (client, latest) values ('marketplace', 20000)
    on conflict (client) do update set latest = excluded.latest`);
  await client.query(
    `insert into event_deliveries (client, acknowledged, pulled_at) values ('marketplace', 10000, now())`,
  );
}
