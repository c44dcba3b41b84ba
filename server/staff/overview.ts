// What administrators see of the business at a glance (contract 12.107 to 12.110, and 12.253). Some numbers come from the sums
// of hours. All other numbers are counted when the page is opened.
import { inTransaction } from '../../db/postgres/transactions.ts';
import { listDeliveries } from '../../db/tables/event-deliveries.ts';
import { countOpen, countVatIdsToCheck, countWaitingCountries } from '../../db/tables/invoice-lists.ts';
import { countFailedMails } from '../../db/tables/mails.ts';
import { countPeopleIn } from '../../db/tables/person-words.ts';
import { compareSums, listSumsByTime } from '../../db/tables/sums-of-hours.ts';
import { isProblemCode, problems } from '../basics/problems.ts';
import { findSettings } from '../billing/invoices/issue.ts';
import { listReverseCountries } from '../billing/invoices/tax.ts';
import { overdueBefore } from '../billing/invoices/waiting-country.ts';
import type { Dependencies } from '../ground/dependencies.ts';
import { noClient, paymentProvider } from '../metrics/results.ts';
import { readKey } from '../metrics/sums.ts';

export const spans = ['24h', '7d', '30d'] as const;
export type Span = (typeof spans)[number];

const stepsOf: Record<Span, { unit: 'hour' | 'day'; count: number }> = {
  '24h': { unit: 'hour', count: 24 },
  '7d': { unit: 'day', count: 7 },
  '30d': { unit: 'day', count: 30 },
};
const unitMs = { hour: 3_600_000, day: 86_400_000 };

const metrics = {
  logins: 'identity_logins_total',
  launches: 'identity_launches_total',
  handOffs: 'identity_inbound_hand_offs_total',
  refusals: 'identity_refusals_total',
  signUps: 'identity_sign_ups_total',
  signups: 'identity_signups_total',
  mails: 'identity_mails_total',
};

/** The outcomes of launches after which the person is at the client. */
const arrived = ['payload', 'code'];

/** The numbers at the top of the page, and which sums each number adds up. */
const numbers = {
  logins: { name: metrics.logins, isCounted: ({ result }: Labels) => result === 'ok' },
  launches: { name: metrics.launches, isCounted: ({ outcome = '' }: Labels) => arrived.includes(outcome) },
  signUps: { name: metrics.signUps, isCounted: () => true },
  refusals: { name: metrics.refusals, isCounted: () => true },
};

/** The alert about clients that are behind has the same limit. */
const behindSeconds = 900;
/** No count goes higher than this, so that the page stays fast. */
const countLimit = 10_000;

/** Reads everything on one connection. */
export async function getOverview(deps: Dependencies, of: Span) {
  const { clients, db } = deps;
  const now = deps.now();
  const { unit, count } = stepsOf[of];
  const newest = Math.floor(now.getTime() / unitMs[unit]) * unitMs[unit];
  const times = Array.from({ length: count }, (_, n) => new Date(newest - (count - 1 - n) * unitMs[unit]));
  const since = times[0] as Date;
  const before = new Date(since.getTime() - count * unitMs[unit]);
  const [
    sums,
    compared,
    deliveries,
    frozen,
    waiting,
    openInvoices,
    overdueInvoices,
    failedMails,
    countries,
    overdueCountries,
    vatIds,
  ] = await inTransaction(db, { by: 'service' }, async (trx) => {
    const seller = (await findSettings(trx))?.settings.seller;
    return Promise.all([
      listSumsByTime(trx, { since, now, unit }),
      compareSums(trx, { before, since, now, names: Object.values(numbers).map(({ name }) => name) }),
      listDeliveries(
        trx,
        clients.list().map(({ name }) => name),
      ),
      countPeopleIn(trx, 'frozen', countLimit),
      countPeopleIn(trx, 'waiting', countLimit),
      countOpen(trx, countLimit),
      countOpen(trx, countLimit, { dueBefore: now }),
      countFailedMails(trx, countLimit),
      countWaitingCountries(trx, countLimit),
      countWaitingCountries(trx, countLimit, { before: overdueBefore(now) }),
      countVatIdsToCheck(trx, countLimit, listReverseCountries(seller)),
    ]);
  });
  const read = sums.map(({ key, at, count: each }) => ({ ...readKey(key), at: at.getTime(), count: each }));
  const timesOf = (name: string, label: string, values: string[]) => {
    const found = read.filter((sum) => sum.name === name && values.includes(sum.labels[label] ?? ''));
    return (at: Date) => found.reduce((all, sum) => (sum.at === at.getTime() ? all + sum.count : all), 0);
  };
  const countLogins = timesOf(metrics.logins, 'result', ['ok']);
  const countLaunches = timesOf(metrics.launches, 'outcome', arrived);
  const byLabels = (name: string) => addUp(read.filter((sum) => sum.name === name));
  const titleOf = (client: string | undefined) => clients.get(client ?? '')?.title ?? client ?? '';
  const byResult = (name: string) =>
    byLabels(name).map(({ labels, count: each }) => ({ result: labels.result ?? '', count: each }));
  return {
    since,
    unit,
    countLimit,
    numbers: Object.entries(numbers).map(([name, number]) => {
      const isIn = (sum: ReturnType<typeof readKey>) =>
        sum.name === number.name && number.isCounted(sum.labels);
      const all = compared?.filter(({ key }) => isIn(readKey(key))) ?? [];
      const [present, earlier] = [sumOf(all, 'present'), sumOf(all, 'earlier')];
      return {
        name: name as keyof typeof numbers,
        count: sumOf(read.filter(isIn), 'count'),
        changePercent: earlier === 0 ? null : Math.round(((present - earlier) / earlier) * 100),
      };
    }),
    series: times.map((at) => ({ at, logins: countLogins(at), launches: countLaunches(at) })),
    logins: byResult(metrics.logins),
    launches: byLabels(metrics.launches).map(({ labels, count: each }) => ({
      client: labels.client ?? '',
      title: titleOf(labels.client),
      outcome: labels.outcome ?? '',
      count: each,
    })),
    handOffs: byResult(metrics.handOffs),
    refusals: byLabels(metrics.refusals).map(({ labels: { code = '', client = '' }, count: each }) => ({
      code,
      words: isProblemCode(code) ? problems[code][1] : code,
      client,
      title: client === noClient ? null : client === paymentProvider ? 'Payments' : titleOf(client),
      count: each,
    })),
    signUps: sumOf(byLabels(metrics.signUps), 'count'),
    signups: byResult(metrics.signups),
    mails: byResult(metrics.mails),
    now: {
      behind: deliveries
        .filter(({ client, pulledAt, oldestSeconds }) => {
          // A client that reads no events is always behind. Nobody needs to know that, so the client is left out.
          const takesEvents = pulledAt !== null || clients.get(client)?.eventsUrl !== undefined;
          return takesEvents && oldestSeconds > behindSeconds;
        })
        .map(({ client, behind }) => ({ client, title: titleOf(client), events: behind })),
      frozen,
      waiting,
      openInvoices,
      overdueInvoices,
      failedMails,
      countries,
      overdueCountries,
      vatIds,
    },
  };
}

const sumOf = <Name extends string>(all: readonly Record<Name, number>[], name: Name): number =>
  all.reduce((sum, each) => sum + each[name], 0);

type Labels = Readonly<Record<string, string | undefined>>;
type Read = { labels: Readonly<Record<string, string>>; count: number };

/** Adds the counts of equal labels. The highest comes first. */
function addUp(sums: Read[]): Read[] {
  const all = new Map<string, Read>();
  for (const { labels, count } of sums) {
    const key = JSON.stringify(labels);
    all.set(key, { labels, count: count + (all.get(key)?.count ?? 0) });
  }
  return [...all.values()].sort((a, b) => b.count - a.count);
}
