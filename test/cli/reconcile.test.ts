// What an operator sees of `reconcile`, which compares the contracts here with the CRM's own view of them (contract 7.39).
import { createWriteStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { openCrmView } from '../../server/billing/contracts/crm-view.ts';
import { FileError, readBytes } from '../../server/runtime/files.ts';
import { openApp } from '../support/app/app.ts';
import { type Outcome, runCli } from '../support/app/cli.ts';
import { runReconcile } from '../support/app/reconcile.ts';
import { buildSignup, pushSignup, type SignupBody } from '../support/crm/crm.ts';
import { shared, sharedFolder } from '../support/run/shared.ts';

const price = { currency: 'EUR', unit_amount: 2_900, interval: 'month' };
const occurred_at = '2026-01-01T00:00:00.000Z';
const trial_ends_at = '2999-01-15T00:00:00.000Z';

const app = shared(openApp);
const folder = await sharedFolder();
const users: Record<string, string> = {};
beforeAll(async () => {
  const active = { plan: 'pro', status: 'active', price };
  await keepSignup('crm_same', active);
  await keepSignup('crm_trial', { plan: 'starter', status: 'trialing', trial_ends_at, price });
  await keepSignup('crm_over', {
    plan: 'starter',
    status: 'trialing',
    trial_ends_at: '2026-01-02T00:00:00.000Z',
  });
  await keepSignup('crm_ended', { plan: 'pro', status: 'canceled' });
  await keepSignup('crm_Here', active);
});

async function keepSignup(signupId: string, contract: SignupBody['contract']) {
  users[signupId] = (await pushSignup(app, buildSignup(signupId, { occurred_at, contract }))).user.id;
}

const readContracts = async () =>
  (
    await sql`select signup_id, user_id, status, plan, trial_ends_at, price_unit_amount, occurred_at
      from service_contracts order by 1`.execute(app.db)
  ).rows;

const reconcile = (input: string, ...args: string[]) =>
  runCli(app.databaseUrl, ['reconcile', '-', ...args], input);
const readJson = ({ out }: Outcome) =>
  out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

/** The CRM's view, which has all contracts but crm_Here. */
const equalLines = () => [
  {
    signup_id: 'crm_same',
    user_id: users.crm_same?.toUpperCase(),
    status: 'active',
    plan: 'pro',
    trial_ends_at: null,
    price: { interval: 'month', unit_amount: 2_900, currency: 'EUR', comment: 'not compared' },
    occurred_at: '2026-01-01T01:00:00+01:00',
    name: 'not compared',
  },
  { signup_id: 'crm_over', status: 'expired', trial_ends_at: '2026-01-02T00:00:00Z' },
  { signup_id: 'crm_ended', status: 'canceled', plan: 'pro', price: null },
];
const toLines = (lines: (object | string)[]) =>
  lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n');
const here = { signup_id: 'crm_Here' };
const trial = { signup_id: 'crm_trial' };

const summary = (changes: object) => ({
  kind: 'summary',
  lines: 5,
  equal: 5,
  compared: [],
  missing: 0,
  extra: 0,
  different: 0,
  bad: 0,
  repeated: 0,
  ...changes,
});

describe('reconcile', () => {
  it('ends with 0 and one line if both sides are equal, in any order and form', async () => {
    const { code, out, err } = await reconcile(`\uFEFF${toLines([here, ...equalLines(), '', trial])}\r\n`);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toBe(
      '5 lines: 5 equal, 0 missing here, 0 extra here, 0 different, 0 bad, 0 repeated. ' +
        'Compared: occurred_at, plan, price, status, trial_ends_at, user_id.\n',
    );
  });

  it('compares only the ids of signups if the file says no more', async () => {
    const lines = toLines(
      ['crm_Here', 'crm_ended', 'crm_over', 'crm_same', 'crm_trial'].map((signup_id) => ({ signup_id })),
    );
    const { code, out } = await reconcile(lines);
    expect(code).toBe(0);
    expect(out).toMatch(/^5 lines: 5 equal, .*\. Compared: only which signups there are\.\n$/);
  });

  const faulty = () => [
    { signup_id: 'crm_unknown', status: 'active' },
    ...equalLines().slice(0, 2),
    '',
    { signup_id: 'crm_trial', status: 'active', plan: 'pro', trial_ends_at: null, price: null, occurred_at },
    { signup_id: 'crm_same', status: 'canceled' },
    'nonsense',
    { signup_id: 'crm_Here', status: 'ACTIVE', price: { ...price, unit_amount: 1.5 } },
    { status: 'active' },
    '{"signup_id":"crm_twice","signup_id":"crm_twice"}',
    { signup_id: 'crm_same\u001b[2J' },
    { signup_id: 'A_lost', status: 'trialing', plan: 'starter', occurred_at: 'yesterday' },
    `{"signup_id":"crm_long","name":"${'x'.repeat(70_000)}"}`,
  ];

  it('prints what is missing, extra and different, and which lines are bad, and ends with 1', async () => {
    const before = await readContracts();
    const { code, out, err } = await reconcile(toLines(faulty()));
    expect({ code, err }).toEqual({ code: 1, err: '' });
    const signupIdFault = '/signup_id Must be 1 to 128 of the characters A-Z a-z 0-9 _ . : -';
    expect(out.trimEnd().split('\n')).toEqual([
      'line 7 is bad: not JSON',
      'line 8 is bad: /status Must be one of trialing, active, past_due, canceled, expired. ' +
        '/price/unit_amount Must be a whole number of minor units, such as 2900 for 29.00 EUR.',
      'line 9 is bad: /signup_id Required.',
      'line 10 is bad: duplicate name in an object',
      `line 11 is bad: ${signupIdFault}`,
      'line 12 is bad: /occurred_at Must be an RFC 3339 time with a time zone, such as 2026-01-01T00:00:00.000Z.',
      'line 13 is bad: too long',
      'line 6 repeats crm_same of line 2, and is not compared',
      'missing here: A_lost (line 12)',
      'missing here: crm_unknown (line 1)',
      'extra here: crm_ended (canceled, pro)',
      'different: crm_trial (line 5): plan starter → pro, price 2900 EUR a month → none, ' +
        `status trialing → active, trial_ends_at ${trial_ends_at} → none`,
      '12 lines: 2 equal, 2 missing here, 1 extra here, 1 different, 7 bad, 1 repeated. ' +
        'Compared: occurred_at, plan, price, status, trial_ends_at, user_id.',
    ]);
    // `reconcile` only reads, and leaves no table behind.
    expect(await readContracts()).toEqual(before);
    const { rows } = await sql`select 1 from pg_class where relname = 'contract_views'`.execute(app.db);
    expect(rows).toEqual([]);
  });

  it('says the same with --json, an object a line and the summary last', async () => {
    const outcome = await reconcile(toLines(faulty()), '--json');
    expect([outcome.code, outcome.err]).toEqual([1, '']);
    const found = readJson(outcome);
    expect(found.filter(({ kind }) => kind === 'bad').map(({ line }) => line)).toEqual([
      7, 8, 9, 10, 11, 12, 13,
    ]);
    expect(found.filter(({ kind }) => kind !== 'bad')).toEqual([
      { kind: 'repeated', line: 6, signup_id: 'crm_same', first_line: 2 },
      { kind: 'missing', signup_id: 'A_lost', line: 12 },
      { kind: 'missing', signup_id: 'crm_unknown', line: 1 },
      {
        kind: 'extra',
        signup_id: 'crm_ended',
        ours: {
          user_id: users.crm_ended,
          status: 'canceled',
          plan: 'pro',
          trial_ends_at: null,
          cancels_at: null,
          price: null,
          occurred_at,
        },
      },
      {
        kind: 'different',
        signup_id: 'crm_trial',
        line: 5,
        members: {
          plan: { ours: 'starter', theirs: 'pro' },
          price: { ours: { ...price, quantity: 1 }, theirs: null },
          status: { ours: 'trialing', theirs: 'active' },
          trial_ends_at: { ours: trial_ends_at, theirs: null },
        },
      },
      summary({
        lines: 12,
        equal: 2,
        compared: ['occurred_at', 'plan', 'price', 'status', 'trial_ends_at', 'user_id'],
        missing: 2,
        extra: 1,
        different: 1,
        bad: 7,
        repeated: 1,
      }),
    ]);
  });

  it('finds every contract extra if the file is empty', async () => {
    for (const input of ['', '\n \n', 'signup_id,status\r\n']) {
      const outcome = await reconcile(input, '--json');
      expect(outcome.code).toBe(1);
      const found = readJson(outcome);
      expect(found.map(({ signup_id }) => signup_id).slice(0, -1)).toEqual([
        'crm_Here',
        'crm_ended',
        'crm_over',
        'crm_same',
        'crm_trial',
      ]);
      expect(found[0]).toEqual({
        kind: 'extra',
        signup_id: 'crm_Here',
        ours: {
          user_id: users.crm_Here,
          status: 'active',
          plan: 'pro',
          trial_ends_at: null,
          cancels_at: null,
          price: { ...price, quantity: 1 },
          occurred_at,
        },
      });
      expect(found.at(-1)).toEqual(summary({ lines: 0, equal: 0, extra: 5 }));
    }
  });

  it('finds a repeated line wherever the two are', async () => {
    const lines = Array.from({ length: 2_500 }, (_, at) => ({ signup_id: `r_${at % 2_400}` }));
    const found = readJson(await reconcile(toLines(lines), '--json'));
    expect(found.filter(({ kind }) => kind === 'repeated')).toEqual(
      Array.from({ length: 100 }, (_, at) => ({
        kind: 'repeated',
        line: 2_401 + at,
        signup_id: `r_${at}`,
        first_line: 1 + at,
      })),
    );
    expect(found.at(-1)).toMatchObject({ lines: 2_500, missing: 2_400, equal: 0, extra: 5 });
  });
});

describe('reconcile with CSV', () => {
  const header = 'signup_id,status,plan,trial_ends_at,currency,unit_amount,interval,occurred_at';

  it('reads it as RFC 4180 has it', async () => {
    const rows = [
      `\uFEFF"note",${header}`,
      `"a ""quoted"" note, with a\r\nline of its own",crm_same,active,pro,,EUR,2900,month,${occurred_at}`,
      '',
      `,"crm_trial",trialing,"starter",${trial_ends_at},EUR,2900,month,${occurred_at}`,
      `,crm_over,expired,starter,2026-01-02T00:00:00Z,,,,${occurred_at}`,
      `,crm_ended,canceled,pro,,,,,${occurred_at}`,
      `,crm_Here,active,pro,,EUR,2900,month,${occurred_at}`,
    ];
    for (const end of ['\r\n', '\n']) {
      const { code, out, err } = await reconcile(rows.join(end));
      expect({ code, out, err }).toEqual({
        code: 0,
        err: '',
        out:
          '5 lines: 5 equal, 0 missing here, 0 extra here, 0 different, 0 bad, 0 repeated. ' +
          'Compared: occurred_at, plan, price, status, trial_ends_at.\n',
      });
    }
  });

  it('says which lines are bad or repeated, and compares the others', async () => {
    const rows = [
      header,
      `crm_same,canceled,pro,,EUR,3000,year,${occurred_at}`,
      `crm_trial,trialing,starter,,EUR,2900,month,${occurred_at}`,
      `crm_same,active,pro,,EUR,2900,month,${occurred_at}`,
      `crm_over,,starter,,EUR,,month,2026-01-01`,
      'crm_ended,canceled,pro',
      `crm_Here,active,pro,,EUR,29.00,month,${occurred_at}`,
    ];
    const { code, out } = await reconcile(rows.join('\n'));
    expect(code).toBe(1);
    expect(out.trimEnd().split('\n')).toEqual([
      'line 5 is bad: /status Must be one of trialing, active, past_due, canceled, expired. ' +
        '/price/unit_amount Must be a whole number of minor units, such as 2900 for 29.00 EUR. ' +
        '/occurred_at Must be an RFC 3339 time with a time zone, such as 2026-01-01T00:00:00.000Z.',
      'line 6 is bad: 3 fields, where the header has 8',
      'line 7 is bad: /price/unit_amount Must be a whole number of minor units, such as 2900 for 29.00 EUR.',
      'line 4 repeats crm_same of line 2, and is not compared',
      'extra here: crm_ended (canceled, pro)',
      'different: crm_same (line 2): price 2900 EUR a month → 3000 EUR a year, status active → canceled',
      `different: crm_trial (line 3): trial_ends_at ${trial_ends_at} → none`,
      '6 lines: 0 equal, 0 missing here, 1 extra here, 2 different, 3 bad, 1 repeated. ' +
        'Compared: occurred_at, plan, price, status, trial_ends_at.',
    ]);
  });

  // Contract 7.529.
  it('reads a price without a quantity as one of 1', async () => {
    await keepSignup('crm_three', { plan: 'pro', status: 'active', price: { ...price, quantity: 3 } });
    const { out } = await reconcile('signup_id,currency,unit_amount,interval\ncrm_three,EUR,2900,month');
    expect(out).toContain('different: crm_three (line 2): price 3 × 2900 EUR a month → 2900 EUR a month\n');
  });
});

it('a file is read alike however it is cut into chunks, also within a character', async () => {
  const ids = ['a', 'b'];
  for (const text of [
    `\uFEFF\r\n"notiz für uns",signup_id\r\n${ids.map((id) => `ü,${id}\r\n`).join('')}`,
    `\uFEFF\n \n${toLines(ids.map((signup_id) => ({ signup_id, note: 'ü\u2028' })))}`,
  ]) {
    const cut = async function* (size: number) {
      const bytes = new TextEncoder().encode(text);
      for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
    };
    for (const size of [1, 2, 5, 1_000]) {
      const lines: unknown[] = [];
      for await (const line of await openCrmView(cut(size))) lines.push(line);
      expect(lines, `${size} of ${text}`).toEqual(
        ids.map((signupId, at) => ({ line: 3 + at, signupId, view: {} })),
      );
    }
  }
});

it('a line that does not end is bad, and takes no memory', async () => {
  const file = join(folder, 'endless.ndjson');
  const write = function* () {
    yield '{"signup_id":"crm_same","note":"';
    for (let megabyte = 0; megabyte < 100; megabyte++) yield 'x'.repeat(1_000_000);
    yield '"}\n{"signup_id":"nowhere"}\n';
  };
  await pipeline(Readable.from(write()), createWriteStream(file));
  const { out, err } = await runReconcile(app.databaseUrl, [file], { heapMegabytes: 64 });
  expect(err).toBe('');
  expect(out).toMatch(/^line 1 is bad: too long\nmissing here: nowhere \(line 2\)\n/);
});

describe('a file that cannot be read is refused', () => {
  it.each([
    ['a JSON array', '[{"signup_id":"x"}]', 'Write one JSON object a line, not an array of them.'],
    [
      'without signup_id',
      'id,status\nx,active\n',
      'The first line is neither a JSON object nor a CSV header with signup_id.',
    ],
    ['with a column twice', 'signup_id,status,status\n', 'The CSV header has a column twice.'],
    [
      'with half a price',
      'signup_id,currency,interval\n',
      'The CSV header must have all of currency, unit_amount, interval, or none.',
    ],
    ['without an end', 'signup_id,plan\nx,"pro\n', 'Line 2 is not CSV (CSV_QUOTE_NOT_CLOSED).'],
    ['quoted in part', 'signup_id,plan\nx,"pro"s\n', 'Line 2 is not CSV (CSV_INVALID_CLOSING_QUOTE).'],
    [
      'one long record',
      `signup_id,plan\nx,${'x'.repeat(70_000)}\n`,
      'Line 2 is not CSV (CSV_MAX_RECORD_SIZE).',
    ],
  ])('where it is %s', async (_, text, sentence) => {
    const file = join(folder, 'refused');
    await writeFile(file, text);
    const read = async () => {
      for await (const line of await openCrmView(readBytes(file))) expect(line.signupId).toBe('x');
    };
    await expect(read()).rejects.toThrow(new FileError(sentence));
  });
});

describe('reconcile ends with 2, and one sentence, where it cannot compare', () => {
  const expectFailed = ({ code, out, err }: Outcome, sentence: RegExp) => {
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(sentence);
    expect(err.trimEnd()).not.toContain('\n');
  };

  it('because the file is no CSV from some line on', async () => {
    const failed = await reconcile('signup_id\ncrm_same\n"crm"x\n');
    expectFailed(failed, /^Line 3 is not CSV \(CSV_INVALID_CLOSING_QUOTE\)\.$/m);
  });

  it('because there is no such file, or it is a folder', async () => {
    expectFailed(
      await runCli(app.databaseUrl, ['reconcile', join(folder, 'nowhere')]),
      /^Cannot read the file .*nowhere: there is no such file \(ENOENT\)\.$/m,
    );
    expectFailed(
      await runCli(app.databaseUrl, ['reconcile', folder]),
      /^Cannot read the file .*: it is a folder \(EISDIR\)\.$/m,
    );
  });

  it('because the database is away', async () => {
    const file = join(folder, 'one.ndjson');
    await writeFile(file, toLines([here]));
    const away = await runCli('postgres://nobody@127.0.0.1:1/nothing', ['reconcile', file]);
    expectFailed(away, /^Cannot reach the database \(ECONNREFUSED\)\. Check that it is running\.$/m);
  });

  it('because nobody reads what it prints any more', async () => {
    const file = join(folder, 'many.ndjson');
    await writeFile(file, toLines(Array.from({ length: 20_000 }, (_, at) => ({ signup_id: `m_${at}` }))));
    const run = await runReconcile(app.databaseUrl, [file], { heapMegabytes: 128, readsOutput: false });
    expectFailed(run, /^Nothing reads the output any more\.$/m);
  });
});

it('reconcile says in its help how it ends', async () => {
  const { code, out } = await runCli(app.databaseUrl, ['reconcile', '--help']);
  expect(code).toBe(0);
  expect(out).toContain('Exit status: 0 if both sides are equal, 1 if anything differs');
});
