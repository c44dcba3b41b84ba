// `npm run cli -- clients`: how far each client is with its events.
import { sql } from 'kysely';
import { beforeAll, expect, it } from 'vitest';
import { claimNudges, recordNudge, recordPull } from '../../db/tables/event-deliveries.ts';
import { readConfig } from '../../server/settings/config.ts';
import { openProductionApp } from '../support/app/app.ts';
import { runCli } from '../support/app/cli.ts';
import { appendEvents } from '../support/events/client-events.ts';
import { shared } from '../support/run/shared.ts';

// This service sends no nudges. The test claims one and records its result.
const app = shared(openProductionApp);
beforeAll(async () => {
  const cookie = await app.login('customer@example.test');
  await app.send('/sso/launch/network_site', { cookie });
  // Tables are emptied one by one. A statement that empties all of them could deadlock with the service's jobs.
  for (const table of ['events', 'event_sequences', 'event_deliveries'])
    await sql`truncate ${sql.table(table)}`.execute(app.db);
  await appendEvents(app.db, 'marketplace', 12);
  await sql`update events set occurred_at = now() - interval '3 hours 10 minutes' where seq < 10`.execute(
    app.db,
  );
  await recordPull(app.db, { client: 'marketplace', after: 7 });
  const [nudge] = await claimNudges(app.db, ['marketplace']);
  if (nudge) await recordNudge(app.db, nudge, 'connection refused');
});

it('clients prints a block for each: callback, last launch, newest event, how far it is and why nudges fail', async () => {
  const { code, out, err } = await runCli(app.databaseUrl, ['clients']);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  const blocks = out.trimEnd().split('\n\n');
  expect(blocks.map((block) => block.split('\n')[0])).toEqual(['marketplace', 'network_site', 'crm_app']);
  const at = String.raw`\(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\)`;
  const [marketplace = '', site = '', crm = ''] = blocks;
  for (const line of [
    '  Callback      http://localhost:3000/demo/marketplace/callback',
    '  Nudges go to  http://localhost:3000/demo/marketplace/events',
    '  Last launch   none',
    `  Newest event  12, \\d+ seconds? ago ${at}`,
    `  Read up to    7: 5 behind, the oldest from 3 hours ago ${at}`,
    `  Last pull     \\d+ seconds? ago ${at}`,
    '  Last nudge    none taken',
    `  Last failure  connection refused, \\d+ seconds? ago ${at}`,
  ])
    expect(marketplace).toMatch(new RegExp(`^${line}$`, 'm'));
  expect(site).toMatch(new RegExp(`^  Last launch   \\d+ seconds? ago ${at}$`, 'm'));
  for (const line of [
    'Newest event  none',
    'Read up to    0, nothing more to read',
    'Last pull     none',
    'Last failure  none',
  ])
    expect(crm).toContain(`  ${line}`);
  for (const line of out.split('\n')) expect(line.length).toBeLessThanOrEqual(100);
});

it('clients --json is the same for programs', async () => {
  const { code, out } = await runCli(app.databaseUrl, ['clients', '--json']);
  expect(code).toBe(0);
  const [marketplace, site, crm] = JSON.parse(out);
  const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  expect(marketplace).toEqual({
    client: 'marketplace',
    callback_url: 'http://localhost:3000/demo/marketplace/callback',
    events_url: 'http://localhost:3000/demo/marketplace/events',
    last_launch_at: null,
    newest_event: 12,
    newest_event_at: instant,
    acknowledged: 7,
    behind: 5,
    oldest_unread_at: instant,
    last_pull_at: instant,
    last_nudge_taken_at: null,
    last_failure_at: instant,
    last_failure: 'connection refused',
    row: null,
  });
  expect(site.last_launch_at).toEqual(instant);
  expect(crm).toMatchObject({ newest_event: 0, behind: 0, oldest_unread_at: null, last_pull_at: null });
});

it('clients prints no secret', async () => {
  const { out } = await runCli(app.databaseUrl, ['clients', '--json']);
  for (const { secrets } of readConfig({}).clients.values())
    for (const secret of secrets) expect(out).not.toContain(secret);
});
