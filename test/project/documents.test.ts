import { dirname, join } from 'node:path';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { addAccountCommands } from '../../server/cli/accounts.ts';
import { addBillingCommands } from '../../server/cli/billing.ts';
import { addClientCommands } from '../../server/cli/clients.ts';
import { addDatabaseCommands } from '../../server/cli/database.ts';
import { addDeletionCommand } from '../../server/cli/deletion.ts';
import { addDoctorCommand } from '../../server/cli/doctor.ts';
import { addHistoryCommand } from '../../server/cli/history.ts';
import { addMarketplaceCommands } from '../../server/cli/marketplace.ts';
import { addReconcileCommand } from '../../server/cli/reconcile.ts';
import { addThawCommand } from '../../server/cli/thaw.ts';
import { addUserCommands } from '../../server/cli/users.ts';
import { listSettings } from '../../server/settings/config.ts';
import {
  isOurFile,
  readAllSources,
  readAnchors,
  readCitedSections,
  readCodeBlocks,
  readCodeSpans,
  readDocuments,
  readLinks,
  readOurFile,
} from '../support/project/documents.ts';

const documents = readDocuments();
const readSpans = () =>
  documents.flatMap(({ path, text }) => readCodeSpans(text).map((span) => ({ path, span })));
const readCode = () =>
  documents.flatMap((document) =>
    readCodeBlocks(document).map(({ code }) => ({ path: document.path, span: code })),
  );

describe('a link in our documents', () => {
  it.each(documents.map(({ path, text }) => [path, text] as const))('resolves: %s', (path, text) => {
    const dead = readLinks(text).filter((link) => {
      if (/^[a-z]+:/.test(link)) return false;
      const [name = '', anchor] = link.split('#');
      const target = name === '' ? path : join(dirname(path), name).replaceAll('\\', '/');
      if (!isOurFile(target)) return true;
      return anchor !== undefined && !readAnchors(readOurFile(target)).includes(anchor);
    });
    expect(dead).toEqual([]);
  });
});

it('names only files of ours that there are', () => {
  const ours =
    /^(?:(?:app|clients|server|db|test|docs)\/[\w.$/-]*|(?!build)[a-z]+\/|[A-Z]+\.md|package\.json|\.(?!data)[a-z]+[\w./]*)$/;
  const named = readSpans().filter(({ span }) => ours.test(span));
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter(({ span }) => !isOurFile(span))).toEqual([]);
});

describe('a citation of the contract', () => {
  const sections = readAnchors(readOurFile('docs/contract.md'))
    .map((anchor) => /^\d+(?=-)/.exec(anchor)?.[0])
    .filter((number) => number !== undefined)
    .map(Number);

  it('names a section that there is', () => {
    expect(sections).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    const cited = readAllSources().flatMap(({ path, text }) =>
      readCitedSections(text).map((section) => ({ path, section })),
    );
    expect(cited.length).toBeGreaterThan(25);
    expect(cited.filter(({ section }) => !sections.includes(section))).toEqual([]);
  });

  it('has one form: "contract section 7"', () => {
    const others = readAllSources()
      .filter(({ path }) => path !== 'docs/contract.md')
      .flatMap(({ path, text }) =>
        [...text.matchAll(/contract(?:'s)?(?:\.md`?)?(?:,| §| \(§) ?(?:section|\d).*/gi)].map(
          ([found]) => `${path}: ${found}`,
        ),
      )
      .filter((found) => !found.startsWith('test/project/documents.test.ts'));
    expect(others).toEqual([]);
  });
});

describe('what docs/security.md and docs/asvs.md say', () => {
  const texts = ['docs/security.md', 'docs/asvs.md'].map(readOurFile);
  const readQuotes = (text: string) => [...text.matchAll(/"([^"\n]+)"/g)].map(([, quote = '']) => quote);
  // A file, and the names of tests in it: `test/login/login.test.ts` "one", "another".
  const shown = texts.flatMap((text) =>
    [...text.matchAll(/`(test\/[\w./-]+)`((?:,? "[^"\n]+")*)/g)].flatMap(([, file = '', names = '']) =>
      readQuotes(names).map((name) => ({ file, name })),
    ),
  );

  it('is shown by tests that there are', () => {
    expect(shown.length).toBeGreaterThan(100);
    const hasTest = (file: string, name: string) =>
      isOurFile(file) && ["'", '"', '`'].some((mark) => readOurFile(file).includes(mark + name + mark));
    expect(shown.filter(({ file, name }) => !hasTest(file, name))).toEqual([]);
  });

  it('quotes no test without its file', () => {
    const quotes = texts.flatMap((text) => readQuotes(text.replaceAll(/`[^`\n]*`/g, '')));
    expect(quotes).toEqual(shown.map(({ name }) => name));
  });
});

it('docs/security.md says of every table what it keeps about people', () => {
  const [, data = ''] = /\n## Data\n([\s\S]*?)\n## /.exec(readOurFile('docs/security.md')) ?? [];
  const rows = [...data.matchAll(/^\| `(\w+)` \|/gm)].map(([, table]) => table);
  const [, schema = ''] = /export interface DB \{([\s\S]*?)\}/.exec(readOurFile('db/schema.ts')) ?? [];
  const tables = [...schema.matchAll(/^ {2}(\w+):/gm)].map(([, table]) => table);
  expect(tables.length).toBeGreaterThan(15);
  expect(rows.sort()).toEqual(tables.sort());
});

it('docs/security.md says each limit on tries, and no other', () => {
  const [, table = ''] =
    /\n## Limits\n[\s\S]*?(\n\|[\s\S]*?)\n\n/.exec(readOurFile('docs/security.md')) ?? [];
  const said = [...table.matchAll(/\b(\d+|one) (in 15 minutes|an hour|a day|every 3 hours)/g)].map(
    ([, tries, time]) => `${tries === 'one' ? 1 : tries} ${time}`,
  );
  const words: Record<string, string> = {
    '15 * minute': 'in 15 minutes',
    hour: 'an hour',
    day: 'a day',
    '3 * hour': 'every 3 hours',
  };
  const counts = readOurFile('server/identity/ground/rate-limits.ts').matchAll(
    /count\('[\w-]+', (\d+), ([^,]+),/g,
  );
  const counted = [...counts].map(([, tries, time = '']) => `${tries} ${words[time]}`);
  expect(counted.length).toBeGreaterThan(15);
  expect(said.sort()).toEqual(counted.sort());
});

describe('the settings', () => {
  const settings = listSettings().sort();

  it('are all in docs/operate.md, one a row', () => {
    const [, table = ''] = /## Settings\n([\s\S]*?)\n## /.exec(readOurFile('docs/operate.md')) ?? [];
    const rows = [...table.matchAll(/^\| `([^`]+)`/gm)].map(([, name]) => name);
    expect(settings.length).toBeGreaterThan(20);
    expect(rows.sort()).toEqual(settings);
  });

  it('are all in .env.example, each commented out and no secret filled in', () => {
    const example = readOurFile('.env.example');
    const lines = [...example.matchAll(/^# ([A-Z][A-Z_<>]+)=(.*)$/gm)];
    expect(lines.map(([, name]) => name).sort()).toEqual(settings);
    expect(lines.filter(([, name = '', value]) => /SECRET$/.test(name) && value !== '')).toEqual([]);
    expect(example.split('\n').filter((line) => line !== '' && !line.startsWith('#'))).toEqual([]);
  });
});

describe('a command in our documents', () => {
  const texts = [...readSpans(), ...readCode()].map(({ span }) => span);

  it("is a script of package.json, or npm's own", () => {
    const { scripts } = JSON.parse(readOurFile('package.json'));
    const commands = texts.flatMap((text) =>
      [...text.matchAll(/npm (?:run (?:--silent )?)?([a-z0-9:]+)/g)].map((match) => match[1] ?? ''),
    );
    expect(commands).toContain('start');
    expect(
      commands.filter((command) => !['ci', 'package', 'prune'].includes(command) && !(command in scripts)),
    ).toEqual([]);
  });

  it('of the command line is there, with its options', () => {
    const program = new Command();
    addDatabaseCommands(program);
    addUserCommands(program);
    addAccountCommands(program);
    addThawCommand(program);
    addDeletionCommand(program);
    addHistoryCommand(program);
    addMarketplaceCommands(program);
    addBillingCommands(program);
    addReconcileCommand(program);
    addClientCommands(program);
    addDoctorCommand(program);
    const known = program.commands.flatMap((command) => [
      command.name(),
      ...command.options.map(({ long }) => `${command.name()} ${long}`),
    ]);
    const named = texts.flatMap((text) =>
      [...text.matchAll(/cli -- ([a-z][a-z:-]*)([^\n|]*)/g)].flatMap(([, name = '', words = '']) => [
        name,
        ...(words.match(/--[a-z-]+/g) ?? []).map((option) => `${name} ${option}`),
      ]),
    );
    expect(named).toContain('signup:send --plan');
    expect(named.filter((name) => !known.includes(name))).toEqual([]);
  });
});
