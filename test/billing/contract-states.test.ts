import { describe, expect, it } from 'vitest';
import type { ContractStatus, ContractTerms } from '../../db/tables/service-contracts.ts';
import {
  applyMove,
  applyReport,
  findIdleReason,
  type Move,
  presentStatus,
  type Report,
  takeFirstPeriod,
} from '../../server/billing/contracts/contract-states.ts';

const statuses = ['trialing', 'active', 'past_due', 'canceled', 'expired'] as const;
const day = (text: string) => new Date(`2026-${text}Z`);
const justBefore = (instant: Date) => new Date(instant.getTime() - 1);

// `trialing → active | canceled | expired`, `active → past_due | canceled`, `past_due → active | canceled`;
// `canceled` and `expired` are final (contract 7.28 and 7.29).
const table: Record<Move, Partial<Record<ContractStatus, ContractStatus>>> = {
  activate: { trialing: 'active', past_due: 'active' },
  fall_behind: { active: 'past_due' },
  cancel: { trialing: 'canceled', active: 'canceled', past_due: 'canceled' },
  expire: { trialing: 'expired' },
};

/** The terms after a report, or undefined if the report changes nothing. */
const applied = (terms: ContractTerms | undefined, report: Report, now: Date, zone = 'UTC') => {
  const contract = terms && { ...terms, cancelsAt: null };
  return contract && findIdleReason(contract, report, now)
    ? undefined
    : applyReport(contract, report, { now, zone });
};

describe('a contract', () => {
  const cells = (Object.keys(table) as Move[]).flatMap((move) =>
    statuses.map((status) => [status, table[move][status], move] as const),
  );

  it.each(cells.filter(([, next]) => next))(
    'that is %s becomes %s by the move "%s"',
    (status, next, move) => {
      expect(applyMove(status, move)).toBe(next);
    },
  );

  it.each(cells.filter(([, next]) => !next).map(([status, , move]) => [status, move] as const))(
    'that is %s cannot take the move "%s"',
    (status, move) => {
      expect(applyMove(status, move)).toBeUndefined();
    },
  );
});

describe('the status of a contract at a given time', () => {
  const trialEndsAt = day('01-15T00:00:00.000');

  it('is trialing up to the end of the trial, and expired from that instant on', () => {
    const trial = { status: 'trialing', trialEndsAt, cancelsAt: null } as const;
    expect(presentStatus(trial, day('01-01T00:00:00.000'))).toBe('trialing');
    expect(presentStatus(trial, justBefore(trialEndsAt))).toBe('trialing');
    expect(presentStatus(trial, trialEndsAt)).toBe('expired');
    expect(presentStatus(trial, day('12-31T00:00:00.000'))).toBe('expired');
  });

  it.each(statuses.slice(1))('is %s at any time, if that is the stored status', (status) => {
    for (const now of [justBefore(trialEndsAt), trialEndsAt, day('12-31T00:00:00.000')]) {
      expect(presentStatus({ status, trialEndsAt, cancelsAt: null }, now)).toBe(status);
      expect(presentStatus({ status, trialEndsAt: null, cancelsAt: null }, now)).toBe(status);
    }
  });
});

describe('a contract that its customer has ended', () => {
  const cancelsAt = day('03-01T00:00:00.000');

  it.each(['trialing', 'active', 'past_due'] as const)(
    'is %s until then, and canceled from then on',
    (status) => {
      const ended = { status, trialEndsAt: null, cancelsAt };
      expect(presentStatus(ended, justBefore(cancelsAt))).toBe(status);
      expect(presentStatus(ended, cancelsAt)).toBe('canceled');
    },
  );

  it('stays expired if it was', () => {
    expect(presentStatus({ status: 'expired', trialEndsAt, cancelsAt }, cancelsAt)).toBe('expired');
  });
});

const price = { currency: 'EUR', unitAmount: 2_900, quantity: 1, interval: 'month' } as const;
const trialEndsAt = day('02-01T00:00:00.000');
const unbilled = { nextPeriodStartsAt: null, billingAnchorDay: null };
const billed = { nextPeriodStartsAt: day('02-28T10:00:00.000'), billingAnchorDay: 31 };

const contractOf = (changes: Partial<ContractTerms> = {}): ContractTerms => ({
  plan: 'starter',
  status: 'trialing',
  trialEndsAt,
  price,
  occurredAt: day('01-10T00:00:00.000'),
  ...unbilled,
  ...changes,
});
const reportOf = (changes: Partial<Report> = {}): Report => ({
  plan: 'pro',
  status: 'active',
  trialEndsAt,
  price: { currency: 'USD', unitAmount: 9_900, quantity: 1, interval: 'year' },
  cancelsAt: null,
  occurredAt: day('01-20T00:00:00.000'),
  ...changes,
});
const now = day('01-25T00:00:00.000');

describe('the first report of a signup', () => {
  it.each([
    ['a trial', reportOf({ status: 'trialing' }), unbilled],
    ['a trial without a price', reportOf({ status: 'trialing', price: null }), unbilled],
    ['active without a price', reportOf({ price: null }), unbilled],
    [
      'active with a price',
      reportOf(),
      { nextPeriodStartsAt: day('01-20T00:00:00.000'), billingAnchorDay: 20 },
    ],
    [
      'active at no cost',
      reportOf({ price: { ...price, unitAmount: 0 } }),
      { nextPeriodStartsAt: day('01-20T00:00:00.000'), billingAnchorDay: 20 },
    ],
    [
      // In the time zone of the tests it is already 1 February.
      'active late on the last of a month, in UTC',
      reportOf({ occurredAt: day('01-31T23:30:00.000') }),
      { nextPeriodStartsAt: day('01-31T23:30:00.000'), billingAnchorDay: 31 },
    ],
  ])('creates the contract it describes: %s', (_, report, billing) => {
    expect(applied(undefined, report, now)).toEqual({ ...report, cancelsAt: undefined, ...billing });
  });

  it('creates an expired contract if the trial is over already', () => {
    const report = reportOf({ status: 'trialing', trialEndsAt: now });
    expect(applied(undefined, report, now)).toEqual({
      ...report,
      cancelsAt: undefined,
      status: 'expired',
      ...unbilled,
    });
  });

  it('creates a canceled contract, which is not billed', () => {
    const report = reportOf({ status: 'canceled' });
    expect(applied(undefined, report, now)).toEqual({ ...report, cancelsAt: undefined, ...unbilled });
  });
});

describe('a later report of a signup', () => {
  const allowed: Record<ContractStatus, Report['status'][]> = {
    trialing: ['trialing', 'active', 'canceled'],
    active: ['active', 'canceled'],
    past_due: ['active', 'canceled'],
    canceled: [],
    expired: [],
  };
  const cells = statuses.flatMap((status) =>
    (['trialing', 'active', 'canceled'] as const).map(
      (reported) => [reported, status, allowed[status].includes(reported)] as const,
    ),
  );

  it.each(cells.filter(([, , counts]) => counts))(
    'that says %s updates a contract that is %s',
    (reported, status) => {
      const report = reportOf({ status: reported, price: null });
      expect(applied(contractOf({ status, price: null }), report, now)).toEqual({
        ...report,
        cancelsAt: undefined,
        ...unbilled,
      });
    },
  );

  it.each(cells.filter(([, , counts]) => !counts))(
    'that says %s changes nothing in a contract that is %s',
    (reported, status) => {
      const report = reportOf({ status: reported, price: null });
      expect(applied(contractOf({ status, price: null }), report, now)).toBeUndefined();
    },
  );

  it.each([
    ['updates the contract if it is a millisecond newer than', 1, true],
    ['changes nothing if it is as old as', 0, false],
    ['changes nothing if it is a millisecond older than', -1, false],
  ])('%s the last report applied', (_, ms, counts) => {
    const contract = contractOf();
    const report = reportOf({ occurredAt: new Date(contract.occurredAt.getTime() + ms) });
    expect(applied(contract, report, now) !== undefined).toBe(counts);
  });

  it('removes the trial end and the price if it leaves them out', () => {
    const terms = applied(contractOf(), reportOf({ trialEndsAt: null, price: null }), now);
    expect(terms).toMatchObject({ trialEndsAt: null, price: null });
  });

  it('moves the end of a trial, even into the past', () => {
    const report = reportOf({ status: 'trialing', trialEndsAt: day('01-21T00:00:00.000') });
    expect(applied(contractOf(), report, now)).toEqual({
      ...report,
      cancelsAt: undefined,
      status: 'expired',
      ...unbilled,
    });
  });

  it.each(['trialing', 'active', 'canceled'] as const)(
    'that says %s changes nothing once the trial has ended',
    (status) => {
      const contract = contractOf();
      const occurredAt = day('01-15T00:00:00.000');
      for (const at of [occurredAt, trialEndsAt, day('02-02T00:00:00.000')]) {
        const report = reportOf({ status, occurredAt: at, trialEndsAt: day('03-01T00:00:00.000') });
        expect(applied(contract, report, trialEndsAt)).toBeUndefined();
      }
      const report = reportOf({ status, occurredAt });
      expect(applied(contract, report, justBefore(trialEndsAt))).toMatchObject({ status });
    },
  );
});

describe('billing of a contract', () => {
  const active = (changes: Partial<ContractTerms> = {}) =>
    contractOf({ status: 'active', ...billed, ...changes });
  const billingAfter = (contract: ContractTerms, report: Partial<Report>) => {
    const { nextPeriodStartsAt, billingAnchorDay } = applied(contract, reportOf(report), now) ?? {};
    return { nextPeriodStartsAt, billingAnchorDay };
  };
  const from = (text: string) => ({
    nextPeriodStartsAt: day(text),
    billingAnchorDay: day(text).getUTCDate(),
  });

  it.each<[string, ContractTerms, Partial<Report>, object]>([
    ['begins when a trial becomes active', contractOf(), {}, from('01-20T00:00:00.000')],
    ['does not begin without a price', contractOf(), { price: null }, unbilled],
    ['does not begin while trialing', contractOf(), { status: 'trialing' }, unbilled],
    [
      'begins with the first price, not with the activation',
      contractOf({ status: 'active', price: null }),
      {},
      from('01-20T00:00:00.000'),
    ],
    ['goes on when price, plan and interval change', active(), {}, billed],
    ['stays where it was when the contract is canceled', active(), { status: 'canceled' }, billed],
    ['goes on when a past-due contract is reported active', active({ status: 'past_due' }), {}, billed],
    [
      'goes on from the period that was not invoiced yet, however late it is',
      active({ nextPeriodStartsAt: day('01-11T00:00:00.000') }),
      {},
      { ...billed, nextPeriodStartsAt: day('01-11T00:00:00.000') },
    ],
    ['keeps its place when the price is removed', active(), { price: null }, billed],
    ['keeps its place while there is no price', active({ price: null }), { price: null }, billed],
    [
      'goes on if the price comes back within a period that is invoiced',
      active({ price: null }),
      { occurredAt: day('02-28T09:59:59.999') },
      billed,
    ],
    [
      'starts again if the price comes back at the end of that period',
      active({ price: null }),
      { occurredAt: day('02-28T10:00:00.000') },
      from('02-28T10:00:00.000'),
    ],
    [
      'starts again if the price comes back later, and leaves the gap unbilled',
      active({ price: null }),
      { occurredAt: day('06-30T12:00:00.000') },
      from('06-30T12:00:00.000'),
    ],
  ])('%s', (_, contract, report, billing) => {
    expect(billingAfter(contract, report)).toEqual(billing);
  });

  it('invoices nothing twice when a price is removed and comes back', () => {
    const without = applied(active(), reportOf({ price: null }), now);
    const again = applied(without, reportOf({ occurredAt: day('02-01T00:00:00.000') }), now);
    expect(again).toMatchObject({ price: { currency: 'USD' }, ...billed });
  });

  // The contract was begun by an earlier version, at 23:30 in UTC, which is the next day in Berlin.
  const late = { nextPeriodStartsAt: day('02-28T23:30:00.000'), billingAnchorDay: 28 };
  const aligned = { nextPeriodStartsAt: day('03-01T00:00:00.000'), billingAnchorDay: 1 };
  const apply = (contract: ContractTerms & { cancelsAt?: Date }, report: Partial<Report>) => {
    const known = { cancelsAt: null, ...contract };
    const terms = applyReport(known, reportOf(report), { now, zone: 'Europe/Berlin' });
    const { nextPeriodStartsAt, billingAnchorDay } = terms;
    expect(takeFirstPeriod(known, terms, now)).toEqual({ terms });
    return { nextPeriodStartsAt, billingAnchorDay };
  };
  it.each<[string, ContractTerms & { cancelsAt?: Date }, Partial<Report>, object]>([
    ['stay while the price stays', active(late), { price, plan: 'pro' }, late],
    ['are aligned by another amount', active(late), { price: { ...price, unitAmount: 1 } }, aligned],
    ['are aligned by another interval', active(late), { price: { ...price, interval: 'year' } }, aligned],
    ['are aligned by another currency', active(late), { price: { ...price, currency: 'USD' } }, aligned],
    ['are aligned by a price that comes back', active({ ...late, price: null }), {}, aligned],
    [
      'stay if the contract is to end with one of them',
      { ...active(late), cancelsAt: late.nextPeriodStartsAt },
      {},
      late,
    ],
    [
      'stay if the contract is to end and a price comes back',
      { ...active({ ...late, price: null }), cancelsAt: late.nextPeriodStartsAt },
      {},
      late,
    ],
    ['keep the anchor day in a short month', active(), {}, billed],
    [
      'keep the anchor day if only the time moves',
      active({ nextPeriodStartsAt: day('02-28T22:30:00.000'), billingAnchorDay: 31 }),
      {},
      { nextPeriodStartsAt: day('02-28T21:59:59.999'), billingAnchorDay: 31 },
    ],
  ])('periods from before %s (contract 7.550)', (_, contract, report, billing) => {
    expect(apply(contract, report)).toEqual(billing);
  });

  it('takes the first period out of the schedule only if it would begin later than the report', () => {
    const begin = (at: Date, arrives = at) => {
      const report = reportOf({ occurredAt: at, price });
      const terms = applyReport(undefined, report, { now: arrives, zone: 'Europe/Berlin' });
      const { first, terms: left } = takeFirstPeriod(undefined, terms, arrives);
      return [first && [first.startsAt, first.endsAt], left.nextPeriodStartsAt, left.billingAnchorDay];
    };
    const at = day('01-31T23:30:00.000');
    const [end, next] = [day('03-01T00:00:00.000'), day('02-01T00:00:00.000')];
    expect(begin(at)).toEqual([[at, end], end, 1]);
    // After the aligned instant, the period begins at that instant.
    expect(begin(at, next)).toEqual([undefined, next, 1]);
    expect(begin(at, day('03-10T00:00:00.000'))).toEqual([undefined, end, 1]);
    expect(begin(day('01-31T12:00:00.000'))).toEqual([undefined, day('01-31T12:00:00.000'), 31]);
    expect(begin(day('01-31T22:30:00.000'))).toEqual([undefined, day('01-31T21:59:59.999'), 31]);
  });
});
