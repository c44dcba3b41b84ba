// Measures logins with the right password while strangers keep 400 logins with a wrong password under way.

import type { Runtime } from '../support/app/process.ts';
import { measure, median } from './load.ts';
import { type Asked, buildLogin } from './population.ts';
import { startService } from './servers.ts';
import { addRow, number } from './table.ts';

const parallel = 400;
const seconds = 10;
const victims = 5_000;

type Answered = { status: number; ms: number };

export async function measureFlood(runtime: Runtime, env: Record<string, string>): Promise<void> {
  const service = await startService(runtime, env);
  const ask = async ({ method, path, headers, body }: Asked): Promise<Answered> => {
    const startedAt = performance.now();
    const answer = await fetch(service.url + path, { method, headers, body, redirect: 'manual' });
    await answer.arrayBuffer();
    return { status: answer.status, ms: performance.now() - startedAt };
  };
  let serial = 0;
  const floods = {
    'many accounts': () => buildLogin(1 + (serial++ % victims), 'wrong'),
    // These guesses at one account come from as many IP addresses as the guesses at many accounts.
    'one account': () => ({
      ...buildLogin(1 + (serial++ % victims), 'wrong'),
      body: buildLogin(1, 'wrong').body,
    }),
  };
  try {
    const warmUp = () => buildLogin(victims + 1 + (serial++ % victims));
    await measure(service, warmUp, { seconds: 10, expected: 303 });
    for (const [name, attack] of Object.entries(floods)) {
      const end = performance.now() + seconds * 1_000;
      const wrong: Answered[] = [];
      const strangers = Array.from({ length: parallel }, async () => {
        while (performance.now() < end) wrong.push(await ask(attack()));
      });
      const right: Answered[] = [];
      for (let user = victims + 1; performance.now() < end; user++) {
        right.push(await ask(buildLogin(user)));
        await new Promise((done) => setTimeout(done, 100));
      }
      await Promise.all(strangers);
      addRow(`${runtime}: beside ${parallel} wrong logins at ${name}, of which ${describe(wrong)}`);
      addRow(`${runtime}: right logins of others there: ${describe(right)}`);
    }
  } finally {
    await service.stop();
  }
}

/** Returns how many answers had each status, their median time, and the slowest time. */
function describe(answers: Answered[]): string {
  const statuses = [...new Set(answers.map(({ status }) => status))].sort();
  return statuses
    .map((status) => {
      const times = answers.filter((answer) => answer.status === status).map(({ ms }) => ms);
      return `${times.length} got ${status} (${number(median(times))} ms, the slowest ${number(Math.max(...times))})`;
    })
    .join(', ');
}
