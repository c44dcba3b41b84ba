// Runs a code sample: JavaScript as a module, shell and PHP as processes.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

/** What a JavaScript sample exports; `modules` are the samples that it imports, by their file names. */
// biome-ignore lint/suspicious/noExplicitAny: a test finds out by using it.
export function importSample(code: string, modules: Record<string, string> = {}): Promise<any> {
  const { resolve } = createRequire(import.meta.url);
  const resolved = code.replaceAll(/(?<=^import .* from ')[^':]+(?=';$)/gm, (name) => {
    const sample = modules[name];
    return sample ? toUrl(sample) : pathToFileURL(resolve(name)).href;
  });
  return import(/* @vite-ignore */ toUrl(resolved));
}

const toUrl = (code: string) => `data:text/javascript,${encodeURIComponent(code).replaceAll("'", '%27')}`;

const run = promisify(execFile);

export const hasTools = (...names: string[]) =>
  run('sh', ['-c', names.map((name) => `command -v ${name}`).join(' && ')]).then(
    () => true,
    () => false,
  );

/** What a shell script prints. */
export async function runShell(script: string): Promise<string> {
  return (await run('sh', ['-c', script])).stdout;
}

/** Reads the sample, then makes each call. The result of a call is its value, or `{ error }` if it throws or warns. */
export async function runPhp(sample: string, calls: string[]): Promise<unknown[]> {
  const folder = await mkdtemp(join(tmpdir(), 'identity-sample-'));
  const file = join(folder, 'sample.php');
  const program = `<?php
set_error_handler(function ($level, $message) { throw new ErrorException($message); });
${sample.replace(/^<\?php\n/, '')}
$results = [];
foreach ([${calls.map((call) => `fn() => ${call}`).join(',\n')}] as $call) {
    try { $results[] = $call(); } catch (Throwable $error) { $results[] = ['error' => $error->getMessage()]; }
}
echo json_encode($results, JSON_THROW_ON_ERROR);
`;
  try {
    await writeFile(file, program);
    const { stdout } = await run('php', [file]);
    return JSON.parse(stdout);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A value as PHP spells it. */
export const toPhp = (value: unknown) =>
  `json_decode('${JSON.stringify(value).replaceAll(/[\\']/g, '\\$&')}', true)`;
