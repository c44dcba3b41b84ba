// Counts what people keep up: lines of product and of tests, now or at a commit, by `git grep`. It counts empty lines and comments,
// and leaves out what "npm run schema" writes and migrations, which nobody changes.
//
//   npm run lines -- [COMMIT]
import { execFileSync } from 'node:child_process';

const written = [':!db/schema.ts', ':!db/needed.ts', ':!db/migrations'];
const parts = {
  product: ['app', 'server', 'db'].flatMap((folder) => suffixes(folder, ['ts', 'tsx', 'js', 'css'])),
  tests: suffixes('test', ['ts', 'tsx', 'js']),
};

const [, , commit] = process.argv;
for (const [name, paths] of Object.entries(parts)) {
  const args = ['grep', '--count', '', ...(commit ? [commit] : []), '--', ...paths, ...written];
  const counts = execFileSync('git', args, { encoding: 'utf8', maxBuffer: 2 ** 24 })
    .trim()
    .split('\n');
  const lines = counts.reduce((sum, each) => sum + Number(each.slice(each.lastIndexOf(':') + 1)), 0);
  process.stdout.write(`${name}: ${lines} lines in ${counts.length} files\n`);
}

function suffixes(folder: string, endings: string[]): string[] {
  return endings.map((ending) => `:(glob)${folder}/**/*.${ending}`);
}
