// The CRM reports an end, at a certain day or after that day (contract 7.525 to 7.528).
import { beforeEach, describe, expect, it } from 'vitest';
import { type Contract, findContract } from '../../db/tables/service-contracts.ts';
import { findLastDay } from '../../server/billing/contracts/last-day.ts';
import { readPreview } from '../../server/billing/invoices/preview.ts';
import { germanSettings, setSettings } from '../support/billing/settings.ts';
import { openBilling, price } from '../support/crm/billing.ts';
import { buildSignup, type SignupBody, sendSignup } from '../support/crm/crm.ts';
import { shared } from '../support/run/shared.ts';

const billing = shared(() => openBilling({ settings: germanSettings }));
const setClock = (at: string) => billing.setClock(at);
beforeEach(() => setClock('2026-03-10T10:00:00.000Z'));

let serial = 0;
const freshId = () => `end_${serial++}`;

async function report(
  signupId: string,
  contract: Partial<SignupBody['contract']> = {},
  occurredAt = billing.now(),
) {
  const signup = buildSignup(signupId, {
    occurred_at: occurredAt.toISOString(),
    contract: { plan: 'starter', status: 'active', price, ...contract },
  });
  const { status, text } = await sendSignup(billing.app, signup, { at: billing.now() });
  return { status, ...JSON.parse(text) };
}

const statesOf = async (contractId: string) =>
  (await billing.invoicesOf(contractId)).map(({ status, credited }) => `${status} ${credited}`);

/** A contract from 10 March with invoices of two periods. The second invoice is not paid. */
async function arrangeTwoPeriods(at = '2026-04-12T10:00:00.000Z') {
  const id = freshId();
  const { contract } = await report(id);
  await billing.bill();
  await billing.pay(contract.id);
  await setClock(at);
  await billing.bill();
  expect(await statesOf(contract.id)).toEqual(['paid 0', 'open 0']);
  return { id, contractId: contract.id as string };
}

describe('cancels_at', () => {
  // Contract 7.525 and 7.538.
  it('ends the contract at that instant, and no period begins from then on', async () => {
    const cancels_at = '2026-05-01T00:00:00.000Z';
    const { contract } = await report(freshId(), { cancels_at });
    expect(contract).toMatchObject({ status: 'active', cancels_at });
    await setClock('2026-04-10T10:00:00.000Z');
    await billing.bill();
    await setClock('2026-05-20T10:00:00.000Z');
    await billing.bill();
    expect(await billing.statusOf(contract.id)).toBe('canceled');
    expect(await billing.periodsOf(contract.id)).toEqual([
      '2026-03-10 to 2026-04-10',
      '2026-04-10 to 2026-05-10',
    ]);
    expect(await statesOf(contract.id)).toEqual(['open 0', 'open 0']);
  });

  // Contract 7.525.
  it('moves with a later report, and is gone with one that leaves it out', async () => {
    const id = freshId();
    await report(id, { cancels_at: '2026-05-01T00:00:00.000Z' });
    await setClock('2026-03-11T10:00:00.000Z');
    const moved = await report(id, { cancels_at: '2026-06-01T00:00:00.000Z' });
    expect(moved.contract.cancels_at).toBe('2026-06-01T00:00:00.000Z');
    await setClock('2026-03-12T10:00:00.000Z');
    expect((await report(id)).contract.cancels_at).toBeNull();
  });

  // Contract 7.525 and 7.428.
  it('later on the day on which a period begins keeps the period from beginning', async () => {
    const id = freshId();
    const cancels_at = '2026-04-10T18:00:00.000Z';
    const { contract } = await report(id, { cancels_at });
    await billing.bill();
    await setClock('2026-04-10T11:00:00.000Z');
    await billing.bill();
    expect(await billing.periodsOf(contract.id)).toEqual(['2026-03-10 to 2026-04-10']);
    expect((await readPreview(billing.app.db, id, 2)).documents).toEqual([]);
    const ending = await findContract(billing.app.db, { id: contract.id });
    expect(findLastDay('Europe/Berlin', ending as Contract, billing.now())).toBe('2026-04-09');
    // After the end is taken back, the period begins.
    await report(id);
    await billing.bill();
    expect(await statesOf(contract.id)).toHaveLength(2);
  });

  // Contract 7.525.
  it('on the day of a period that waits drops the period only once it has come', async () => {
    const id = freshId();
    const usd = { ...price, currency: 'USD' };
    const { contract } = await report(id, { price: usd });
    await billing.bill();
    await setClock('2026-03-10T11:00:00.000Z');
    await report(id, { price: usd, cancels_at: '2026-03-10T18:00:00.000Z' });
    await billing.bill();
    await setClock('2026-03-10T12:00:00.000Z');
    await report(id, { price: usd });
    const seller = { ...germanSettings.seller, currency: 'USD' };
    await setSettings(billing.app.db, { ...germanSettings, seller });
    await setClock('2026-03-10T12:01:00.000Z');
    await billing.bill();
    expect(await billing.periodsOf(contract.id)).toEqual(['2026-03-10 to 2026-04-10']);
  });

  // Contract 7.528.
  it('credits a period of its day that was invoiced before it was reported', async () => {
    const { id, contractId } = await arrangeTwoPeriods('2026-04-10T10:00:00.000Z');
    await setClock('2026-04-10T11:00:00.000Z');
    await report(id, { cancels_at: '2026-04-10T18:00:00.000Z' });
    await billing.bill();
    expect(await statesOf(contractId)).toEqual(['paid 0', 'open 0']);
    await setClock('2026-04-10T18:00:00.000Z');
    await billing.bill();
    expect(await statesOf(contractId)).toEqual(['paid 0', 'void 3451']);
  });

  // Contract 7.525 and 7.257.
  it('does not put off an end that somebody chose here', async () => {
    const id = freshId();
    const { contract } = await report(id);
    const chosen = new Date('2026-04-10T10:00:00.000Z');
    await billing.app.db
      .updateTable('service_contracts')
      .set({ cancels_at: chosen })
      .where('id', '=', contract.id)
      .execute();
    await setClock('2026-03-11T10:00:00.000Z');
    const later = await report(id, { cancels_at: '2026-06-01T00:00:00.000Z' });
    expect(later.contract.cancels_at).toBe(chosen.toISOString());
    await setClock('2026-03-12T10:00:00.000Z');
    expect((await report(id)).contract.cancels_at).toBe(chosen.toISOString());
    await setClock('2026-03-13T10:00:00.000Z');
    const sooner = await report(id, { cancels_at: '2026-04-01T00:00:00.000Z' });
    expect(sooner.contract.cancels_at).toBe('2026-04-01T00:00:00.000Z');
    await setClock('2026-03-14T10:00:00.000Z');
    expect((await report(id)).contract.cancels_at).toBe(chosen.toISOString());
  });

  // Contract 7.527.
  it('in the past ends the contract on arrival', async () => {
    const { id, contractId } = await arrangeTwoPeriods();
    const { contract } = await report(id, { cancels_at: '2026-04-01T00:00:00.000Z' });
    expect(contract).toMatchObject({ status: 'canceled', cancels_at: '2026-04-01T00:00:00.000Z' });
    await billing.bill();
    expect(await statesOf(contractId)).toEqual(['paid 0', 'void 3451']);
  });
});

describe('a report of canceled that comes late', () => {
  // Contract 7.587.
  it('ends the contract at the earlier one of its two instants', async () => {
    const { id } = await arrangeTwoPeriods();
    const ending = { status: 'canceled', cancels_at: '2026-04-11T00:00:00.000Z' } as const;
    const { contract } = await report(id, ending, new Date('2026-04-09T10:00:00.000Z'));
    expect(contract.cancels_at).toBe('2026-04-09T10:00:00.000Z');
  });

  // Contract 7.528.
  it('credits the period that began after it', async () => {
    const { id, contractId } = await arrangeTwoPeriods();
    await report(id, { status: 'canceled' }, new Date('2026-04-09T10:00:00.000Z'));
    await billing.bill();
    await billing.bill();
    expect(await statesOf(contractId)).toEqual(['paid 0', 'void 3451']);
  });

  it('credits no period that began before it', async () => {
    const { id, contractId } = await arrangeTwoPeriods();
    await report(id, { status: 'canceled' }, new Date('2026-04-10T10:00:00.001Z'));
    await billing.bill();
    expect(await statesOf(contractId)).toEqual(['paid 0', 'open 0']);
  });

  it('credits no period that is paid', async () => {
    const { id, contractId } = await arrangeTwoPeriods();
    await billing.pay(contractId);
    await report(id, { status: 'canceled' }, new Date('2026-04-09T10:00:00.000Z'));
    await billing.bill();
    expect(await statesOf(contractId)).toEqual(['paid 0', 'paid 0']);
  });

  it('leaves a charge on the invoice of that period', async () => {
    const id = freshId();
    const { contract } = await report(id);
    await billing.bill();
    await billing.pay(contract.id);
    const charges = [{ id: 'overage', title: 'Minutes', unit_amount: 1_000, when: 'next' as const }];
    await report(id, { charges }, new Date('2026-03-10T10:00:00.001Z'));
    await setClock('2026-04-12T10:00:00.000Z');
    await billing.bill();
    await report(id, { status: 'canceled' }, new Date('2026-04-09T10:00:00.000Z'));
    await billing.bill();
    expect(await statesOf(contract.id)).toEqual(['paid 0', 'open 3451']);
  });

  // Contract 7.528.
  it('keeps a period from being invoiced that is not yet', async () => {
    const id = freshId();
    const { contract } = await report(id);
    await billing.bill();
    await setClock('2026-04-12T10:00:00.000Z');
    await report(id, { status: 'canceled' }, new Date('2026-04-09T10:00:00.000Z'));
    await billing.bill();
    expect(await statesOf(contract.id)).toEqual(['open 0']);
  });

  it('credits once if 16 jobs run at once', async () => {
    const { id, contractId } = await arrangeTwoPeriods();
    await report(id, { status: 'canceled' }, new Date('2026-04-09T10:00:00.000Z'));
    await Promise.all(Array.from({ length: 16 }, () => billing.bill()));
    await billing.bill();
    billing.takeFaults();
    expect(await statesOf(contractId)).toEqual(['paid 0', 'void 3451']);
    expect(
      (await billing.eventsOf({ contractId })).filter((event) => event.startsWith('credit')),
    ).toHaveLength(1);
  });
});
