// SIGKILL of the service and of Postgres under load: nothing acknowledged is lost or half done, and no nonce works twice.
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findFreePort, type RunningProcess, type Runtime, startService } from '../support/app/process.ts';
import { findEmptyAccounts } from '../support/database/database.ts';
import { type OwnPostgres, openOwnPostgres } from '../support/database/own-postgres.ts';
import { connect } from '../support/database/postgres.ts';
import { byForm, noteFigures } from '../support/faults/faults.ts';
import { killedEnv, type Load, startLoad } from '../support/faults/killed-load.ts';
import { liftAllowancesAt } from '../support/people/allowances.ts';
import { createRandom, seed } from '../support/run/random.ts';

const kills = byForm({ short: 2, long: 20 });
const runtimes = byForm<Runtime[]>({ short: ['node'], long: ['node', 'deno'] });

let postgres: OwnPostgres;
let service: RunningProcess | undefined;
beforeEach(async () => {
  postgres = await openOwnPostgres();
});
afterEach(async () => {
  service?.child.kill('SIGKILL');
  await service?.exited;
  await postgres.close();
});

const random = createRandom(seed);
const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

describe.each(runtimes)('on %s, nothing that was acknowledged is lost (contract 9.168)', (runtime) => {
  const victims: [name: string, kill: (start: () => Promise<void>) => Promise<void>][] = [
    [
      'the service',
      async (start) => {
        service?.child.kill('SIGKILL');
        await service?.exited;
        await start();
      },
    ],
    [
      'Postgres',
      async () => {
        await postgres.kill();
        await postgres.start();
      },
    ],
  ];

  it.each(victims)(
    `when %s is killed ${kills} times under load`,
    { timeout: 600_000 },
    async (victim, kill) => {
      const port = await findFreePort();
      const start = async () => {
        service = await startService(runtime, port, { ...killedEnv, DATABASE_URL: postgres.templateUrl });
      };
      await start();
      await liftAllowancesAt(postgres.templateUrl);
      const load = startLoad(port);
      for (let times = 0; times < kills; times++) {
        await pause(byForm({ short: 200, long: 500 }) * (1 + random()));
        await kill(start);
      }
      await pause(1_000);
      await expect.poll(() => countEach(load), { timeout: 60_000 }).not.toContain(0);
      await load.stop();
      expect(load.unexpected).toEqual([]);
      await expectNothingLost(load, `${victim} killed ${kills} times on ${runtime}`);
    },
  );
});

const listAccepted = ({ handOffs }: Load['acknowledged']) =>
  [...handOffs].filter(([, { isAccepted }]) => isAccepted);

/** Returns how many of each kind were acknowledged. For edits, this is 0 until both users have edited. */
const countEach = ({ acknowledged }: Load) => [
  Math.max(acknowledged.edits.size - 1, 0),
  acknowledged.signups.size,
  listAccepted(acknowledged).length,
  acknowledged.logouts.length,
  acknowledged.mails.length,
];

async function expectNothingLost({ acknowledged, send }: Load, name: string): Promise<void> {
  const { edits, signups, handOffs, logouts, mails } = acknowledged;
  const accepted = listAccepted(acknowledged);
  const acknowledgements = { signups: signups.size, handOffs: accepted.length, logouts: logouts.length };
  noteFigures(name, { ...acknowledgements, edits: Math.max(...edits.values()), mails: mails.length });

  for (const cookie of logouts)
    expect((await send('/sso/profile', { headers: { cookie } }))?.status).toBe(401);
  // Each hand-off is accepted at most one time. A hand-off that was never acknowledged may have been accepted.
  for (const [path, { isAccepted }] of handOffs) {
    expect(isAccepted ? [409] : [303, 409]).toContain((await send(path))?.status);
    if (!isAccepted) expect((await send(path))?.status).toBe(409);
  }

  const { db, close } = connect(postgres.templateUrl);
  const list = async (query: ReturnType<typeof sql<{ value: string }>>) =>
    (await query.execute(db)).rows.map(({ value }) => value);
  try {
    for (const [email, number] of edits) {
      const [saved = ''] = await list(sql`select name as value from users where email = ${email}`);
      expect(Number(saved.replace('Edit ', ''))).toBeGreaterThanOrEqual(number);
    }
    const contracts = await list(sql`select signup_id as value from service_contracts`);
    expect(new Set(contracts)).toEqual(new Set([...contracts, ...signups]));
    const mailed = await list(sql`select recipient as value from mails where kind = 'set_password'`);
    expect(new Set(mailed)).toEqual(new Set([...mailed, ...mails]));
    const users = await list(sql`select external_id as value from external_links`);
    expect(new Set(users)).toEqual(new Set([...users, ...accepted.map(([, { id }]) => id)]));
    // Rows that belong together are all there, or none of them is.
    expect(await findEmptyAccounts(db)).toEqual([]);
    const { rows } = await sql`select
      (select count(*) from service_contracts) - (select count(*) from webhook_requests) as contracts_or_answers,
      (select count(*) from service_contracts) - (select count(*) from audit_events where type = 'signup.accepted')
        as contracts_or_events,
      (select count(*) from service_contracts) - (select count(*) from mails where kind = 'welcome')
        as contracts_or_mails,
      (select count(*) from nonces) - (select count(*) from audit_events where type = 'hand_off.accepted')
        as nonces_or_events,
      (select count(*) from nonces) - (select count(*) from external_links) as nonces_or_links,
      (select count(*) from nonces) - (select count(*) from pending_hand_offs) as nonces_or_pages`.execute(
      db,
    );
    expect(Object.values(rows[0] as object).map(Number)).toEqual([0, 0, 0, 0, 0, 0]);
  } finally {
    await close();
  }
}
