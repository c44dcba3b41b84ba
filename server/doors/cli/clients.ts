import type { Command } from 'commander';
import { type Delivery, listDeliveries } from '../../../db/tables/event-deliveries.ts';
import { listLastLaunchesOfClients } from '../../../db/tables/launches.ts';
import type { RowState } from '../../clients/book.ts';
import { environment, print } from '../../runtime/process.ts';
import { readConfig } from '../../settings/config.ts';
import { listKnown, showRow } from '../../staff/clients.ts';
import { now, readClients, withDatabase } from './command.ts';

type Row = ReturnType<typeof showRow>;
type Status = Delivery & {
  known: Awaited<ReturnType<typeof listKnown>>[number];
  row: Row | null;
  launchedAt: Date | null;
};

export function addClientCommands(program: Command): void {
  program
    .command('clients')
    .description('list the clients: last launch, how far each has read its events, and why nudges fail')
    .option('--json', 'for programs', false)
    .action(async ({ json }: { json: boolean }) => {
      const config = readConfig(environment);
      const statuses = await withDatabase(
        async (db) => {
          const launches = await listLastLaunchesOfClients(db);
          const deps = { db, config, clients: await readClients(db, config) };
          const all = new Map((await listKnown(deps)).map((known) => [known.name, known]));
          const deliveries = await listDeliveries(db, [...all.keys()]);
          return deliveries.flatMap((delivery): Status[] => {
            const known = all.get(delivery.client);
            const launchedAt = launches.get(delivery.client) ?? null;
            const row = known?.row ? showRow(deps, known.row) : null;
            return known ? [{ ...delivery, known, row, launchedAt }] : [];
          });
        },
        // There is no timeout, because this reads all launches of the last 400 days.
        { statementTimeoutMs: 0 },
      );
      print(json ? JSON.stringify(statuses.map(toJson), null, 2) : statuses.map(toText).join('\n\n'));
    });
}

const toJson = (status: Status) => ({
  client: status.client,
  callback_url: status.known.callbackUrl,
  events_url: status.known.eventsUrl,
  row: status.row && {
    state: status.row.state,
    kind: status.row.kind,
    off_at: status.row.offAt,
    ...(status.row.redirectUris && {
      redirect_uris: status.row.redirectUris,
      post_logout_uris: status.row.postLogoutUris,
      back_channel_uri: status.row.backChannelUri,
      pkce: status.row.pkce,
      auth: status.row.auth,
    }),
    secrets: status.row.secrets.map(({ madeAt, lastUsedAt, isOfOlderKey }) => ({
      ...{ made_at: madeAt, last_used_at: lastUsedAt, is_sealed_with_older_key: isOfOlderKey },
    })),
  },
  last_launch_at: status.launchedAt,
  newest_event: status.latest,
  newest_event_at: status.latestAt,
  acknowledged: status.acknowledged,
  behind: status.behind,
  oldest_unread_at: status.oldestAt,
  last_pull_at: status.pulledAt,
  last_nudge_taken_at: status.succeededAt,
  last_failure_at: status.failedAt,
  last_failure: status.failure,
});

/** Writes a block of lines instead of a row, because URLs can be long. */
function toText(status: Status): string {
  const { client, known, row, launchedAt, latest, latestAt } = status;
  const lines = [
    ...(row ? describeRow(row) : []),
    ...(known.kind === 'openid' && row
      ? [
          [
            'Kind',
            `OpenID Connect, PKCE ${row.pkce}, authenticates with ${row.auth === 'none' ? 'no secret' : 'its secret'}`,
          ],
          ['Redirects to', row.redirectUris?.join(' ')],
          ['After log-out', row.postLogoutUris?.join(' ') || 'our page'],
          ['Log-outs to', row.backChannelUri ?? 'nowhere'],
        ]
      : [
          ['Callback', known.callbackUrl],
          ['Nudges go to', known.eventsUrl ?? 'nowhere'],
        ]),
    ['Last launch', launchedAt ? describe(launchedAt) : 'none'],
    [
      'Newest event',
      latest > 0 ? [latest, latestAt && describe(latestAt)].filter(Boolean).join(', ') : 'none',
    ],
    ...(known.kind === 'openid'
      ? []
      : [
          ['Read up to', describeProgress(status)],
          ['Last pull', status.pulledAt ? describe(status.pulledAt) : 'none'],
          ['Last nudge', status.succeededAt ? `taken ${describe(status.succeededAt)}` : 'none taken'],
          ['Last failure', status.failedAt ? `${status.failure}, ${describe(status.failedAt)}` : 'none'],
        ]),
  ];
  return [client, ...lines.map(([name = '', value]) => `  ${name.padEnd(14)}${value}`)].join('\n');
}

const stateWords: Record<RowState, string> = {
  in_settings: 'off, because the settings name it, too',
  off: 'off',
  unconfirmed: 'waits to be confirmed after a restore: client:confirm',
  unreadable: 'refused, because no key opens its secrets',
  on: 'on',
};

const describeRow = ({ state, secrets }: Row): [string, string][] => [
  ['In database', stateWords[state]],
  ...secrets.map(({ madeAt, lastUsedAt, isOfOlderKey }, at): [string, string] => [
    at === 0 ? 'First secret' : 'Second secret',
    [
      `made ${describe(madeAt)}`,
      lastUsedAt ? `used ${describe(lastUsedAt)}` : 'not used yet',
      ...(isOfOlderKey ? ['sealed with an older key'] : []),
    ].join(', '),
  ]),
];

function describeProgress(status: Status): string {
  const { acknowledged, behind, oldestAt } = status;
  if (behind === 0) return `${acknowledged}, nothing more to read`;
  const oldest = oldestAt ? `, the oldest from ${describe(oldestAt)}` : '';
  return `${acknowledged}: ${behind} behind${oldest}`;
}

const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;
const relative = new Intl.RelativeTimeFormat('en');

/** Writes a time in a form such as "3 minutes ago (2026-01-01 12:00:00 UTC)". */
function describe(at: Date): string {
  const seconds = Math.max(0, Math.round((now().getTime() - at.getTime()) / 1_000));
  const [unit, size] = units.find(([, size]) => seconds >= size) ?? ['second', 1];
  const instant = at.toISOString().slice(0, 19).replace('T', ' ');
  return `${relative.format(-Math.floor(seconds / size), unit)} (${instant} UTC)`;
}
