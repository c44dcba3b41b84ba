// The command line as a process, beside a service on the same database.
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));
export type Outcome = { code: number | null; out: string; err: string };

export function runCli(
  databaseUrl: string,
  args: string[],
  input = '',
  nodeEnv: 'test' | 'production' = 'test',
  settings: Record<string, string> = {},
): Promise<Outcome> {
  const child = spawn(process.execPath, ['build/service/cli.js', ...args], {
    cwd: root,
    env: { ...settings, PATH: process.env.PATH, DATABASE_URL: databaseUrl, NODE_ENV: nodeEnv },
  });
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  return readOutcome(child);
}

/** Whether this machine has the `script` of util-linux, which makes terminals. */
export const hasTerminals = spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes(
  'util-linux',
);

/** The command line at a terminal, where somebody types a line. Everything on the screen is in `out`. */
export function runCliAtTerminal(databaseUrl: string, args: string[], typed: string): Promise<Outcome> {
  const quoted = [process.execPath, 'build/service/cli.js', ...args].map((each) => `'${each}'`).join(' ');
  const child = spawn('script', ['--quiet', '--return', '--command', quoted, '/dev/null'], {
    cwd: root,
    env: { PATH: process.env.PATH, SHELL: '/bin/sh', DATABASE_URL: databaseUrl, NODE_ENV: 'test' },
  });
  child.stdin.on('error', () => undefined);
  // The line is typed only after the question. The input stays open, because its end would end the terminal, too.
  child.stdout.on('data', (data) => {
    if (String(data).includes('Type yes: ')) child.stdin.write(`${typed}\n`);
  });
  return readOutcome(child);
}

/** Returns all that a command prints, and its exit code. */
export function readOutcome(child: ChildProcessWithoutNullStreams): Promise<Outcome> {
  const outcome: Outcome = { code: null, out: '', err: '' };
  child.stdout.on('data', (data) => {
    outcome.out += data;
  });
  child.stderr.on('data', (data) => {
    outcome.err += data;
  });
  return new Promise((done) => child.on('close', (code) => done({ ...outcome, code })));
}

/** Expects exit code 2 and the usage, because the command was given wrongly. */
export const expectMisused = (outcome: Outcome, sentence: RegExp): void =>
  expectRefused(outcome, sentence, 2);

export function expectRefused({ code, out, err }: Outcome, sentence: RegExp, wanted = 1): void {
  expect(code, err).toBe(wanted);
  expect(out).toBe('');
  expect(err).toMatch(sentence);
  expect(err).not.toMatch(/\n\s+at |node_modules|select |insert |postgres:/);
}
