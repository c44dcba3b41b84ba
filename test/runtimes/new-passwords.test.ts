// A thread of its own checks new passwords, so that a flood of them stops nobody else from logging in (contract 9.246).
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { demoPassword, seedDemoUsers } from '../../server/doors/demo/demo-users.ts';
import { hashPassword } from '../../server/identity/password/passwords.ts';
import { openBackend } from '../support/app/backend.ts';
import { findFreePort, type Runtime, startService } from '../support/app/process.ts';
import { openFreshDatabase } from '../support/database/database.ts';
import { worstName, worstPassword } from '../support/faults/new-passwords.ts';
import { readToken } from '../support/people/kept-mail.ts';
import { shared } from '../support/run/shared.ts';

const database = shared(openFreshDatabase);
beforeAll(async () => {
  await seedDemoUsers(database.db, await hashPassword(demoPassword), new Date());
});
const mails = shared(() => openBackend({ databaseUrl: database.url }));

let serial = 0;
/** Each call returns an IP address in another network. */
const from = () => `10.${++serial >> 8}.${serial & 255}.1`;

/** Returns how long the thread that answers has had a processor, in milliseconds. */
const readThreadMs = (pid: number | undefined) =>
  Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;

describe.each<Runtime>(['node', 'deno'])('a service on %s', (runtime) => {
  let service: Awaited<ReturnType<typeof startService>>;
  let base = '';
  const post = (path: string, form: Record<string, string>) =>
    fetch(base + path, {
      method: 'POST',
      body: new URLSearchParams(form),
      headers: { origin: base, 'x-forwarded-for': from() },
      redirect: 'manual',
    });
  const signUp = async () => {
    const email = `flood-${++serial}@example.test`;
    expect((await post('/signup', { name: 'Nia', email })).status).toBe(303);
    return `/signup/confirm?token=${await readToken(mails, email, 'sign_up')}`;
  };
  const set = async (link: string, newPassword: string) => {
    const answer = await post(link, { name: worstName, newPassword });
    await answer.arrayBuffer();
    return answer.status;
  };

  beforeAll(async () => {
    const port = await findFreePort();
    base = `http://localhost:${port}`;
    const env = { DATABASE_URL: database.url, TRUSTED_PROXIES: 'loopback' };
    service = await startService(runtime, port, env);
  });
  afterAll(async () => {
    service.child.kill('SIGTERM');
    expect(await service.exited, service.output()).toBe(0);
  });

  it('lets others log in while new passwords that are slow to check come faster than they can be checked', async () => {
    const links: string[] = [];
    while (links.length < 8) links.push(await signUp());
    const statuses: number[] = [];
    let isOver = false;
    // Sends three requests for each link. The service cannot check so many at the same time, or let them wait.
    const flooding = links
      .flatMap((link) => [link, link, link])
      .map(async (link) => {
        while (!isOver) {
          statuses.push(await set(link, worstPassword));
          await pause(250);
        }
      });
    await pause(2_000);
    const logins: number[] = [];
    for (let n = 0; n < 8; n++)
      logins.push((await post('/login', { email: 'customer@example.test', password: demoPassword })).status);
    isOver = true;
    await Promise.all(flooding);
    expect(logins).toEqual(logins.map(() => 303));
    const answered = new Set(statuses);
    expect(answered).toContain(422);
    for (const status of answered) expect([422, 429, 503]).toContain(status);
    // After the flood, the owner of a link gets no internal error.
    expect(await set(links[0] ?? '', 'seven quiet lanterns')).not.toBe(500);
  });

  it.runIf(existsSync('/proc/self/schedstat'))(
    'spends less than twice the time on a slow one that it spends on one that is too short to check',
    async () => {
      const measure = async (password: string) => {
        const link = await signUp();
        const before = readThreadMs(service.child.pid);
        for (let n = 0; n < 10; n++) expect(await set(link, password)).toBe(422);
        return (readThreadMs(service.child.pid) - before) / 10;
      };
      // Compares the fastest of three checks, because the thread has other work, too.
      const long: number[] = [];
      const usual: number[] = [];
      for (let round = 0; round < 3; round++) {
        long.push(await measure(worstPassword));
        usual.push(await measure('short'));
      }
      // If the thread that answers did the check, it would take a tenth of a second of its time. A busy machine slows both
      // measurements.
      expect(Math.min(...long)).toBeLessThan(2 * Math.min(...usual));
    },
  );

  it.runIf(existsSync('/proc/self/task'))('has that thread give way to everything else', async () => {
    const tasks = `/proc/${service.child.pid}/task`;
    // The nice value is field 19 of proc_pid_stat(5). The time on a processor is field 14.
    const readThreads = () =>
      new Map(
        readdirSync(tasks).map((id) => {
          const fields = readFileSync(`${tasks}/${id}/stat`, 'utf8')
            .replace(/^.*\) /, '')
            .split(' ');
          return [id, { nice: Number(fields[16]), ran: Number(fields[11]) }];
        }),
      );
    const link = await signUp();
    const before = readThreads();
    for (let n = 0; n < 5; n++) expect(await set(link, worstPassword)).toBe(422);
    const main = String(service.child.pid);
    const [busiest] = [...readThreads()]
      .filter(([id]) => id !== main)
      .map(([id, { nice, ran }]) => ({ nice, ran: ran - (before.get(id)?.ran ?? 0) }))
      .sort((one, other) => other.ran - one.ran);
    expect([before.get(main)?.nice, busiest?.nice]).toEqual([0, 10]);
  });
});
