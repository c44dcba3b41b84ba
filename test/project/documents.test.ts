import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { buildProgram } from '../../server/doors/cli/program.ts';
import { allowances } from '../../server/identity/ground/allowances.ts';
import { listSettings } from '../../server/settings/config.ts';
import { findVersionBefore } from '../support/app/version-before.ts';
import {
  countWords,
  isOurFile,
  listFolders,
  readAllSources,
  readAnchors,
  readCodeBlocks,
  readCodeSpans,
  readDocuments,
  readLinks,
  readOurFile,
  readSampleFiles,
} from '../support/project/documents.ts';
import { buildNames, findDropped, namesFile } from '../support/project/names-text.ts';
import {
  buildExample,
  buildSettings,
  exampleFile,
  listStray,
  settingsFile,
} from '../support/project/settings-text.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));

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

it('has at most 3,000 words in a document', () => {
  const kept = /^(?:docs\/contract\/|CHANGELOG)/;
  const long = documents.filter(({ path, text }) => !kept.test(path) && countWords(text) > 3_000);
  expect(long.map(({ path }) => path)).toEqual([]);
});

it('names only files of ours that there are', () => {
  const ours =
    /^(?:(?:app|clients|server|db|test|docs)\/[\w.$/-]*|(?!build)[a-z]+\/|[A-Z]+\.md|package\.json|\.(?!data|env$)[a-z]+[\w./]*)$/;
  const named = readSpans().filter(({ span }) => ours.test(span));
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter(({ span }) => !isOurFile(span))).toEqual([]);
});

it('names nothing in the recipes and the architecture that the source does not have', () => {
  const sources = readAllSources().filter(({ path }) => !path.endsWith('.md'));
  const source = [...sources.map(({ text }) => text), readOurFile('db/schema.sql')].join('\n');
  const named = readSpans().filter(
    ({ path, span }) =>
      (['CONTRIBUTING.md', 'docs/inside/architecture.md'].includes(path) ||
        path.startsWith('docs/inside/recipes/')) &&
      /^[a-z]+(?:_[a-z_]+|[A-Z]\w+)$/.test(span),
  );
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter(({ span }) => !source.includes(span))).toEqual([]);
});

describe('what docs/security/ and docs/asvs.md say', () => {
  const texts = documents
    .filter(({ path }) => path.startsWith('docs/security/') || path === 'docs/asvs.md')
    .map(({ text }) => text);
  const readQuotes = (text: string) => [...text.matchAll(/"([^"\n]+)"/g)].map(([, quote = '']) => quote);
  // A file, and the names of tests in it: `test/login/login.test.ts` "one", "another".
  const shown = texts.flatMap((text) =>
    [...text.matchAll(/`(test\/[\w./-]+)`((?:,? "[^"\n]+")*)/g)].flatMap(([, file = '', names = '']) =>
      readQuotes(names).map((name) => ({ file, name })),
    ),
  );

  it('is shown by tests that exist', () => {
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

it('docs/security/data.md says of every table what it keeps about people', () => {
  const rows = [...readOurFile('docs/security/data.md').matchAll(/^\| `(\w+)` \|/gm)].map(
    ([, table]) => table,
  );
  const [, schema = ''] = /export interface DB \{([\s\S]*?)\}/.exec(readOurFile('db/schema.ts')) ?? [];
  const tables = [...schema.matchAll(/^ {2}(\w+):/gm)].map(([, table]) => table);
  expect(tables.length).toBeGreaterThan(15);
  expect(rows.sort()).toEqual(tables.sort());
});

it('docs/security/README.md says each limit on tries, and no other', () => {
  const [, table = ''] =
    /\n## Limits\n[\s\S]*?(\n\|[\s\S]*?)\n\n/.exec(readOurFile('docs/security/README.md')) ?? [];
  const said = [...table.matchAll(/\b(\d+|one) (in 15 minutes|a minute|an hour|a day|every 3 hours)/g)].map(
    ([, tries, time]) => `${tries === 'one' ? 1 : tries} ${time}`,
  );
  const words: Record<string, string> = {
    '15 * minute': 'in 15 minutes',
    minute: 'a minute',
    hour: 'an hour',
    day: 'a day',
    '3 * hour': 'every 3 hours',
  };
  const counts = readOurFile('server/ground/rate-limits.ts').matchAll(/count\('[\w-]+', (\d+), ([^,]+),/g);
  const counted = [...counts].map(([, tries, time = '']) => `${tries} ${words[time]}`);
  expect(counted.length).toBeGreaterThan(15);
  expect(said.sort()).toEqual(counted.sort());
});

it('docs/inside/rooms.svg shows each folder of the source, and no other', () => {
  const shown = [...readOurFile('docs/inside/rooms.svg').matchAll(/<text class="m"[^>]*>([\w-]+)\/</g)].map(
    ([, name]) => name,
  );
  const parents = ['app', 'server', 'server/identity', 'server/billing', 'server/doors', 'db', 'clients'];
  const there = ['app', 'server', 'db', 'clients', ...parents.flatMap(listFolders)];
  expect(shown.sort()).toEqual(there.sort());
});

it('canceled is spelled alike wherever people read it', () => {
  const read = [...readAllSources().filter(({ path }) => !path.startsWith('test/')), ...readSampleFiles()];
  expect(read.filter(({ text }) => /cancell(?:ed|ing)/i.test(text)).map(({ path }) => path)).toEqual([]);
});

it('each decision has a status and a date, and docs/inside/decisions/README.md lists it with them', () => {
  const said = documents
    .filter(({ path }) => path.startsWith('docs/inside/decisions/') && !path.endsWith('README.md'))
    .map(({ path, text }) => [
      path.slice('docs/inside/decisions/'.length),
      /^# .+\n\n((?:Accepted|Superseded), \d{4}-\d\d-\d\d)\n/.exec(text)?.[1] ?? 'no status',
    ]);
  const rows = readOurFile('docs/inside/decisions/README.md').matchAll(
    /^\| \[[^\]]+\]\((\S+)\) \|.*\| (.+) \|$/gm,
  );
  const listed = [...rows].map(([, file, status]) => [file, status]);
  expect(said.length).toBeGreaterThan(20);
  expect(listed.sort()).toEqual(said.sort());
});

it('each decision says what was not chosen', () => {
  const decisions = documents.filter(
    ({ path }) => path.startsWith('docs/inside/decisions/') && !path.endsWith('README.md'),
  );
  const silent = decisions.filter(({ text }) => !/\n## Not chosen\n\n- \*\*\S/.test(text));
  expect(silent.map(({ path }) => path)).toEqual([]);
});

it('docs/inside/recipes/README.md lists each recipe', () => {
  const recipes = documents.flatMap(
    ({ path }) => /^docs\/inside\/recipes\/((?!README)\S+)$/.exec(path)?.[1] ?? [],
  );
  const rows = readOurFile('docs/inside/recipes/README.md').matchAll(/^\|.*\| \[[^\]]+\]\((\S+)\) \|$/gm);
  expect(recipes.length).toBeGreaterThan(15);
  expect([...rows].map(([, file]) => file).sort()).toEqual(recipes.sort());
});

it('README.md says the version and the licence that package.json has', () => {
  const { version, license } = JSON.parse(readOurFile('package.json'));
  expect(readOurFile('README.md')).toContain(`Version ${version} · [${license}](LICENSE)`);
});

it('docs/security/README.md says each allowance, and no other', () => {
  const [, table = ''] =
    /\n\| Change \|[^\n]*\n([\s\S]*?)\n\n/.exec(readOurFile('docs/security/README.md')) ?? [];
  const said = [...table.matchAll(/\b\d+ (?:an hour|a day)/g)].map(([found]) => found);
  const counted = Object.values(allowances).map(
    ({ times, seconds }) => `${times} ${seconds === 3_600 ? 'an hour' : 'a day'}`,
  );
  expect(new Set(said)).toEqual(new Set(counted));
});

it('each version but the first one says before all else what it requires', () => {
  const versions = readOurFile('CHANGELOG.md').split(/^## /m).slice(1, -1);
  expect(versions.length).toBeGreaterThan(0);
  for (const version of versions)
    expect(version).toMatch(/^\[[^\]]+\][^\n]*\n\n### What this version requires\n\n\S/);
});

it('each version but the newest one names its commit, which calls itself so', async () => {
  const titles = [...readOurFile('CHANGELOG.md').matchAll(/^## (.*)$/gm)].map(([, title = '']) => title);
  const named = titles
    .slice(1)
    .map((title) => /^\[([\d.]+)\] - [\d-]+, commit ([0-9a-f]{12})$/.exec(title) ?? [title]);
  expect(named.filter((found) => found.length !== 3)).toEqual([]);
  expect(readOurFile('test/upgrades/version-before').slice(0, 12)).toBe(named[0]?.[2]);
  // A shallow clone may not have the commit of that version.
  if (!(await findVersionBefore())) return;
  for (const [, version, commit] of named) {
    const { stdout } = await run('git', ['show', `${commit}:package.json`], { cwd: root });
    expect(JSON.parse(stdout).version, commit).toBe(version);
  }
});

it('a work-around for an earlier version says until which version it stays, and is gone in that one', () => {
  const number = (version: string) => version.split('.').reduce((sum, part) => sum * 1_000 + Number(part), 0);
  const { version } = JSON.parse(readOurFile('package.json'));
  const ours = readAllSources().filter(({ path }) =>
    /^(?:app|server|db\/(?!schema\.|migrations\/))/.test(path),
  );
  const named = ours.flatMap(({ path, text }) =>
    [...text.matchAll(/\bUntil (\d+\.\d+\.\d+): /g)].map(([, until = '']) => ({ path, until })),
  );
  expect(named.length).toBeGreaterThan(0);
  expect(named.filter(({ until }) => number(until) <= number(version))).toEqual([]);
  const silent = ours.filter(({ text }) =>
    /\bthe version before\b/i.test(text.replace(/\n\s*(?:\/\/|\*)/g, '')),
  );
  expect(silent.map(({ path }) => path)).toEqual([]);
});

describe('the settings', () => {
  it('are all described in server/settings/words.ts, and no other', () => {
    expect(listStray()).toEqual([]);
  });

  it('are in docs/operate/settings.md and .env.example as `npm run settings` writes them (contract 8.86)', () => {
    const tables = readOurFile(settingsFile);
    expect(tables).toBe(buildSettings(tables));
    expect(readOurFile(exampleFile)).toBe(buildExample());
  });

  it('are the only ones that documents name', () => {
    // The two settings of the database are only in compose.yaml. The last one is a setting of clients.
    const settings = [...listSettings(), 'DATABASE_PASSWORD', 'DATABASE_PASSWORD_FILE', 'IDENTITY_URL'];
    const named = [...readSpans(), ...readCode()].flatMap(({ path, span }) =>
      [
        ...span.matchAll(
          /\b(?:IDENTITY|SSO|MARKETPLACE|CRM|DATABASE|METRICS|MAIL|SMTP|TRUSTED)_[A-Z_<>]+(?![A-Z_<>…])/g,
        ),
      ].map(([name]) => ({ path, name })),
    );
    const ofClient =
      /^SSO_(?!CLIENTS$).+?(?=_(?:CALLBACK_URL|SECRET|SECRET_FILE|TITLE|LOGO_FILE|LOGO_DARK_FILE|LOGIN_URL|EVENTS_URL|LISTED|ROLES|FACTOR)$)/;
    expect(named.length).toBeGreaterThan(100);
    expect(named.filter(({ name }) => !settings.includes(name.replace(ofClient, 'SSO_<NAME>')))).toEqual([]);
  });

  it('are commented out in .env.example, and no secret is filled in', () => {
    expect(buildExample()).not.toMatch(/^[^#\n]|(?:SECRET|KEY)=./m);
  });
});

describe('docs/names.md', () => {
  it('is as `npm run names` writes it', () => {
    expect(readOurFile(namesFile)).toBe(buildNames());
  });

  it('has each name that the version before had, unless the changelog says that it is gone', async () => {
    const [, newest = ''] = readOurFile('CHANGELOG.md').split(/^## /m);
    const [, removed = ''] = newest.split(/^### (?=Removed\n)/m);
    // A shallow clone may not have the commit of the previous version.
    const before = await run('git', ['show', `${await findVersionBefore()}:${namesFile}`], {
      cwd: root,
    }).then(
      ({ stdout }) => stdout,
      () => '',
    );
    expect(findDropped(before, buildNames(), removed)).toEqual([]);
  });

  it('may lose a name, or what follows it, only in that way', () => {
    const before = '- `mails` `--retry`\n- `clients`\n- `audit` `--kind <type>`\n';
    const now = '- `clients` `--json`\n- `audit`\n';
    const removed = '- `mails` `--retry`: use `mail:retry`.';
    expect(findDropped(before, now, removed)).toEqual(['`audit` `--kind <type>`']);
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
      commands.filter(
        (command) => !['ci', 'install', 'package', 'prune'].includes(command) && !(command in scripts),
      ),
    ).toEqual([]);
  });

  it('of the command line is there, with its options', () => {
    const known = buildProgram().commands.flatMap((command) => [
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
