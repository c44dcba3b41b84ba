// A stop loses nothing, and nobody can hold it up. server/main.ts says which seconds a stop is made of.
import type { ChildProcess } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { describe, expect, inject, it } from 'vitest';
import { findFreePort, type Runtime, startService } from '../support/app/process.ts';
import { cloneDatabase } from '../support/database/postgres.ts';
import { byForm } from '../support/faults/faults.ts';
import { habits, openDeaf, openHanging } from '../support/faults/hanging.ts';

async function openService(runtime: Runtime, env: Record<string, string>) {
  const { url, drop } = await cloneDatabase(inject('templateUrl'));
  const port = await findFreePort();
  return { drop, port, ...(await startService(runtime, port, { DATABASE_URL: url, ...env })) };
}

const stop = (child: ChildProcess) => {
  child.kill('SIGTERM');
  return performance.now();
};

/** Asks on one connection, one request after the other, until the service says that it closes the connection. */
function keepAsking(port: number, onAnswer: () => void = () => undefined) {
  const socket = connect(port, '127.0.0.1');
  const state = { answers: 0, waiting: false, toldToClose: false };
  const ask = () => {
    state.waiting = true;
    socket.write(`GET /sso/launch/marketplace HTTP/1.1\r\nHost: localhost:${port}\r\n\r\n`);
  };
  socket.on('connect', ask);
  let got = '';
  socket.on('data', (data) => {
    got += data;
    const headEnd = got.indexOf('\r\n\r\n');
    if (headEnd < 0) return;
    state.answers++;
    state.waiting = false;
    state.toldToClose = /\r\nconnection: close/i.test(got);
    got = '';
    onAnswer();
    if (!state.toldToClose) setTimeout(ask, 5 * Math.random());
  });
  socket.on('error', () => undefined);
  return new Promise<typeof state>((done) => socket.on('close', () => done(state)));
}

describe.each<Runtime>(['node', 'deno'])('a service on %s that is told to stop', (runtime) => {
  it('is not ready at once, and goes on serving until the balancer has noticed', async () => {
    const { child, port, exited, output, drop } = await openService(runtime, { SHUTDOWN_DELAY_SECONDS: '6' });
    const statusOf = async (path: string) =>
      (await fetch(`http://localhost:${port}${path}`, { redirect: 'manual' }).catch(() => undefined))?.status;
    const stoppedAt = stop(child);
    await expect.poll(() => statusOf('/readyz'), { interval: 20, timeout: 5_000 }).toBe(503);
    while (performance.now() - stoppedAt < 2_000) {
      expect(await statusOf('/healthz')).toBe(200);
      expect(await statusOf('/login')).toBe(200);
    }
    expect(await exited, output()).toBe(0);
    expect(performance.now() - stoppedAt).toBeGreaterThan(5_900);
    expect(await statusOf('/healthz')).toBeUndefined();
    await drop();
  });

  it('cuts no request on an open connection, also without a delay', async () => {
    const { child, port, exited, output, drop } = await openService(runtime, { SHUTDOWN_DELAY_SECONDS: '0' });
    let answers = 0;
    const clients = Array.from({ length: 16 }, () => keepAsking(port, () => answers++));
    await expect.poll(() => answers, { timeout: 20_000 }).toBeGreaterThan(200);
    stop(child);
    for (const client of await Promise.all(clients))
      expect(client).toMatchObject({ waiting: false, toldToClose: true });
    expect(await exited, output()).toBe(0);
    await drop();
  });

  it('ends at once at a second signal', async () => {
    const { child, exited, drop } = await openService(runtime, { SHUTDOWN_DELAY_SECONDS: '60' });
    const stoppedAt = stop(child);
    // A second signal within a second counts as the first one, because npm passes a Ctrl-C on.
    setTimeout(() => child.kill('SIGTERM'), 1_500);
    expect(await exited).toBe(1);
    expect(performance.now() - stoppedAt).toBeLessThan(20_000);
    await drop();
  });

  // This stop lasts for the whole `graceMs`, so the short form runs it only on Node.
  const runs = byForm({ short: runtime === 'node', long: true });
  it.runIf(runs)('exits in time if a client or the mail server hangs', async () => {
    const silent = new Set<Socket>();
    const mailServer = createServer((socket) => silent.add(socket));
    await new Promise<void>((done) => mailServer.listen(0, '127.0.0.1', done));
    const { port: mailPort } = mailServer.address() as { port: number };
    const mail = { SMTP_URL: `smtp://127.0.0.1:${mailPort}`, MAIL_FROM: 'id@example.test' };
    const { child, port, exited, output, drop } = await openService(runtime, mail);
    const base = `http://localhost:${port}`;
    const body = new URLSearchParams({ email: 'customer@example.test' });
    await fetch(`${base}/forgot-password`, { method: 'POST', body, headers: { origin: base } });
    await expect.poll(() => silent.size, { timeout: 20_000 }).toBeGreaterThan(0);
    const sockets = Object.keys(habits).map((habit) => openHanging(port, habit).socket);
    sockets.push(openDeaf(port, findScript()));
    await new Promise((done) => setTimeout(done, 500));
    const stoppedAt = stop(child);
    expect(await exited, output()).toBe(0);
    expect(performance.now() - stoppedAt).toBeLessThan(15_000);
    for (const socket of [...sockets, ...silent]) socket.destroy();
    mailServer.close();
    await drop();
  });
});

/** Finds the largest script that browsers get. */
function findScript(): string {
  const folder = new URL('../../build/client/assets/', import.meta.url);
  const names = readdirSync(folder).filter((name) => /^(entry|components).*\.js$/.test(name));
  return `/assets/${names[0]}`;
}
