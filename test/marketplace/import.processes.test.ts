import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { openApp } from '../support/app/app.ts';
import { run } from '../support/app/process.ts';
import { countRows } from '../support/database/database.ts';
import { byForm } from '../support/faults/faults.ts';
import { handOver } from '../support/marketplace/marketplace.ts';
import { shared, sharedFolder } from '../support/run/shared.ts';

const app = shared(openApp);
const folder = await sharedFolder();

const profile = (id: string, more: object = {}) => ({
  id,
  email: `${id}@example.test`,
  name: `User ${id}`,
  role: 'customer',
  account: { capabilities: [] },
  profile_updated_at: '2026-01-01T00:00:00.000Z',
  ...more,
});

async function runImport(file: string) {
  const process = run('node', ['build/service/cli.js', 'import', file], { DATABASE_URL: app.databaseUrl });
  return { ...process, code: await process.exited };
}

const countLinks = () => countRows(app.db, 'external_links');

it('applies the rules of the hand-off, and lists the refused lines with their reasons', async () => {
  await handOver(app, { id: 'known', name: 'Known' });
  const lines = [
    JSON.stringify(profile('fresh')),
    JSON.stringify(profile('known', { name: 'Newer', profile_updated_at: '2026-02-01T00:00:00.000Z' })),
    JSON.stringify(profile('known', { name: 'Stale' })),
    '',
    JSON.stringify(profile('boss', { email: 'admin@example.test' })),
    JSON.stringify(profile('has-password', { email: 'merchant@example.test' })),
    JSON.stringify(profile('gone', { email: 'suspended@example.test' })),
    JSON.stringify(profile('rival', { email: 'fresh@example.test' })),
    'not json',
    '{"id":"a","id":"b"}',
    JSON.stringify(profile('nameless', { name: ' ' })),
    JSON.stringify(profile('later', { profile_updated_at: '2999-01-01T00:00:00.000Z' })),
  ];
  const file = join(folder, 'rules.ndjson');
  await writeFile(file, lines.join('\n'));
  const { code, output } = await runImport(file);
  expect(code, output()).toBe(0);
  expect(output()).toContain('1 created, 0 linked, 1 updated, 1 unchanged, 8 refused');
  const refused = (await readFile(`${file}.refused.ndjson`, 'utf8')).trim().split('\n');
  expect(refused.map((line) => JSON.parse(line))).toEqual([
    { line: 5, id: 'boss', reason: 'admin_not_allowed' },
    { line: 6, id: 'has-password', reason: 'password_to_be_proved' },
    { line: 7, id: 'gone', reason: 'account_suspended' },
    { line: 8, id: 'rival', reason: 'email_in_use' },
    { line: 9, reason: 'malformed: not JSON' },
    { line: 10, reason: 'malformed: duplicate name in an object' },
    { line: 11, reason: 'malformed: name' },
    { line: 12, reason: 'malformed: profile_updated_at in the future' },
  ]);
  const { rows } = await sql`select name from users where email = 'known@example.test'`.execute(app.db);
  expect(rows).toEqual([{ name: 'Newer' }]);
});

it('ends a line where its file does, and refuses one that is not UTF-8, or does not end', async () => {
  const file = join(folder, 'odd.ndjson');
  const latin1 = Buffer.from(JSON.stringify(profile('latin', { name: 'Zoë' })), 'latin1');
  const write = function* () {
    // These lines have a byte order mark, returns between members, and characters that other programs take for the end of a line.
    yield `\uFEFF${JSON.stringify(profile('first'))}\r\n`;
    yield `${JSON.stringify(profile('second', { note: 'a \u2028 b \u2029 c \u0085' })).replaceAll(',', ',\r')}\n`;
    yield latin1;
    yield '\n{"id":"endless","name":"';
    for (let megabyte = 0; megabyte < 100; megabyte++) yield 'x'.repeat(1_000_000);
    yield `"}\n \t\n${JSON.stringify(profile('sixth'))}`;
  };
  await pipeline(Readable.from(write()), createWriteStream(file));
  const process = run('node', ['build/service/cli.js', 'import', '--json', file], {
    DATABASE_URL: app.databaseUrl,
    NODE_OPTIONS: '--max-old-space-size=64 --max-semi-space-size=8',
  });
  expect(await process.exited, process.output()).toBe(0);
  expect(process.output()).toContain('"created":3,"linked":0,"updated":0,"unchanged":0,"refused":2');
  const refused = (await readFile(`${file}.refused.ndjson`, 'utf8')).trim().split('\n');
  expect(refused.map((line) => JSON.parse(line))).toEqual([
    { line: 3, reason: 'malformed: not UTF-8' },
    { line: 4, reason: 'malformed: too long' },
  ]);
  const { rows } = await sql`
    select cause from changes where subject = 'link' and row_id = 'marketplace:sixth'`.execute(app.db);
  expect(rows).toEqual([{ cause: 'odd.ndjson:6' }]);
});

it('says in one sentence that the file does not exist, or is a folder, and makes none', async () => {
  const missing = await runImport(join(folder, 'nowhere.ndjson'));
  expect(missing.code).toBe(1);
  expect(missing.output()).toMatch(/^Cannot read the file .* \(ENOENT\)\.\n$/);
  const { code, output } = await runImport(folder);
  expect(code).toBe(1);
  expect(output()).toMatch(/^Cannot read the file .* \(EISDIR\)\.$/m);
  expect(output()).not.toMatch(/\n\s+at /);
  await expect(readFile(`${folder}.refused.ndjson`)).rejects.toThrow('ENOENT');
});

it('continues after an interruption, and changes nothing when it is run again', async () => {
  const file = join(folder, 'many.ndjson');
  const total = byForm({ short: 1_500, long: 3_000 });
  await writeFile(
    file,
    Array.from({ length: total }, (_, at) => JSON.stringify(profile(`many-${at}`))).join('\n'),
  );
  const before = await countLinks();
  for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
    const process = run('node', ['build/service/cli.js', 'import', file], { DATABASE_URL: app.databaseUrl });
    const started = await countLinks();
    while ((await countLinks()) < started + 200) await new Promise((done) => setTimeout(done, 20));
    process.child.kill(signal);
    await process.exited;
    expect((await countLinks()) - before).toBeLessThan(total);
    expect(((await countLinks()) - before) % 100).toBe(0);
  }
  expect((await runImport(file)).output()).toMatch(/ 0 refused\./);
  expect((await countLinks()) - before).toBe(total);
  expect((await runImport(file)).output()).toContain(
    `0 created, 0 linked, 0 updated, ${total} unchanged, 0 refused`,
  );
}, 180_000);

it('imports each line once if it runs twice at the same time', async () => {
  const file = join(folder, 'twice.ndjson');
  await writeFile(
    file,
    Array.from({ length: 1_000 }, (_, at) => JSON.stringify(profile(`twice-${at}`))).join('\n'),
  );
  const before = await countLinks();
  const runs = await Promise.all([runImport(file), runImport(file)]);
  for (const { code, output } of runs) expect(code, output()).toBe(0);
  expect((await countLinks()) - before).toBe(1_000);
});

const bulk = byForm({ short: 10_000, long: 100_000 });
it('imports any number of lines in limited memory', async () => {
  const file = join(folder, 'bulk.ndjson');
  const out = createWriteStream(file);
  for (let at = 0; at < bulk; at++) {
    // Most lines are about known users: the import has to compare much, but writes little.
    const line = `${JSON.stringify(profile(`bulk-${at % 2_000}`))}\n`;
    if (!out.write(line)) await once(out, 'drain');
  }
  out.end();
  await once(out, 'close');
  expect(await countLines(file)).toBe(bulk);

  const process = run('node', ['build/service/cli.js', 'import', file], {
    DATABASE_URL: app.databaseUrl,
    // The young generation needs a limit, too: V8 of Node 24 lets it grow into the memory of the old generation.
    NODE_OPTIONS: '--max-old-space-size=64 --max-semi-space-size=8',
  });
  expect(await process.exited, process.output()).toBe(0);
  expect(process.output()).toContain(
    `2000 created, 0 linked, 0 updated, ${bulk - 2_000} unchanged, 0 refused`,
  );
}, 300_000);

async function countLines(file: string): Promise<number> {
  let lines = 0;
  for await (const _line of createInterface({ input: createReadStream(file) })) lines++;
  return lines;
}
