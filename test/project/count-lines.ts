// Counts what people maintain, now or at a commit, by `git grep`. Lines include empty ones and comments. A word has a letter.
// It leaves out what commands write, and migrations, because nobody changes these files.
//
//   npm run lines -- [COMMIT]
import { spawnSync } from 'node:child_process';

const written = [':!db/schema.ts', ':!db/needed.ts', ':!db/migrations'];
const writtenDocuments = [':!docs/names.md', ':!docs/operate/settings.md', ':!CHANGELOG.md', ':!clients'];

const [, , commit] = process.argv;

function grep(how: '--count' | '--only-matching', pattern: string, paths: string[]): string[] {
  const args = ['grep', '-hE', how, '-e', pattern, ...(commit ? [commit] : []), '--', ...paths];
  return spawnSync('git', args, { encoding: 'utf8', maxBuffer: 2 ** 27 })
    .stdout.split('\n')
    .slice(0, -1);
}
const countLines = (pattern: string, paths: string[]) =>
  grep('--count', pattern, paths).reduce((sum, lines) => sum + Number(lines), 0);
const countWords = (paths: string[]) => grep('--only-matching', '[^ ]*[A-Za-z][^ ]*', paths).length;

const filesIn = (folders: string[], endings: string[]) => [
  ...folders.flatMap((folder) => endings.map((ending) => `:(glob)${folder}/**/*.${ending}`)),
  ...written,
];

const say = (text: string) => process.stdout.write(`${text}\n`);
say(`product: ${countLines('', filesIn(['app', 'server', 'db'], ['ts', 'tsx', 'js', 'css']))} lines`);
say(`tests: ${countLines('', filesIn(['test'], ['ts', 'tsx', 'js']))} lines`);
const commented = filesIn(['server', 'db'], ['ts', 'tsx', 'js']);
const share = (100 * countLines('^ *(//|/?[*])', commented)) / countLines('', commented);
say(`comments: ${share.toFixed(1)} % of the lines of server/ and db/`);
say(`contract: ${countWords([':(glob)docs/contract/*.md'])} words`);
say(`documents: ${countWords(['*.md', ...writtenDocuments])} words, the contract among them`);
