// Quantities, charges and ends at a day are invoiced exactly one time, although reports repeat (contract 7.525 to 7.534).
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import type { Database } from '../../db/postgres/client.ts';
import { findFaultsInBooks } from '../support/billing/money.ts';
import { setSettings } from '../support/billing/settings.ts';
import { buildSignup, type Charge } from '../support/crm/crm.ts';
import { openKilledService } from '../support/crm/killed-service.ts';
import { type Message, sendLoad } from '../support/crm/signup-load.ts';
import { byForm } from '../support/faults/faults.ts';
import { createRandom, seed, shuffle } from '../support/run/random.ts';

type Said = { quantity: number; status: string; cancelsAt: string | null; charges: Charge[] };
type Reported = Message & { said: Said };

/** Builds five reports of each signup, to be sent in any order. The newest report of every fourth signup ends it. */
function buildReports(count: number): Reported[] {
  const random = createRandom(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  const now = new Date();
  return Array.from({ length: count }, (_, at) => {
    const signupId = `sum_${at}`;
    return Array.from({ length: 5 }, (_, version): Reported => {
      const isLast = version === 4;
      const said: Said = {
        quantity: 1 + below(9),
        status: isLast && at % 4 === 0 ? 'canceled' : 'active',
        cancelsAt: below(2) ? new Date(now.getTime() + (1 + below(300)) * 3_600_000).toISOString() : null,
        charges: [
          { id: 'setup', title: 'Setup', unit_amount: 10_000, when: 'now' },
          ...Array.from({ length: below(4) }, (_, nth): Charge => {
            const when = below(2) ? 'now' : 'next';
            // The deductions of a contract are together smaller than any of its charges, so that each charge is on a document.
            if (nth === 2)
              return { id: `${version}-2`, title: 'Less', unit_amount: -1 - below(100), when: 'next' };
            const unit_amount = 600 + below(500);
            return {
              id: `${version}-${nth}`,
              title: `Charge ${nth}`,
              unit_amount,
              quantity: 1 + below(50),
              when,
            };
          }),
        ],
      };
      const signup = buildSignup(signupId, {
        occurred_at: new Date(now.getTime() - 3_600_000 + version * 1_000).toISOString(),
        contract: {
          plan: `v${version}`,
          status: said.status,
          cancels_at: said.cancelsAt,
          price: { currency: 'EUR', unit_amount: 1_000, interval: 'month', quantity: said.quantity },
          charges: said.charges,
        },
      });
      const { email } = signup.user;
      const webhookId = `sum_${seed}_${at}_${version}`;
      return { webhookId, signupId, email, version, body: JSON.stringify(signup), answers: [], said };
    });
  }).flat();
}

type Kept = {
  signup: string;
  id: string;
  amount: number;
  left: number;
  due: string;
  billed: number;
  lines: number;
  hasNoPeriods: boolean;
};

/** Reads each charge, and how much of it the documents have. */
const readCharges = async (db: Database): Promise<Kept[]> =>
  (
    await sql<Kept>`
      select c.signup_id as signup, k.id, (k.unit_amount * k.quantity)::float8 as amount, k.left_amount::float8 as left,
        k.due, c.next_period_starts_at is null as "hasNoPeriods", coalesce(sum((l ->> 'amount')::bigint), 0)::float8 as billed, count(l)::int as lines
      from contract_charges k join service_contracts c on c.id = k.contract_id
      left join invoices i on i.contract_id = c.id
      left join documents d on d.number = i.document
      left join lateral jsonb_array_elements(d.facts -> 'lines') l on l ->> 'charge' = k.id
      group by c.signup_id, c.next_period_starts_at, k.contract_id, k.id`.execute(db)
  ).rows;

function findFaults(reports: Reported[], kept: Kept[]): string[] {
  const faults: string[] = [];
  const said = new Map<string, Charge>(
    reports.flatMap(({ signupId, said: { charges } }) =>
      charges.map((charge) => [`${signupId} ${charge.id}`, charge] as const),
    ),
  );
  for (const { signup, id, amount, left, due, billed, lines, hasNoPeriods } of kept) {
    const name = `${signup} ${id}`;
    const charge = said.get(name);
    said.delete(name);
    if (amount !== (charge?.unit_amount ?? 0) * (charge?.quantity ?? 1) || due !== charge?.when)
      faults.push(`${name} is ${amount} of ${due}`);
    // If no period is to come, a charge that waits for the next period lapses (contract 7.532).
    const isLapsed = hasNoPeriods && due === 'next';
    if (billed !== (isLapsed ? left : amount - left))
      faults.push(`${name}: ${billed} billed and ${left} left of ${amount}`);
    if (amount > 0 && lines > 1) faults.push(`${name} is on ${lines} lines`);
    if (amount > 0 && left !== 0 && due === 'now') faults.push(`${name} is not billed`);
  }
  for (const name of said.keys()) faults.push(`${name} is lost`);
  return faults;
}

async function findFaultsInTerms(db: Database, reports: Reported[]): Promise<string[]> {
  const { rows } = await sql<{
    signup: string;
    quantity: number;
    amount: number;
    status: string;
    at: Date | null;
  }>`
    select signup_id as signup, coalesce(price_quantity, 1) as quantity, price_unit_amount::float8 as amount, status,
      cancels_at as at from service_contracts`.execute(db);
  const newest = reports.filter(({ version }) => version === 4);
  return newest.flatMap(({ signupId, said }) => {
    const found = rows.find(({ signup }) => signup === signupId);
    const told = [found?.quantity, found?.amount, found?.status];
    const due: unknown[] = [said.quantity, said.quantity * 1_000, said.status];
    if (said.status === 'active') {
      told.push(found?.at?.toISOString());
      due.push(said.cancelsAt ?? undefined);
    }
    return told.join() === due.join() ? [] : [`${signupId} has ${told}, not ${due}`];
  });
}

const contracts = byForm({ short: 40, long: 100 });

it(`${5 * contracts} reports with quantities, charges and ends count exactly once, in any order, while an instance and Postgres are killed`, async () => {
  const service = await openKilledService();
  await setSettings(service.db);
  const reports = buildReports(contracts);
  const repeated = reports.filter((_, at) => at % 3 === 0);
  const load = { messages: reports, sends: shuffle([...reports, ...repeated]), random: createRandom(seed) };
  const blows = [service.killInstance, service.killPostgres];
  const struck: Promise<void>[] = [];
  const faults = await sendLoad(load, service.targets, {
    atOnce: 16,
    hangUps: 0.1,
    onProgress(acknowledged) {
      const blow = blows[struck.length];
      const isDue = acknowledged >= (load.sends.length * (struck.length + 1)) / (blows.length + 1);
      if (blow && isDue) struck.push((struck.at(-1) ?? Promise.resolve()).then(blow));
    },
  });
  await Promise.all(struck);
  expect(faults).toEqual([]);
  // The jobs of the instances invoice what is due.
  await expect
    .poll(async () => findFaults(reports, await readCharges(service.db)), {
      timeout: 90_000,
      interval: 1_000,
    })
    .toEqual([]);
  expect(await findFaultsInTerms(service.db, reports)).toEqual([]);
  expect(await findFaultsInBooks(service.db)).toEqual([]);
  expect(service.log()).not.toContain('"internal_error"');
}, 300_000);
