// POST /integrations/payments: what a report does, and what answer it gets.
import { sql, type Transaction } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inTransaction } from '../../db/postgres/transactions.ts';
import type { DB } from '../../db/schema.ts';
import { allocate, payBack, payOpen, type Recorder } from '../../server/billing/payments/allocate.ts';
import { creditInvoice } from '../../server/billing/payments/credit.ts';
import { openApp } from '../support/app/app.ts';
import { production } from '../support/app/settings.ts';
import {
  addContract,
  addEarlyRefund,
  addInvoice,
  buildPayment,
  buildRefund,
  findFaultsInBooks,
  issueNext,
  readInvoice,
  readUnallocated,
  report,
  sendReport,
} from '../support/billing/money.ts';
import { setSettings } from '../support/billing/settings.ts';
import { buildSignup, freshWebhookId, sendSignup, signMessage } from '../support/crm/crm.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(openApp);
beforeAll(async () => {
  await setSettings(app.db);
});
afterAll(async () => {
  expect(await findFaultsInBooks(app.db)).toEqual([]);
});

const act = <T>(work: (trx: Transaction<DB>, by: Recorder) => Promise<T>) =>
  inTransaction(app.db, { by: 'operator', cause: 'test' }, (trx) =>
    work(trx, { now: new Date(), recordedBy: 'operator' }),
  );

async function readTexts(id: string): Promise<(string | null)[]> {
  const { rows } = await sql<{ texts: (string | null)[] }>`
    select jsonb_build_array(invoice_number, method, reference) as texts from payments where id = ${id}`.execute(
    app.db,
  );
  return rows[0]?.texts ?? [];
}

const errorsOf = ({ text }: { text: string }) =>
  (JSON.parse(text).errors ?? []).map(({ pointer }: { pointer: string }) => pointer);

describe('a payment (contract 7.131 and 7.134)', () => {
  it('pays the invoice that it names, and is answered 201 (contract 7.142 and 7.146)', async () => {
    const number = await addInvoice(app.db);
    const payment = buildPayment(3_451, { invoice_number: number, method: 'card', reference: 'Thanks' });
    expect(await report(app, payment)).toEqual({
      status: 201,
      payment_id: payment.payment_id,
      applied: true,
      allocated: 3_451,
      unallocated: 0,
      invoice: { number, status: 'paid', open: 0 },
    });
    const row = await app.db
      .selectFrom('payments')
      .select(['method', 'reference', 'recorded_by', 'paid_at'])
      .where('id', '=', payment.payment_id)
      .executeTakeFirst();
    expect(row).toEqual({
      ...{ method: 'card', reference: 'Thanks', recorded_by: 'payments' },
      paid_at: new Date(payment.paid_at),
    });
  });

  it('may be a part, and the rest is open', async () => {
    const number = await addInvoice(app.db);
    expect(await report(app, buildPayment(1_000, { invoice_number: number }))).toMatchObject({
      allocated: 1_000,
      invoice: { status: 'open', open: 2_451 },
    });
    expect(await report(app, buildPayment(2_451, { invoice_number: number.toLowerCase() }))).toMatchObject({
      invoice: { number, status: 'paid', open: 0 },
    });
  });

  it('that is too much waits with the rest', async () => {
    const number = await addInvoice(app.db);
    const answer = await report(app, buildPayment(5_000, { invoice_number: number }));
    expect(answer).toMatchObject({ allocated: 3_451, unallocated: 1_549, invoice: { open: 0 } });
    const again = await report(app, buildPayment(100, { invoice_number: number }));
    expect(again).toMatchObject({ allocated: 0, unallocated: 100, invoice: { status: 'paid' } });
  });

  it('for a void invoice waits whole, and says so', async () => {
    const number = await addInvoice(app.db);
    await act((trx, by) => creditInvoice(trx, number, undefined, by));
    expect(await report(app, buildPayment(3_451, { invoice_number: number }))).toMatchObject({
      ...{ status: 201, allocated: 0, unallocated: 3_451, invoice: { number, status: 'void', open: 0 } },
    });
  });

  it.each([
    ['in another currency', { amount: { currency: 'USD', unit_amount: 3_451 } }],
    ['for an unknown number', { invoice_number: 'INV-1999-0001' }],
    ['for no number', { invoice_number: null }],
    ['for a number of any text', { invoice_number: 'Rechnung vom März ؟ 🙂' }],
  ])('%s waits whole (contract 7.147)', async (_, changes) => {
    const number = await addInvoice(app.db);
    const answer = await report(app, buildPayment(3_451, { invoice_number: number, ...changes }));
    expect(answer).toMatchObject({ status: 201, applied: true, allocated: 0, unallocated: 3_451 });
    const isKnown = !('invoice_number' in changes);
    expect(answer.invoice).toEqual(isKnown ? { number, status: 'open', open: 3_451 } : null);
    expect(await readInvoice(app.db, number)).toMatchObject({ allocated: 0 });
  });

  it('that came before its invoice is not put to that invoice later', async () => {
    const contract = await addContract(app.db);
    const first = await issueNext(app.db, contract);
    const next = first?.replace(/\d+$/, (digits) => String(Number(digits) + 1).padStart(4, '0')) ?? '';
    const payment = buildPayment(3_451, { invoice_number: next });
    expect(await report(app, payment)).toMatchObject({ invoice: null });
    expect(await issueNext(app.db, contract)).toBe(next);
    expect(await report(app, payment)).toMatchObject({
      ...{ status: 200, applied: false, unallocated: 3_451 },
      invoice: { number: next, status: 'open', open: 3_451 },
    });
  });

  it('makes a contract active again that is past due, and is in the history and the audit by payments (contract 7.159)', async () => {
    const contract = await addContract(app.db);
    const number = await issueNext(app.db, contract);
    await sql`update service_contracts set status = 'past_due' where id = ${contract}`.execute(app.db);
    const webhookId = freshWebhookId();
    const payment = buildPayment(3_451, { invoice_number: number ?? '' });
    await report(app, payment, { webhookId });
    const { rows } = await sql`
      select s.status, (select jsonb_build_array(by, cause) from changes c where c.subject = 'contract' and c.row_id = s.id::text order by c.id desc limit 1) as by
      from service_contracts s where id = ${contract}`.execute(app.db);
    expect(rows).toEqual([{ status: 'active', by: ['payments', webhookId] }]);
    const audit = await sql`
      select type, details from audit_events where details ->> 'payment' = ${payment.payment_id}`.execute(
      app.db,
    );
    expect(audit.rows).toEqual([
      {
        type: 'payment.recorded',
        details: { by: 'payments', webhookId, payment: payment.payment_id, number },
      },
    ]);
  });
});

describe('a refund (contract 7.135, 7.136, 7.138 and 7.474)', () => {
  it('takes first what is unallocated, then what is paid, and the invoice is open again', async () => {
    const number = await addInvoice(app.db);
    const payment = buildPayment(4_000, { invoice_number: number });
    await report(app, payment);
    expect(await report(app, buildRefund(payment.payment_id, 500))).toMatchObject({
      ...{ status: 201, applied: true, allocated: 0, unallocated: 0, invoice: null },
    });
    expect(await readInvoice(app.db, number)).toMatchObject({ allocated: 3_451, status: 'paid' });
    expect(await readUnallocated(app.db, payment.payment_id)).toBe(49);
    const named = buildRefund(payment.payment_id, 1_000, { invoice_number: number });
    expect(await report(app, named)).toMatchObject({
      ...{ allocated: 0, unallocated: 0, invoice: { number, status: 'open', open: 951 } },
    });
    expect(await readInvoice(app.db, number)).toMatchObject({ allocated: 2_500, status: 'open' });
    // The answer shows the invoice as it is now (docs/payments.md).
    expect(await report(app, payment)).toMatchObject({
      ...{ status: 200, applied: false, allocated: 2_500, invoice: { number, status: 'open', open: 951 } },
    });
  });

  it('takes back what an operator put to the wrong invoice, so that it is recorded at the right one', async () => {
    const [wrong, right] = [await addInvoice(app.db), await addInvoice(app.db)];
    const { payment } = await act((trx, by) =>
      payOpen(trx, { number: wrong, id: 'wrong_invoice', paidAt: by.now }, by),
    );
    await report(app, buildRefund(payment.id, 3_451));
    await act((trx, by) => payOpen(trx, { number: right, id: 'right_invoice', paidAt: by.now }, by));
    expect(await readInvoice(app.db, wrong)).toMatchObject({ allocated: 0, status: 'open' });
    expect(await readInvoice(app.db, right)).toMatchObject({ allocated: 3_451, status: 'paid' });
    expect(await readUnallocated(app.db, payment.id)).toBe(0);
  });

  it('before its payment is refused, and counts once it is sent again after that', async () => {
    const payment = buildPayment(4_000);
    const refund = buildRefund(payment.payment_id, 1_500);
    const webhookId = freshWebhookId();
    const early = await sendReport(app, refund, { webhookId });
    expect([early.status, errorsOf(early)]).toEqual([422, ['/of']]);
    expect(early.text).toContain('Send the refund again after the payment.');
    expect(await readUnallocated(app.db, refund.payment_id)).toBeUndefined();
    await report(app, payment);
    expect(await report(app, refund, { webhookId })).toMatchObject({ status: 201, unallocated: 0 });
    expect(await readUnallocated(app.db, payment.payment_id)).toBe(2_500);
  });

  it('that 1.0.0 has recorded before its payment is taken off when the payment comes', async () => {
    const number = await addInvoice(app.db);
    const payment = buildPayment(4_000, { invoice_number: number });
    const refund = buildRefund(payment.payment_id, 1_500);
    await addEarlyRefund(app.db, refund);
    expect(await report(app, payment)).toMatchObject({
      ...{ allocated: 2_500, unallocated: 0, invoice: { status: 'open', open: 951 } },
    });
    expect(await readUnallocated(app.db, refund.payment_id)).toBe(0);
  });

  it('above its payment is taken, and the excess is below 0', async () => {
    const payment = buildPayment(1_000);
    await report(app, payment);
    expect(await report(app, buildRefund(payment.payment_id, 1_200))).toMatchObject({ unallocated: -200 });
    expect(await readUnallocated(app.db, payment.payment_id)).toBe(0);
  });

  it('takes from the invoice that was paid last', async () => {
    const [first, second] = [await addInvoice(app.db), await addInvoice(app.db)];
    const { payment_id: id } = await report(app, buildPayment(5_000, { invoice_number: first }));
    await act((trx, by) => allocate(trx, { paymentId: id, number: second }, by));
    expect(await readInvoice(app.db, second)).toMatchObject({ allocated: 1_549 });
    await report(app, buildRefund(id, 1_600));
    expect(await readInvoice(app.db, second)).toMatchObject({ allocated: 0 });
    expect(await readInvoice(app.db, first)).toMatchObject({ allocated: 3_400, status: 'open' });
  });

  it('finds its money before one of a later time that was reported first', async () => {
    const payment = buildPayment(1_000);
    await report(app, payment);
    const late = buildRefund(payment.payment_id, 800, { paid_at: '2026-02-03T10:00:00Z' });
    const early = buildRefund(payment.payment_id, 700, { paid_at: '2026-02-02T10:00:00Z' });
    expect(await report(app, late)).toMatchObject({ unallocated: 0 });
    expect(await report(app, early)).toMatchObject({ unallocated: 0 });
    expect(await readUnallocated(app.db, late.payment_id)).toBe(-500);
  });

  it('after what was paid back takes what still pays invoices, and the rest is below 0', async () => {
    const number = await addInvoice(app.db);
    const { payment_id: id } = await report(app, buildPayment(4_000, { invoice_number: number }));
    expect(
      await act((trx, by) => payBack(trx, { paymentId: id, id: `${id}:back`, paidAt: by.now }, by)),
    ).toBe(549);
    expect(await report(app, buildRefund(id, 3_500))).toMatchObject({ unallocated: -49 });
    expect(await readInvoice(app.db, number)).toMatchObject({ allocated: 0, status: 'open' });
  });

  it('goes on waiting if its payment comes in another currency', async () => {
    const refund = buildRefund('pay_other_currency', 300);
    await addEarlyRefund(app.db, refund);
    const dollars = { payment_id: 'pay_other_currency', amount: { currency: 'USD', unit_amount: 1_000 } };
    expect(await report(app, buildPayment(1_000, dollars))).toMatchObject({
      status: 201,
      unallocated: 1_000,
    });
    expect(await readUnallocated(app.db, refund.payment_id)).toBe(-300);
  });

  it('of another currency, of a refund or of itself is 422', async () => {
    const payment = buildPayment(1_000);
    await report(app, payment);
    const refund = buildRefund(payment.payment_id, 100);
    await report(app, refund);
    const dollars = { amount: { currency: 'USD', unit_amount: 100 } };
    const other = await sendReport(app, buildRefund(payment.payment_id, 100, dollars));
    expect([other.status, errorsOf(other)]).toEqual([422, ['/amount/currency']]);
    const twice = await sendReport(app, buildRefund(refund.payment_id, 100));
    expect([twice.status, errorsOf(twice)]).toEqual([422, ['/of']]);
    const itself = await sendReport(app, buildRefund('ref_itself', 100, { payment_id: 'ref_itself' }));
    expect([itself.status, errorsOf(itself)]).toEqual([422, ['/of']]);
    const { rows } = await sql`select from payments where id = 'ref_itself'`.execute(app.db);
    expect(rows).toEqual([]);
  });
});

describe('a report (contract 7.61, 7.143 and 7.144)', () => {
  it('sent again gets the same bytes; under another webhook-id it is known, with what it comes to then (contract 7.146 and 7.148)', async () => {
    const number = await addInvoice(app.db);
    const payment = buildPayment(3_451, { invoice_number: number });
    const webhookId = freshWebhookId();
    const first = await sendReport(app, payment, { webhookId });
    await report(app, buildRefund(payment.payment_id, 451));
    const again = await sendReport(app, payment, { webhookId });
    expect([again.status, again.text]).toEqual([201, first.text]);
    expect([first, again].map(({ headers }) => headers.get('idempotent-replayed'))).toEqual([null, 'true']);
    const known = await sendReport(app, { ...payment, method: 'other', reference: 'other' });
    expect(known.headers.get('idempotent-replayed')).toBeNull();
    expect([known.status, JSON.parse(known.text)]).toEqual([
      200,
      {
        ...{ payment_id: payment.payment_id, applied: false, allocated: 3_000, unallocated: 0 },
        invoice: { number, status: 'open', open: 451 },
      },
    ]);
  });

  it('of a known id with another fact is 422, and the same instant spelled otherwise is no other fact (contract 7.148)', async () => {
    const payment = buildPayment(100, { invoice_number: 'some number' });
    await report(app, payment);
    for (const changes of [
      { kind: 'refund', of: 'pay_else' },
      { invoice_number: 'another' },
      { invoice_number: null },
      { amount: { currency: 'EUR', unit_amount: 101 } },
      { amount: { currency: 'USD', unit_amount: 100 } },
      { paid_at: '2026-02-01T10:00:00.001Z' },
    ]) {
      const answer = await sendReport(app, { ...payment, ...changes });
      expect([answer.status, JSON.parse(answer.text).code]).toEqual([422, 'idempotency_key_reused']);
    }
    const same = { ...payment, paid_at: '2026-02-01T11:00:00+01:00', invoice_number: ' some number ' };
    expect(await report(app, same)).toMatchObject({ status: 200, applied: false });
    const refund = buildRefund(payment.payment_id, 100);
    await report(app, refund);
    expect((await sendReport(app, { ...refund, of: 'pay_other' })).status).toBe(422);
  });

  it('and a signup with the same webhook-id know nothing of each other (contract 7.148)', async () => {
    for (const first of ['signup', 'payment']) {
      const webhookId = freshWebhookId();
      const body = buildSignup(`crm_same_${first}`);
      const signup = () => sendSignup(app, body, { webhookId });
      const payment = () =>
        sendReport(app, { ...buildPayment(100), payment_id: `pay_same_${first}` }, { webhookId });
      const sent = first === 'signup' ? [signup, payment] : [payment, signup];
      for (const send of sent) expect((await send()).status).toBe(201);
      for (const send of sent) expect((await send()).headers.get('idempotent-replayed')).toBe('true');
    }
  });

  it('under a webhook-id that was used for another body is 422, and one that was refused can be corrected (contract 7.148)', async () => {
    const webhookId = freshWebhookId();
    expect((await sendReport(app, { ...buildPayment(100), kind: 'gift' }, { webhookId })).status).toBe(422);
    expect((await sendReport(app, buildPayment(100), { webhookId })).status).toBe(201);
    const other = await sendReport(app, buildPayment(100), { webhookId });
    expect([other.status, JSON.parse(other.text).code]).toEqual([422, 'idempotency_key_reused']);
  });

  const long = (length: number) => 'x'.repeat(length);
  it.each([
    ['no payment_id', { payment_id: undefined }, ['/payment_id']],
    ['a payment_id with a space', { payment_id: 'a b' }, ['/payment_id']],
    ['a payment_id of 129 characters', { payment_id: long(129) }, ['/payment_id']],
    ['another kind', { kind: 'paid_back' }, ['/kind']],
    ['a refund without of', { kind: 'refund' }, ['/of']],
    ['a payment with of', { of: 'pay_1' }, ['/of']],
    ['no amount', { amount: undefined }, ['/amount']],
    ['an amount of 0', { amount: { currency: 'EUR', unit_amount: 0 } }, ['/amount/unit_amount']],
    ['an amount below 0', { amount: { currency: 'EUR', unit_amount: -1 } }, ['/amount/unit_amount']],
    [
      'an amount of 10^12 + 1',
      { amount: { currency: 'EUR', unit_amount: 10 ** 12 + 1 } },
      ['/amount/unit_amount'],
    ],
    ['an amount with a fraction', { amount: { currency: 'EUR', unit_amount: 1.5 } }, ['/amount/unit_amount']],
    ['an amount as text', { amount: { currency: 'EUR', unit_amount: '100' } }, ['/amount/unit_amount']],
    ['no currency of ISO 4217', { amount: { currency: 'EURO', unit_amount: 1 } }, ['/amount/currency']],
    ['a paid_at of 1999', { paid_at: '1999-12-31T23:59:59.999Z' }, ['/paid_at']],
    ['a paid_at of next year', { paid_at: '2100-01-01T00:00:00Z' }, ['/paid_at']],
    ['a day as paid_at', { paid_at: '2026-02-01' }, ['/paid_at']],
    ['an invoice_number that is a number', { invoice_number: 42 }, ['/invoice_number']],
    ['a method that is a list', { method: [] }, ['/method']],
    ['several faults', { kind: 'x', paid_at: 'now', method: 1 }, ['/kind', '/paid_at', '/method']],
  ])('with %s is 422, and names all that is wrong', async (_, changes, pointers) => {
    const answer = await sendReport(app, { ...buildPayment(100), ...changes });
    expect([answer.status, JSON.parse(answer.text).code]).toEqual([422, 'validation_failed']);
    expect(errorsOf(answer)).toEqual(pointers);
  });

  it.each([
    [
      'the longest id, number, method and reference',
      { payment_id: long(128), invoice_number: '🙂'.repeat(64), method: long(60), reference: long(200) },
    ],
    ['10^12', { amount: { currency: 'EUR', unit_amount: 10 ** 12 } }],
    ['the year 2000', { paid_at: '2000-01-01T00:00:00.000Z' }],
    [
      'null for what is absent, and unknown members',
      { of: null, invoice_number: null, method: null, reference: null, more: 1 },
    ],
  ])('with %s is taken', async (_, changes) => {
    expect(await report(app, { ...buildPayment(100), ...changes })).toMatchObject({ status: 201 });
  });

  // Contract 7.145.
  it.each([
    ['no text', '', null],
    ['spaces', ' \u00a0 ', null],
    ['nothing visible', '\u200b\u2060\u00ad', null],
    ['two lines', 'INV-1\nThanks', 'INV-1 Thanks'],
    ['two lines of Windows', 'INV-1\r\nThanks\r\n', 'INV-1 Thanks'],
    ['a tab', 'INV-1\tThanks', 'INV-1 Thanks'],
    ['U+0000', 'INV-1\u0000', 'INV-1'],
    ['characters that turn text round', 'a\u202eb\u2066c', 'a b c'],
    ['separators of lines', 'a\u2028b\u2029c\u0085d', 'a b c d'],
    ['a lone surrogate', 'a\ud83d', 'a'],
    ['letters of all kinds', 'Größe ﷽ 漢字 🙂', 'Größe ﷽ 漢字 🙂'],
  ])('whose texts are %s is taken', async (_, text, kept) => {
    const texts = { invoice_number: text, method: text, reference: text };
    const payment = { ...buildPayment(100), ...texts };
    expect(await report(app, payment)).toMatchObject({ status: 201, applied: true });
    expect(await readTexts(payment.payment_id)).toEqual([kept, kept, kept]);
    expect(await report(app, payment)).toMatchObject({ status: 200, applied: false });
  });

  it.each([
    ['x', (most: number) => 'x'.repeat(most)],
    ['🙂', (most: number) => '🙂'.repeat(most)],
  ])('whose texts are too long by any number of %s is taken, and they are cut', async (sign, first) => {
    for (const length of [65, 201, 260, 5_000]) {
      const text = sign.repeat(length);
      const payment = buildPayment(100, { invoice_number: text, method: text, reference: text });
      expect(await report(app, payment)).toMatchObject({ status: 201, applied: true });
      const kept = [first(64), first(60), first(Math.min(length, 200))];
      expect(await readTexts(payment.payment_id)).toEqual(kept);
    }
  });

  it('of up to 300 seconds ahead is taken', async () => {
    const ahead = (seconds: number) => ({ paid_at: new Date(Date.now() + seconds * 1_000).toISOString() });
    expect((await sendReport(app, { ...buildPayment(1), ...ahead(290) })).status).toBe(201);
    expect((await sendReport(app, { ...buildPayment(1), ...ahead(310) })).status).toBe(422);
  });

  it('that is not strict JSON, not JSON at all or unsigned is refused, and records nothing (contract 7.140)', async () => {
    const body = JSON.stringify(buildPayment(100, { payment_id: 'pay_refused' }));
    const send = async (text: string, options: Parameters<typeof sendReport>[2] = {}) => {
      const { status, text: said } = await sendReport(app, text, options);
      return [status, JSON.parse(said).code];
    };
    expect(await send(body.replace('{', '{"kind":"payment",'))).toEqual([400, 'malformed_json']);
    expect(await send('nothing')).toEqual([400, 'malformed_json']);
    expect(await send(body, { headers: { 'content-type': 'text/plain' } })).toEqual([
      415,
      'unsupported_media_type',
    ]);
    expect(await send(body, { at: new Date(Date.now() - 310_000) })).toEqual([
      401,
      'invalid_webhook_signature',
    ]);
    const signups = signMessage(app.config.crmSignupsSecrets?.[0] ?? '', body);
    expect(await send(body, { headers: signups })).toEqual([401, 'invalid_webhook_signature']);
    expect(await readUnallocated(app.db, 'pay_refused')).toBeUndefined();
  });
});

it('is off in production without PAYMENTS_SECRET, and with it takes that secret alone (contract 7.140)', async () => {
  const { PAYMENTS_SECRET, ...rest } = production;
  const [off, on] = await Promise.all([openApp({ env: rest }), openApp({ env: production })]);
  const local = { config: app.config };
  const answer = await sendReport({ ...off, ...local }, buildPayment(1));
  expect([answer.status, JSON.parse(answer.text).code]).toEqual([404, 'not_configured']);
  expect((await sendReport({ ...on, ...local }, buildPayment(1))).status).toBe(401);
  expect((await sendReport(on, buildPayment(1))).status).toBe(201);
  await Promise.all([off.close(), on.close()]);
});
