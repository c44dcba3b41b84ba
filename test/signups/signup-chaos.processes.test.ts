import { expect, it } from 'vitest';
import { openKilledService } from '../support/crm/killed-service.ts';
import { checkSignups } from '../support/crm/signup-checker.ts';
import { buildLoad, sendLoad } from '../support/crm/signup-load.ts';
import { byForm } from '../support/faults/faults.ts';
import { seed } from '../support/run/random.ts';

const count = byForm({ short: 400, long: 2_000 });

it(`${count} signups make exactly one contract each, while an instance and Postgres are killed`, async () => {
  const service = await openKilledService();
  const load = buildLoad({ seed, count, sharing: 0.2 });
  const blows = [service.killInstance, service.killPostgres];
  const struck: Promise<void>[] = [];
  const faults = await sendLoad(load, service.targets, {
    atOnce: 64,
    hangUps: 0.1,
    // The kills come one after the other, at equal parts of the load.
    onProgress(acknowledged) {
      const blow = blows[struck.length];
      const isDue = acknowledged >= (load.sends.length * (struck.length + 1)) / (blows.length + 1);
      if (blow && isDue) struck.push((struck.at(-1) ?? Promise.resolve()).then(blow));
    },
  });
  expect(struck).toHaveLength(blows.length);
  await Promise.all(struck);
  faults.push(...(await checkSignups(service.db, load.messages)));
  expect(faults.slice(0, 20)).toEqual([]);
  // While Postgres was killed, the service answered that the database was away. Nothing else failed.
  expect(service.log()).toContain('"unavailable"');
  expect(service.log()).not.toContain('"internal_error"');
}, 300_000);
