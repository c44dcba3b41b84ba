import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { promisify } from 'node:util';

/** Formats the text of a file that is written by a program, as `npm run check` requires. */
export async function format(text: string, file: string): Promise<string> {
  const biome = createRequire(import.meta.url).resolve('@biomejs/biome/bin/biome');
  const args = [biome, 'format', `--stdin-file-path=${file}`];
  const run = promisify(execFile)(process.execPath, args, { cwd: dirname(file) });
  run.child.stdin?.end(text);
  return (await run).stdout;
}
