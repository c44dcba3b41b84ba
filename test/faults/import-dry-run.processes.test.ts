// A dry run of a large file predicts what the import does, even if the dry run and the import were killed on the way and are
// run again.
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { beforeAll, expect, it } from 'vitest';
import { run } from '../support/app/process.ts';
import { digestRows, openFreshDatabase } from '../support/database/database.ts';
import { byForm, noteFigures } from '../support/faults/faults.ts';
import { insertPeople, profileOf, type Somebody } from '../support/marketplace/imports.ts';
import { listTables } from '../support/people/leaving.ts';
import { shared, sharedFolder } from '../support/run/shared.ts';

const total = byForm({ short: 1_500, long: 100_000 });

const folder = await sharedFolder();
const file = join(folder, 'people.ndjson');
const database = shared(openFreshDatabase);
beforeAll(async () => {
  const out = createWriteStream(file);
  let people: Somebody[] = [];
  for (let n = 0; n < total; n++) {
    const { somebody, line } = buildCase(n);
    if (somebody) people.push(somebody);
    if (!out.write(`${JSON.stringify(line)}\n`)) await once(out, 'drain');
    if (people.length < 1_000 && n < total - 1) continue;
    await insertPeople(database.db, people);
    people = [];
  }
  out.end();
  await once(out, 'close');
}, 600_000);

type Line = ReturnType<typeof profileOf>;

/**
 * Returns line `n` of the file, and the user who is here before the import. No line frees an email address for which an earlier
 * line was refused.
 */
function buildCase(n: number): { somebody?: Somebody; line: Line } {
  const key = `p-${n}`;
  const earlier = `p-${n - 10}`;
  const profile = profileOf(key, { name: `Imported ${n}`, account: { name: `Shop ${n}` } });
  switch (n % 20) {
    case 10:
      return { somebody: { key }, line: profile };
    case 11:
      return { somebody: { key, isEditedHere: true }, line: profile };
    case 12:
      return { somebody: { key, hasPassword: true }, line: { ...profile, email: `moved-${n}@example.test` } };
    case 13:
      return { somebody: { key }, line: { ...profile, email: `moved-${n}@example.test` } };
    case 14:
      return { somebody: { key, externalId: null }, line: profile };
    case 15:
      return { somebody: { key, externalId: null, hasPassword: true }, line: profile };
    case 16:
      return { somebody: { key, isTyped: true }, line: profile };
    case 17:
      return { line: { ...profile, email: `${earlier}@example.test` } };
    case 18:
      return {
        line: { ...profileOf(earlier, { name: 'Newer' }), profile_updated_at: '2026-01-03T00:00:00Z' },
      };
    case 19:
      return { somebody: { key }, line: { ...profile, email: `${earlier}@example.test` } };
    default:
      return { line: n % 20 === 0 ? { ...profile, email_verified: false } : profile };
  }
}

function startImport(report: string, args: string[]) {
  return run('node', ['build/service/cli.js', 'import', file, '--report', report, '--json', ...args], {
    DATABASE_URL: database.url,
    NODE_OPTIONS: '--max-old-space-size=64 --max-semi-space-size=8',
  });
}

const linesOf = async (path: string) =>
  (await readFile(path, 'utf8').catch(() => '')).split('\n').slice(0, -1);

/** Kills the import on the way. Returns the lines that it has reported; it may have done more. */
async function killOnTheWay(...args: string[]): Promise<string[]> {
  const report = join(folder, 'killed');
  await rm(report, { force: true });
  const { child, exited } = startImport(report, args);
  while ((await linesOf(report)).length < total / 4) await new Promise((done) => setTimeout(done, 100));
  child.kill('SIGKILL');
  await exited;
  const lines = await linesOf(report);
  expect(lines.length).toBeLessThan(total);
  return lines;
}

async function runWhole(...args: string[]): Promise<string[]> {
  const report = join(folder, 'whole');
  const startedAt = performance.now();
  const { exited, output } = startImport(report, args);
  expect(await exited, output()).toBe(0);
  const milliseconds = performance.now() - startedAt;
  noteFigures(`import of ${total} lines ${args.join(' ')}`, { milliseconds });
  return linesOf(report);
}

type Person = Record<string, unknown> & { email: string; id: string | null };

/** Returns the people in the database, in the words of a report. */
async function listPeople(): Promise<Person[]> {
  const { rows } =
    await sql<Person>`select external_id as id, email, email_verified_at is not null as email_verified,
      u.name, a.name as "account.name", a.verified_at is not null as "account.verified",
      a.capabilities as "account.capabilities"
    from users u join accounts a on a.id = u.account_id left join external_links l on l.user_id = u.id`.execute(
      database.db,
    );
  return rows;
}

const sorted = (people: Iterable<Person>) =>
  [...people].map((person) => JSON.stringify(person, Object.keys(person).sort())).sort();

/** Predicts who is here after each line has done what was predicted. */
function predictPeople(before: Person[], predicted: string[]): Person[] {
  const keyOf = ({ id, email }: Person) => id ?? email;
  const people = new Map(before.map((person) => [keyOf(person), person]));
  for (const [n, text] of predicted.entries()) {
    const { kind, id, changed = {} } = JSON.parse(text);
    const { email, email_verified = true, name, account } = buildCase(n).line;
    if (kind === 'created')
      people.set(id, {
        ...{ id, email, email_verified, name, 'account.name': account.name ?? name },
        ...{ 'account.verified': false, 'account.capabilities': account.capabilities },
      });
    if (kind !== 'linked' && kind !== 'updated') continue;
    const key = kind === 'linked' ? email : id;
    const person = people.get(key) as Person;
    people.delete(key);
    const to = Object.entries(changed as Record<string, { to: unknown }>).map(([member, { to }]) => [
      member,
      to,
    ]);
    people.set(id, { ...person, ...Object.fromEntries(to), id });
  }
  return [...people.values()];
}

it(`of ${total} lines says what is done then, also where either is killed on the way`, {
  timeout: 3_600_000,
}, async () => {
  const digest = async () => digestRows(database.db, await listTables(database.db));
  const [before, peopleBefore] = [await digest(), await listPeople()];
  await killOnTheWay('--dry-run');
  const predicted = await runWhole('--dry-run');
  expect(await digest()).toBe(before);
  const { summary } = JSON.parse(predicted.pop() ?? '');
  expect(predicted).toHaveLength(total);
  const share = (parts: number) => (total / 20) * parts;
  expect(summary).toMatchObject({ created: share(10), linked: share(1), updated: share(7), unchanged: 0 });
  expect(summary.refused_by).toEqual({ email_in_use: share(1), password_to_be_proved: share(1) });

  const first = await killOnTheWay();
  const second = await runWhole();
  const rest = JSON.parse(second.pop() ?? '').summary;
  expect(second).toHaveLength(total);
  // Each line ends as predicted, in the first or the second run. The exceptions are lines that the first run did but could not
  // report.
  expect(first.filter((line, n) => line !== predicted[n])).toEqual([]);
  const others = second.slice(first.length).filter((line, n) => line !== predicted[first.length + n]);
  expect(others.length).toBeLessThanOrEqual(100);
  for (const line of others) expect(JSON.parse(line).kind).toBe('unchanged');
  expect(rest.unchanged).toBeGreaterThan(0);
  expect(rest.refused_by).toEqual(summary.refused_by);
  expect(sorted(await listPeople())).toEqual(sorted(predictPeople(peopleBefore, predicted)));
});
