// Customers and staff read the same about how a contract ends (contract 7.428 and 7.429), in every state, far from UTC.
import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { sayDay } from '../../server/basics/day-words.ts';
import { type Answer, openApp } from '../support/app/app.ts';
import { openClient } from '../support/app/trpc.ts';
import { logIn, textOf } from '../support/app/visitor.ts';
import { arrangeSeller } from '../support/billing/customers.ts';
import { germanSettings } from '../support/billing/settings.ts';
import { idOf } from '../support/database/database.ts';
import { addStaff, call, readData } from '../support/people/staff.ts';
import { shared } from '../support/run/shared.ts';

const owner = 'customer@example.test';

type Facts = { status: string; lastDay: string | null };

// A period begins on 31 January 2037 at 10:30 UTC, the next ones on 28 February and on 31 March.
const zones: Record<string, Record<string, Facts>> = {
  // In this zone, every period begins on the day after the one in UTC.
  'Pacific/Kiritimati': {
    trial: { status: 'trialing', lastDay: '2037-06-01' },
    'trial-over': { status: 'expired', lastDay: '2037-02-20' },
    'trial-canceled': { status: 'canceled', lastDay: '2037-02-11' },
    goes: { status: 'active', lastDay: null },
    canceled: { status: 'active', lastDay: '2037-03-31' },
    'past-due': { status: 'past_due', lastDay: null },
    'past-due-canceled': { status: 'past_due', lastDay: '2037-03-31' },
    'ended-with-period': { status: 'canceled', lastDay: '2037-02-28' },
    'ended-not-stored': { status: 'canceled', lastDay: '2037-02-28' },
    'ended-by-staff': { status: 'canceled', lastDay: null },
    'ended-early-by-staff': { status: 'canceled', lastDay: '2037-02-11' },
    'ended-by-report': { status: 'canceled', lastDay: null },
    'ended-early-by-report': { status: 'canceled', lastDay: '2037-02-11' },
  },
  // In this zone, every period begins on the day before the one in UTC.
  'Pacific/Pago_Pago': {
    trial: { status: 'trialing', lastDay: '2037-05-31' },
    'trial-over': { status: 'expired', lastDay: '2037-02-19' },
    'trial-canceled': { status: 'canceled', lastDay: '2037-02-09' },
    goes: { status: 'active', lastDay: null },
    canceled: { status: 'active', lastDay: '2037-03-29' },
    'past-due': { status: 'past_due', lastDay: null },
    'past-due-canceled': { status: 'past_due', lastDay: '2037-03-29' },
    'ended-with-period': { status: 'canceled', lastDay: '2037-02-27' },
    'ended-not-stored': { status: 'canceled', lastDay: '2037-02-26' },
    'ended-by-staff': { status: 'canceled', lastDay: null },
    'ended-early-by-staff': { status: 'canceled', lastDay: '2037-02-09' },
    'ended-by-report': { status: 'canceled', lastDay: null },
    'ended-early-by-report': { status: 'canceled', lastDay: '2037-02-09' },
  },
};

const badges: Record<string, string> = {
  trialing: 'Free trial',
  active: 'Active',
  past_due: 'Payment overdue',
  canceled: 'Canceled',
  expired: 'Trial ended',
};

const isRunning = ({ status }: Facts) => status === 'active' || status === 'past_due';

/** Returns what a page shows at the end of a contract's row. */
function badgesOf(facts: Facts): string[] {
  const ends = isRunning(facts) && facts.lastDay;
  const short = ends && sayDay(ends).replace(/^(\d+) (\w{3})\w* \d+$/, 'Ends $1 $2');
  return [
    ...(short && facts.status === 'active' ? [] : [badges[facts.status]]),
    ...(short ? [short] : []),
  ] as string[];
}

describe.each(Object.entries(zones))('for a seller in %s', (zone, facts) => {
  const clock = { at: new Date('2037-01-31T10:30:00Z') };
  const app = shared(() => openApp({ now: () => clock.at }));
  const ids = new Map<string, string>();
  const names = Object.keys(facts);
  const expected = Object.entries(facts);

  async function openStaff() {
    const staff = await addStaff(app, 'admin', { authTime: clock.at });
    await sql`update sessions set created_at = ${clock.at}, last_seen_at = ${clock.at}
      where user_id = ${staff.id}`.execute(app.db);
    return staff;
  }

  beforeAll(async () => {
    const seller = { ...germanSettings.seller, time_zone: zone };
    const customers = await arrangeSeller(app, clock, { ...germanSettings, seller });
    await customers.setClock('2037-01-31T10:30:00.000Z');
    const report = async (name: string, more = {}) => {
      const { contract } = await customers.report(name, { contract: { plan: name, ...more } });
      ids.set(name, contract.id);
    };
    const trial = (trial_ends_at: string) => ({ status: 'trialing', trial_ends_at });
    const trials: Record<string, object> = {
      trial: trial('2037-06-01T10:00:00.000Z'),
      'trial-over': trial('2037-02-20T10:00:00.000Z'),
      'trial-canceled': trial('2037-06-01T00:00:00.000Z'),
    };
    for (const name of names) await report(name, trials[name]);
    await customers.bill();
    const { rows: paid } = await sql<{ number: string }>`select i.document as number from invoices i
      join service_contracts c on c.id = i.contract_id where c.signup_id not like 'past-due%'`.execute(
      app.db,
    );
    for (const { number } of paid) await customers.pay(number);

    const cancel = async (...those: string[]) => {
      const client = openClient(app.send, await app.login(owner));
      for (const name of those) await client.contracts.cancel.mutate({ contract: ids.get(name) ?? '' });
    };
    await customers.setClock('2037-02-10T10:30:00.000Z');
    await cancel('trial-canceled', 'ended-with-period', 'ended-early-by-staff', 'ended-early-by-report');
    const { cookie } = await openStaff();
    clock.at = new Date(clock.at.getTime() + 1);
    for (const name of ['ended-by-staff', 'ended-early-by-staff']) {
      const input = { contract: ids.get(name), why: 'They asked for it' };
      expect(readData(await call(app, 'billing.cancelContract', cookie, input))).toEqual({ done: true });
    }
    for (const name of ['ended-by-report', 'ended-early-by-report'])
      await report(name, { status: 'canceled' });

    await customers.setClock('2037-03-02T10:30:00.000Z');
    await customers.bill();
    await cancel('canceled', 'past-due-canceled');
    // No job has stored this end yet.
    await sql`update service_contracts set cancels_at = '2037-02-28T10:30:00Z', status = 'active',
        next_period_starts_at = '2037-02-28T10:30:00Z'
      where signup_id = 'ended-not-stored'`.execute(app.db);
  });

  /** By the name of a contract, what its row on a page says. */
  const readBadges = (row: string) =>
    [...row.matchAll(/class="badge[^>]*>(.*?)<\/span>/g)].map(([, badge = '']) =>
      badge.replace(/<!--.*?-->/g, ''),
    );

  function readRows({ text }: Answer): Map<string, { said: string | null; badges: string[] }> {
    const [, section] = /aria-labelledby="contracts"(.*?)<\/section>/s.exec(text) ?? [undefined, text];
    const rows = section.split('<li class="row"').slice(1);
    return new Map(
      rows.map((row) => {
        const name = /class="plan">([^<]+)</.exec(row)?.[1] ?? '';
        const words = textOf({ text: row } as Answer);
        const [, said = null] =
          /(?:free until|ends by itself on|last day(?: is)?|ended on) (\d+ \w+ \d{4})/i.exec(words) ?? [];
        return [
          name,
          {
            said,
            badges: readBadges(row),
          },
        ];
      }),
    );
  }

  const rowsOf = (those: [string, Facts][]) =>
    new Map(
      those.map(([name, each]) => [
        name,
        { said: each.lastDay && sayDay(each.lastDay), badges: badgesOf(each) },
      ]),
    );

  const sorted = <T>(rows: Map<string, T>) => [...rows].sort(([one], [other]) => (one < other ? -1 : 1));

  it('the customer reads it under Billing, and programs in contracts.list', async () => {
    const browser = await logIn(app.send, owner);
    expect(sorted(readRows(await browser.send('/profile/billing')))).toEqual(sorted(rowsOf(expected)));
    const listed = await openClient(app.send, browser.cookie()).contracts.list.query();
    expect(
      sorted(new Map(listed.map(({ plan, status, lastDay }) => [plan, { status, lastDay }] as const))),
    ).toEqual(sorted(new Map(expected)));
  });

  it('/profile/delete lists what still runs, and how long', async () => {
    const browser = await logIn(app.send, owner);
    const running = expected.filter(([, each]) => isRunning(each) || each.status === 'trialing');
    expect(sorted(readRows(await browser.send('/profile/delete')))).toEqual(sorted(rowsOf(running)));
  });

  it('staff read it on the person’s page', async () => {
    const { cookie } = await openStaff();
    const id = await idOf(app.db, owner);
    const page = await app.send(`/admin/people/${id}/billing`, { cookie });
    expect(sorted(readRows(page))).toEqual(sorted(rowsOf(expected)));
    const { contracts } = readData(await call(app, 'people.get', cookie, { id }, true));
    expect(
      sorted(
        new Map(
          contracts.map(({ plan, status, lastDay }: Facts & { plan: string }) => [plan, { status, lastDay }]),
        ),
      ),
    ).toEqual(sorted(new Map(expected)));
  });

  it('staff read it in the list of contracts', async () => {
    const { cookie } = await openStaff();
    const page = await app.send('/admin/contracts', { cookie });
    const rows = page.text.split('<tr role="row" data-contract').slice(1);
    const read = rows.map((row): [string, { said: string | null; badges: string[] }] => {
      const [, day] = /data-label="Last day"[^>]*><div><time datetime="([^"]+)"/i.exec(row) ?? [];
      return [
        /class="plan">([^<]+)</.exec(row)?.[1] ?? '',
        { said: day ? sayDay(day) : null, badges: readBadges(row) },
      ];
    });
    expect(sorted(new Map(read))).toEqual(sorted(rowsOf(expected)));
    const { contracts } = readData(await call(app, 'billing.contracts', cookie, {}, true));
    expect(
      sorted(
        new Map(
          contracts.map(
            ({ plan, status, last_day }: { plan: string; status: string; last_day: string | null }) => [
              plan,
              { status, lastDay: last_day },
            ],
          ),
        ),
      ),
    ).toEqual(sorted(new Map(expected)));
  });

  it('the history says it, too', async () => {
    const { cookie } = await openStaff();
    const { history } = readData(
      await call(app, 'people.get', cookie, { id: await idOf(app.db, owner) }, true),
    );
    type Change = { rowId: string; changes: { what: string; to: string | null }[] };
    // The newest change comes first.
    const found = names.map((name) => [
      name,
      (history as Change[])
        .filter(({ rowId }) => rowId === ids.get(name))
        .flatMap(({ changes }) => changes)
        .find(({ what }) => what.startsWith('Last day of'))?.to ?? null,
    ]);
    expect(found).toEqual(expected.map(([name, { lastDay }]) => [name, lastDay && sayDay(lastDay)]));
  });
});
