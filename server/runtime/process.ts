// Handles the environment, signals, output and exit of the process, on Node and on Deno.

import { userInfo } from 'node:os';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { pino } from 'pino';
import type { Log } from '../basics/log.ts';

export const environment = process.env as Record<string, string | undefined>;
export const args = process.argv.slice(2);

/** Returns the values of an option that may be given any number of times, as `--name value` or `--name=value`. */
export function listValues(name: string): string[] {
  const options = { [name]: { type: 'string', multiple: true } } as const;
  const { values } = parseArgs({ args, options, strict: false });
  // If the option comes last and has no value, `parseArgs` returns true for it.
  return [values[name] ?? []].flat().map((value) => (value === true ? '' : String(value)));
}

/** The command that the operator typed: `identity`, `npm run cli --`, or the program itself, as in a container. */
export const calledAs = environment.CLI_NAME ?? 'node build/service/cli.js';

const { deno, node } = process.versions;
export const runtime = deno ? { name: 'deno', version: deno } : { name: 'node', version: node };

export const systemUser = (): string => environment.SUDO_USER || processUser();

/** If the system has no name for the user, as in some containers, returns the user's number. */
export function processUser(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}

export function measureProcess(): { cpuSeconds: number; residentBytes: number; heapUsedBytes: number } {
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed } = process.memoryUsage();
  return { cpuSeconds: (user + system) / 1_000_000, residentBytes: rss, heapUsedBytes: heapUsed };
}

/** Writes one JSON object on each line to stdout. `time` is in milliseconds since 1970. */
export function createLog(level: 'info' | 'error'): Log {
  // Lines are written synchronously. Writing them in a thread would make a launch a tenth slower, and lines would wait while
  // passwords are hashed.
  const all = pino({ base: null, serializers: { err: describeError } }, pino.destination({ sync: true }));
  const some = all.child({}, { level });
  return {
    info: (fields, message) => some.info(fields, message),
    error: (fields, message) => some.error(fields, message),
    record: (fields, message) => all.info(fields, message),
  };
}

// Only these members go into the log. The database adds other members to its errors, and those may contain personal data.
function describeError(error: unknown) {
  if (!(error instanceof Error)) return String(error);
  const { name, message, stack } = error;
  return { name, message, code: (error as { code?: string }).code, stack };
}

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

export const nobodyReads = 'Nothing reads the output any more.';

/** Ends the process if nobody reads its output any more, for example after `| head -1`. */
export function endWithReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    exitWith(nobodyReads);
  });
}

/** Prints to stderr, so that stdout stays for programs. */
export function printAside(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Calls `tell` on SIGHUP, which would otherwise end Node and Deno immediately, with all running requests. */
export function onHangUp(tell: () => void): void {
  process.on('SIGHUP', tell);
}

/** Runs `stop` on the first SIGINT or SIGTERM. A later signal ends the process immediately. */
export function onStopSignal(stop: () => Promise<void>): void {
  let stoppingSince: number | undefined;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (stoppingSince !== undefined) {
        // Under npm, Ctrl-C arrives twice: from the terminal, and passed on by npm.
        if (performance.now() - stoppingSince > 1_000) process.exit(1);
        return;
      }
      stoppingSince = performance.now();
      stop().then(
        () => process.exit(0),
        () => process.exit(1),
      );
    });
  }
}

/** Sets the exit code. If the code is not 0, a later `exitWith` does not change it. */
export function endWith(code: number): void {
  process.exitCode = code;
}

export function exitWith(message: string): never {
  printAside(message);
  process.exit(process.exitCode || 1);
}

export function readInput(): Promise<string> {
  return text(process.stdin);
}

export const isTerminal = (): boolean => Boolean(process.stdin.isTTY);

/** Returns an empty text if the input ends or somebody presses Ctrl-C. */
export function ask(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  return new Promise((done) => {
    lines.on('close', () => done(''));
    lines.question(question, (answer) => {
      done(answer);
      lines.close();
    });
  });
}
