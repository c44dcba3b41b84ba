// An import has three different files: what it reads, the lines that it refuses, and its report.
import { link, mkdir, mkdtemp, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import process from 'node:process';
import { describe, expect, it } from 'vitest';
import { expectRefused, runCli } from '../support/app/cli.ts';
import { countRows, openFreshDatabase } from '../support/database/database.ts';
import { profileOf, writeLines } from '../support/marketplace/imports.ts';
import { shared, sharedFolder } from '../support/run/shared.ts';

const root = await sharedFolder();
const database = shared(openFreshDatabase);

const input = 'users.ndjson';
const refused = `${input}.refused.ndjson`;
const earlier = '{"line":1,"id":"earlier","reason":"email_in_use"}\n';

async function readFolder(folder: string): Promise<Record<string, string>> {
  const names = (await readdir(folder)).sort();
  const texts = names.map(async (name) => [name, await readFile(join(folder, name), 'utf8').catch(String)]);
  return Object.fromEntries(await Promise.all(texts));
}

type Case = {
  /** Puts other files or links beside the file to import. */
  prepare?: (folder: string) => Promise<unknown>;
  report?: (folder: string) => string;
  says?: RegExp;
};

const writeRefused = (folder: string) => writeFile(join(folder, refused), earlier);
const isRefused = /^The file \S+ is the one for refused lines\.\n$/;
const isInput = /^The file \S+ is the one to be read\.\n$/;

const cases: Record<string, Case> = {
  'the report is that of refused lines, from an earlier import': {
    prepare: writeRefused,
    report: (folder) => join(folder, refused),
  },
  'the report is that of refused lines, which is not there yet': {
    report: (folder) => join(folder, refused),
  },
  'the report is that of refused lines, by a relative path': {
    report: (folder) => relative(process.cwd(), join(folder, refused)),
  },
  'the report is that of refused lines, by a detour': {
    prepare: (folder) => mkdir(join(folder, 'sub')),
    report: (folder) => `${folder}/./sub/..//${refused}`,
  },
  'the report is that of refused lines, by a link to the folder': {
    prepare: (folder) => symlink(folder, join(folder, 'here')),
    report: (folder) => join(folder, 'here', refused),
  },
  'the report is a link to that of refused lines': {
    prepare: async (folder) => {
      await writeRefused(folder);
      await symlink(refused, join(folder, 'report.txt'));
    },
    report: (folder) => join(folder, 'report.txt'),
  },
  'the report is a link to a link to that of refused lines, which is not there yet': {
    prepare: async (folder) => {
      await symlink(join(folder, 'second.txt'), join(folder, 'first.txt'));
      await symlink(`../${folder.replace(/^.*\//, '')}/${refused}`, join(folder, 'second.txt'));
    },
    report: (folder) => join(folder, 'first.txt'),
  },
  'the report is another name of that of refused lines': {
    prepare: async (folder) => {
      await writeRefused(folder);
      await link(join(folder, refused), join(folder, 'report.txt'));
    },
    report: (folder) => join(folder, 'report.txt'),
  },
  'refused lines would go where a link leads to the report': {
    prepare: (folder) => symlink('report.txt', join(folder, refused)),
    report: (folder) => join(folder, 'report.txt'),
  },
  'the report is the file to be read': {
    prepare: writeRefused,
    report: (folder) => join(folder, input),
    says: isInput,
  },
  'the report is a link to the file to be read': {
    prepare: async (folder) => {
      await writeRefused(folder);
      await symlink(input, join(folder, 'report.txt'));
    },
    report: (folder) => join(folder, 'report.txt'),
    says: isInput,
  },
  'the report is another name of the file to be read': {
    prepare: (folder) => link(join(folder, input), join(folder, 'report.txt')),
    report: (folder) => join(folder, 'report.txt'),
    says: isInput,
  },
  'refused lines would go to the file to be read': {
    prepare: (folder) => link(join(folder, input), join(folder, refused)),
    says: isInput,
  },
};

async function prepareFolder(prepare: Case['prepare']): Promise<string> {
  const folder = await mkdtemp(join(root, 'files-'));
  await writeLines(join(folder, input), [profileOf('one'), 'not json']);
  await prepare?.(folder);
  return folder;
}

const reportOf = ({ report }: Case, folder: string) => (report ? ['--report', report(folder)] : []);

describe.each([[], ['--dry-run']])('import %s begins with nothing where', (...args) => {
  const all = Object.entries(cases).filter(([, { report }]) => report || args.length === 0);
  it.each(all)('%s', async (_, each) => {
    const folder = await prepareFolder(each.prepare);
    const before = await readFolder(folder);
    const outcome = await runCli(database.url, [
      'import',
      join(folder, input),
      ...args,
      ...reportOf(each, folder),
    ]);
    expectRefused(outcome, each.says ?? isRefused);
    expect(await readFolder(folder)).toEqual(before);
    expect(await countRows(database.db, 'external_links')).toBe(0);
  });
});

it('an import that is refused for a link that leads to itself says so', async () => {
  const folder = await prepareFolder((to) => symlink('report.txt', join(to, 'report.txt')));
  const report = join(folder, 'report.txt');
  const outcome = await runCli(database.url, [
    'import',
    join(folder, input),
    '--dry-run',
    '--report',
    report,
  ]);
  expectRefused(outcome, /^Cannot write the file \S+report\.txt \(ELOOP\)\.\n$/);
});

it('an import takes the place of an earlier report and of earlier refused lines', async () => {
  const folder = await prepareFolder(writeRefused);
  await writeFile(join(folder, 'report.txt'), 'earlier\n'.repeat(1_000));
  const args = ['import', join(folder, input), '--report', join(folder, 'report.txt')];
  expect((await runCli(database.url, args)).code).toBe(0);
  expect(await readFolder(folder)).toMatchObject({
    [refused]: expect.stringMatching(/^\{"line":2,"reason":"malformed: [^\n]+\}\n$/),
    'report.txt': expect.stringMatching(/^1 one created\n2 refused: malformed: [^\n]+\n1 created, /),
  });
});
