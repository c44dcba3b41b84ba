import { expect, inject, it } from 'vitest';
import { findFreePort, run } from '../support/app/process.ts';
import { cloneDatabase } from '../support/database/postgres.ts';

it('development serves pages, and their scripts from the sources', async () => {
  const { url, drop } = await cloneDatabase(inject('templateUrl'));
  const port = await findFreePort();
  const args = ['--import', 'tsx', 'server/main.ts', '--dev'];
  const running = run('node', args, { PORT: String(port), DATABASE_URL: url });
  const ask = async (path: string) => {
    const answer = await fetch(`http://localhost:${port}${path}`).catch(() => undefined);
    return { status: answer?.status, text: (await answer?.text()) ?? '' };
  };
  try {
    await expect.poll(async () => (await ask('/login')).status, { timeout: 50_000 }).toBe(200);
    const { text } = await ask('/login');
    expect(text).toContain('<h1>Log in</h1>');
    const [, script = ''] = /<script type="module" src="([^"]+)"/.exec(text) ?? [];
    expect((await ask(script)).status).toBe(200);
  } finally {
    running.child.kill('SIGTERM');
    await running.exited;
    await drop();
  }
});
