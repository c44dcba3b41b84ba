// Two instances, SIGKILL of each in turn and of Postgres, while people log in to a product. A code never works twice, whatever answers are
// lost, and no token outlives its session (contract 14.43, 14.45, 14.48 and 14.58).
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { readConfig } from '../../server/settings/config.ts';
import type { Answer } from '../support/app/app.ts';
import { findFreePort, type RunningProcess, startService } from '../support/app/process.ts';
import { type OwnPostgres, openOwnPostgres } from '../support/database/own-postgres.ts';
import { connect } from '../support/database/postgres.ts';
import { byForm, noteFigures } from '../support/faults/faults.ts';
import {
  addOpenIdClient,
  authorizePath,
  decodeJwt,
  exchange,
  type OpenIdClient,
  readUserinfo,
  sentBack,
  type Tokens,
} from '../support/openid/client.ts';
import { buildSend } from '../support/openid/send.ts';
import { addPerson, addSession } from '../support/people/staff.ts';

const logins = byForm({ short: 120, long: 1_000 });

let postgres: OwnPostgres;
const running = new Map<number, RunningProcess>();
beforeEach(async () => {
  postgres = await openOwnPostgres();
});
afterEach(async () => {
  for (const { child, exited } of running.values()) {
    child.kill('SIGKILL');
    await exited;
  }
  running.clear();
  await postgres.close();
});

type Use = { status: number; error?: string };
type Login = {
  cookie: string;
  sessionId: string;
  code: string;
  /** What was answered to each use of the code, undefined if nothing was. */
  uses: (Use | undefined)[];
  tokens?: Tokens;
  /** Whether the logout was acknowledged. */
  isOver: boolean;
};

it(`no code works twice, and no token after its session, through kills (contract 14.43, 14.45, 14.48 and 14.58)`, {
  timeout: 600_000,
}, async () => {
  const ports = [await findFreePort(), await findFreePort()] as const;
  const env = {
    DATABASE_URL: postgres.templateUrl,
    IDENTITY_ISSUER: `http://localhost:${ports[0]}`,
    SHUTDOWN_DELAY_SECONDS: '0',
  };
  const start = async (port: number) => running.set(port, await startService('node', port, env));
  for (const port of ports) await start(port);
  const config = readConfig(env);
  const sendAt = ports.map((port) => buildSend(port, config.baseUrl));
  const send: (typeof sendAt)[number] = (path, options) =>
    (sendAt[Math.floor(Math.random() * sendAt.length)] as (typeof sendAt)[number])(path, options);
  const database = connect(postgres.templateUrl, { poolSize: 4 });
  const client = await addOpenIdClient(
    { db: database.db, config, send: sendAt[0] as typeof send },
    { backChannelUri: 'http://localhost:9/logout' },
  );
  await knows(sendAt[1] as typeof send, client);

  // Sessions are made before the load begins, because the database is away now and then.
  const sessions = [];
  for (let n = 0; n < logins; n++)
    sessions.push(await addSession({ db: database.db, config }, (await addPerson(database)).id));
  const done: Login[] = [];
  let faults: string[] = [];
  /** Returns undefined if no answer came, or if the answer says that the service is busy. */
  const ask = async (work: () => Promise<Answer>): Promise<Answer | undefined> => {
    const answer = await work().catch(() => undefined);
    if (answer && answer.status >= 500 && answer.status !== 503)
      faults.push(`${answer.status} ${answer.text}`);
    return answer && answer.status < 500 ? answer : undefined;
  };
  const until = async (work: () => Promise<Answer>): Promise<Answer> => {
    for (;;) {
      const answer = await ask(work);
      if (answer) return answer;
      await pause(50);
    }
  };

  async function live({ cookie, sessionId }: { cookie: string; sessionId: string }, nth: number) {
    const answer = await until(() => send(authorizePath(client), { cookie }));
    const { code } = sentBack(answer);
    if (!code) {
      faults.push(`no code: ${answer.status} ${answer.headers.get('location')}`);
      return;
    }
    const login: Login = { cookie, sessionId, code, uses: [], isOver: false };
    done.push(login);
    const use = async () => {
      const used = await ask(() => exchange({ send }, client, code));
      login.uses.push(used && { status: used.status, error: JSON.parse(used.text).error });
      if (used?.status === 200) login.tokens = JSON.parse(used.text);
      return used;
    };
    // A product that got no answer tries again. Each fifth product uses the code four times at the same time.
    if (nth % 5 === 0) await Promise.all([use(), use(), use(), use()]);
    for (let used = login.uses.some((each) => each !== undefined); !used; ) {
      await pause(50);
      used = (await use()) !== undefined;
    }
    if (nth % 3 !== 0) return;
    const left = await until(() => send('/logout', { method: 'POST', cookie, form: {} }));
    login.isOver = left.status === 303;
    if (!login.isOver) faults.push(`logout: ${left.status}`);
    if (!login.tokens) return;
    const { access_token } = login.tokens;
    const info = await until(() => readUserinfo({ send }, access_token));
    if (info.status !== 401) faults.push(`a token outlives its session: ${info.status}`);
  }

  const waiting = [...sessions.entries()];
  let lanes = 8;
  const work = Array.from({ length: lanes }, async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) await live(next[1], next[0]);
    lanes--;
  });
  let kills = 0;
  const killed = (async () => {
    for (; lanes > 0; kills++) {
      await pause(400 + Math.random() * 600);
      if (kills % 4 === 3) {
        await postgres.kill();
        await postgres.start();
        continue;
      }
      const port = ports[kills % 2] as number;
      const victim = running.get(port);
      victim?.child.kill('SIGKILL');
      await victim?.exited;
      await start(port);
    }
  })();
  await Promise.all([...work, killed]);
  expect(faults).toEqual([]);
  faults = [];

  const counts = { kills, lost: 0, dead: 0, right: 0 };
  for (const { uses, tokens, isOver } of done) {
    const right = uses.filter((use) => use?.status === 200).length;
    counts.right += right;
    if (uses.includes(undefined)) counts.lost++;
    if (uses.includes(undefined) && right === 0) counts.dead++;
    if (right > 1) faults.push('a code worked twice');
    for (const use of uses)
      if (use && use.status !== 200 && use.error !== 'invalid_grant') faults.push(JSON.stringify(use));
    if (!tokens) continue;
    // A code that was used more than once ends its token, unless the other uses came to nothing.
    const wasReplayed = uses.some((use) => use?.error === 'invalid_grant');
    const { status } = await until(() => readUserinfo({ send }, tokens.access_token));
    if (isOver || wasReplayed ? status !== 401 : ![200, 401].includes(status))
      faults.push(`userinfo: ${status}`);
    if (status === 401 && !isOver && uses.length === 1) faults.push('a token ended by itself');
  }
  // No code is worth anything now.
  for (const { code } of done) {
    const { status } = await until(() => exchange({ send }, client, code));
    if (status !== 400) faults.push(`a code works afterwards: ${status}`);
  }
  for (const { tokens } of done)
    if (tokens && (await until(() => readUserinfo({ send }, tokens.access_token))).status !== 401)
      faults.push('a token outlives the second use of its code');
  expect(faults).toEqual([]);
  expect(done.length).toBe(logins);
  expect(counts.right).toBeGreaterThan(logins / 2);
  noteFigures('logins to a product through kills', counts);

  // Each login that got a token is recorded, and each end of such a session is planned for the product (contract 14.48 and 14.70).
  const recorded = await sql<{ sessionId: string; sid: string; told: boolean }>`
    select l.session_id as "sessionId", l.sid, exists (
      select from log_outs o where o.sid = l.sid) as told
    from launches l where l.client = ${client.name}`.execute(database.db);
  const bySession = new Map(recorded.rows.map((row) => [row.sessionId, row]));
  for (const { sessionId, tokens, isOver } of done) {
    if (!tokens) continue;
    expect(bySession.get(sessionId)?.sid).toBe(decodeJwt(tokens.id_token).payload.sid);
    if (isOver) expect(bySession.get(sessionId)?.told).toBe(true);
  }
  await database.close();
});

const knows = (send: Parameters<typeof exchange>[0]['send'], client: OpenIdClient) =>
  vi.waitFor(async () => expect((await send(authorizePath(client))).status).toBe(303), {
    timeout: 15_000,
    interval: 100,
  });
