// Commands at a terminal (contract 12.38 and 12.40): a command that cannot be undone asks first, and nobody types a password.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { openApp } from '../support/app/app.ts';
import { type Outcome, readOutcome } from '../support/app/cli.ts';
import { commandOf, type Runtime } from '../support/app/process.ts';
import { openBrowser } from '../support/app/visitor.ts';
import { digestRows, idOf } from '../support/database/database.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(openApp);

const root = fileURLToPath(new URL('../..', import.meta.url));

function onTerminal(runtime: Runtime, answer: string, args: string[]): Promise<Outcome> {
  const command = [...commandOf[runtime], 'build/service/cli.js', ...args];
  const child = spawn('python3', ['test/clients/on-terminal.py', answer, ...command], {
    cwd: root,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, DATABASE_URL: app.databaseUrl, NODE_ENV: 'test' },
  });
  child.stdin.end();
  return readOutcome(child);
}

const ctrlC = '\u0003';
const ctrlD = '\u0004';

it.each<Runtime>(['node', 'deno'])(
  'an erasure asks with name and address, and is done only after yes, on %s',
  async (runtime) => {
    const email = runtime === 'node' ? 'customer@example.test' : 'merchant@example.test';
    const id = await idOf(app.db, email);
    await sql`update users set name = ${'Ada \u202egnp\u001b[2J'} where id = ${id}`.execute(app.db);
    const before = await digestRows(app.db, ['users', 'changes', 'audit_events']);
    for (const answer of ['no\n', 'y\n', '\n', ctrlD, ctrlC]) {
      const { code, out } = await onTerminal(runtime, answer, ['user:delete', email, '--now']);
      expect(out).toContain(`Erase Ada \\u{202e}gnp\\u{1b}[2J <${email}> for good? Type yes: `);
      expect(out).toContain('Nothing was done.');
      expect(code).toBe(1);
    }
    expect(await digestRows(app.db, ['users', 'changes', 'audit_events'])).toBe(before);
    const { code, out } = await onTerminal(runtime, 'yes\n', ['user:delete', email, '--now', '--json']);
    expect(code, out).toBe(0);
    expect(out).toContain(`{"done":true,"intent":"erase","id":"${id}"`);
    const { rows } = await sql`select from users where id = ${id}`.execute(app.db);
    expect(rows).toEqual([]);
  },
);

it.each<Runtime>(['node', 'deno'])(
  'user:create reads no password, but prints a link that sets one once, within an hour, on %s',
  async (runtime) => {
    const email = `boss-${runtime}@example.test`;
    const args = ['user:create', '--email', email, '--name', 'Bo', '--role', 'admin'];
    const { code, out } = await onTerminal(runtime, '', args);
    expect(code, out).toBe(0);
    const [, token = ''] = /\/set-password\?token=([\w-]{43})\r?\n/.exec(out) ?? [];
    const { rows } = await sql<{ text: string; minutes: number }>`select (to_jsonb(t))::text as text,
      round(extract(epoch from expires_at - now()) / 60)::int as minutes from mail_tokens t where email = ${email}`.execute(
      app.db,
    );
    expect(rows).toMatchObject([{ minutes: 60 }]);
    expect(rows[0]?.text).not.toContain(token);
    const set = (newPassword: string) =>
      openBrowser(app.send).send(`/set-password?token=${token}`, { form: { newPassword } });
    expect((await set('seven quiet lanterns')).status).toBe(303);
    expect((await set('eight quiet lanterns')).status).toBe(404);
    const browser = openBrowser(app.send);
    await browser.login(email, 'seven quiet lanterns');
    expect(await browser.whoAmI()).toBe(email);
  },
);
