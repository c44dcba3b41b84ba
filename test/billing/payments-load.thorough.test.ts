// Payments and refunds in any order, at two instances whose transactions are killed. `FAULTS=long` has 500 payments.
import { sql } from 'kysely';
import { expect, it, vi } from 'vitest';
import { openApp } from '../support/app/app.ts';
import {
  addInvoice,
  buildPayment,
  buildRefund,
  findFaultsInBooks,
  type Report,
  sendReport,
} from '../support/billing/money.ts';
import { setSettings } from '../support/billing/settings.ts';
import { freshWebhookId } from '../support/crm/crm.ts';
import { byForm } from '../support/faults/faults.ts';
import { createRandom, seed, shuffle } from '../support/run/random.ts';

const { payments, invoices, killEveryMs } = byForm({
  short: { payments: 70, invoices: 8, killEveryMs: 100 },
  long: { payments: 500, invoices: 40, killEveryMs: 150 },
});
const requests = 3 * payments;

it(`each of ${payments} payments counts once while processes are killed, and the books balance`, {
  timeout: 300_000,
}, async () => {
  const random = createRandom(seed);
  const pick = (below: number) => Math.floor(random() * below);
  const app = await openApp();
  const other = await app.startInstance();
  await setSettings(app.db);
  const numbers: string[] = [];
  while (numbers.length < invoices) numbers.push(await addInvoice(app.db));

  const reports: Report[] = [];
  for (let at = 0; at < payments; at++) {
    const named = [numbers[pick(invoices)], 'unknown', null][pick(10) < 8 ? 0 : 1 + pick(2)];
    const currency = pick(10) === 0 ? 'USD' : 'EUR';
    const amount = (unit_amount: number) => ({ amount: { currency, unit_amount } });
    const payment = buildPayment(1, { invoice_number: named, ...amount(1 + pick(2_000)) });
    reports.push(payment);
    for (let back = pick(3); back > 0; back--)
      reports.push(buildRefund(payment.payment_id, 1, amount(1 + pick(1_200))));
  }
  const messages = reports.map((report) => ({ report, webhookId: freshWebhookId() }));
  // The other messages are repeats. Half of them have the same webhook-id.
  for (let at = messages.length; at < requests; at++) {
    const message = messages[pick(reports.length)] as (typeof messages)[number];
    messages.push(pick(2) ? message : { ...message, webhookId: freshWebhookId() });
  }

  const queue = shuffle(messages);
  let isOver = false;
  let kills = 0;
  const killer = (async () => {
    while (!isOver) {
      await new Promise((done) => setTimeout(done, killEveryMs));
      const { rows } = await sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null
        order by random() limit 1`.execute(app.db);
      kills += rows.length;
    }
  })();
  const taken = new Map<string, number>();
  const work = async (at: number) => {
    for (let message = queue.pop(); message; message = queue.pop()) {
      const { report, webhookId } = message;
      // Sends again until there is an answer, as a provider does.
      await vi.waitFor(
        async () => {
          const answer = await sendReport(at % 2 ? app : other, report, { webhookId });
          // A refund before its payment is sent again later (contract 7.474).
          if (answer.status === 422 && report.of) return void queue.unshift(message);
          expect([200, 201], answer.text).toContain(answer.status);
          if (answer.status === 201 && !answer.headers.has('idempotent-replayed'))
            taken.set(report.payment_id, (taken.get(report.payment_id) ?? 0) + 1);
        },
        { timeout: 60_000, interval: 20 },
      );
    }
  };
  await Promise.all(Array.from({ length: 16 }, (_, at) => work(at)));
  isOver = true;
  await killer;

  expect(kills).toBeGreaterThan(byForm({ short: 3, long: 10 }));
  // If an answer was lost, the next try is answered as a repeat. So no payment is accepted as new twice.
  expect([...taken.values()].every((times) => times === 1)).toBe(true);
  const { rows } = await sql<{ id: string; amount: number }>`
    select id, amount::float8 from payments order by id`.execute(app.db);
  const sent = reports.map((report) => ({ id: report.payment_id, amount: report.amount.unit_amount }));
  const byId = (one: { id: string }, next: { id: string }) => (one.id < next.id ? -1 : 1);
  expect([...rows].sort(byId)).toEqual(sent.sort(byId));
  const audited = await sql<{ n: number }>`
    select count(*)::int as n from audit_events where type in ('payment.recorded', 'payment.refunded')`.execute(
    app.db,
  );
  expect(audited.rows[0]?.n).toBe(reports.length);
  expect(await findFaultsInBooks(app.db)).toEqual([]);
  await app.close();
});
