// Debian's Prometheus, with the configuration that operators get, on instances of the built service.
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { copyFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { readConfig } from '../../../server/settings/config.ts';
import { makeFolder } from '../database/postgres.ts';
import type { Answer, SendOptions, TestApp } from './app.ts';
import { findFreePort, type RunningProcess, startService } from './process.ts';

export const operateFiles = 'docs/operate/files';

export type Rule = { name: string; query: string; health: string; state: string };

export type Prometheus = {
  /** The answer of the API, which must be a success. */
  ask: <T>(path: string, query?: Record<string, string>) => Promise<T>;
  evaluate: (query: string) => Promise<{ value: [number, string] }[]>;
  listRules: () => Promise<Rule[]>;
  close: () => Promise<void>;
};

/** Starts Prometheus with the configuration of operators, except for the targets and the intervals. */
export async function startPrometheus(targets: string[]): Promise<Prometheus> {
  const folder = await makeFolder();
  const config = readFileSync(`${operateFiles}/prometheus.yml`, 'utf8')
    .replace(/^( +- targets:) .*/m, `$1 ${JSON.stringify(targets)}`)
    .replaceAll(/(scrape|evaluation)_interval: 15s/g, '$1_interval: 1s');
  await writeFile(join(folder, 'prometheus.yml'), config);
  await copyFile(`${operateFiles}/alerts.yml`, join(folder, 'alerts.yml'));
  const address = `http://127.0.0.1:${await findFreePort()}`;
  const args = [
    `--config.file=${join(folder, 'prometheus.yml')}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    `--web.listen-address=${new URL(address).host}`,
  ];
  const child = spawn('prometheus', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let output = '';
  child.stderr.on('data', (chunk) => {
    output += chunk;
  });
  const exited = new Promise((done) => child.once('close', done));
  await vi.waitFor(
    async () => {
      const answer = await fetch(`${address}/-/ready`).catch(() => undefined);
      if (!answer?.ok) throw new Error(`Prometheus did not come up:\n${output}`);
    },
    { timeout: 60_000, interval: 100 },
  );
  const ask: Prometheus['ask'] = async (path, query = {}) => {
    const answer = await fetch(`${address}/api/v1/${path}?${new URLSearchParams(query)}`);
    const { status, data, error } = await answer.json();
    expect(status, `${JSON.stringify(query)} ${error}`).toBe('success');
    return data;
  };
  return {
    ask,
    evaluate: async (query) =>
      (await ask<{ result: { value: [number, string] }[] }>('query', { query })).result,
    listRules: async () =>
      (await ask<{ groups: { rules: Rule[] }[] }>('rules')).groups.flatMap(({ rules }) => rules),
    async close() {
      child.kill('SIGTERM');
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export type WatchedInstance = Pick<TestApp, 'config' | 'send'> & {
  /** Host and port of the instance's metrics. */
  target: string;
  child: () => RunningProcess['child'];
  /** Sends this signal, and resolves when the process has ended. */
  end: (signal: NodeJS.Signals) => Promise<unknown>;
  /** Starts the instance again on the same ports, with these settings in addition. */
  restart: (more?: Record<string, string>) => Promise<void>;
};

/** The built service as a process of its own. */
export async function startWatched(
  databaseUrl: string,
  env: Record<string, string> = {},
): Promise<WatchedInstance> {
  const [port, metricsPort] = [await findFreePort(), await findFreePort()];
  const config = readConfig({ PORT: String(port) });
  const start = (more?: Record<string, string>) =>
    startService('node', port, {
      ...{ DATABASE_URL: databaseUrl, METRICS_PORT: String(metricsPort) },
      ...{ ...env, ...more },
    });
  let running = await start();
  return {
    config,
    target: `127.0.0.1:${metricsPort}`,
    child: () => running.child,
    end(signal) {
      running.child.kill(signal);
      return running.exited;
    },
    async restart(more) {
      running = await start(more);
    },
    send: (path, options) => sendTo(config.baseUrl, path, options),
  };
}

async function sendTo(
  baseUrl: string,
  path: string,
  { method, headers, form, body, cookie }: SendOptions = {},
): Promise<Answer> {
  const answer = await fetch(baseUrl + path, {
    method: method ?? (form || body ? 'POST' : 'GET'),
    headers: { origin: baseUrl, ...headers, ...(cookie && { cookie }) },
    body: form ? new URLSearchParams(form) : body,
    redirect: 'manual',
  });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}

/** Runs promtool in the folder of the files, and expects it to find nothing wrong. */
export function expectOfPromtool(...args: string[]): void {
  const { status, stdout, stderr } = spawnSync('promtool', args, { cwd: operateFiles, encoding: 'utf8' });
  expect(status, stdout + stderr).toBe(0);
}
