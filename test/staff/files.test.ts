// The files that administrators download (contract 12.143 to 12.161).
import { readFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Staff } from '../../server/acts/staff.ts';
import { exportBooks } from '../../server/billing/upkeep/export.ts';
import type { Dependencies } from '../../server/ground/dependencies.ts';
import { writeCsv } from '../../server/runtime/csv.ts';
import { beginFile, buildSpans } from '../../server/staff/files.ts';
import { Deadline } from '../../server/web/deadline.ts';
import { CutOff, streamPaced } from '../../server/web/paced-stream.ts';
import { expectRetryAfter, locationOf, openApp, type SendOptions } from '../support/app/app.ts';
import { addContract, addInvoice, buildPayment, report } from '../support/billing/money.ts';
import { dayOfSeller, setSettings } from '../support/billing/settings.ts';
import { addFactor, addPerson, addSession, call, readData } from '../support/people/staff.ts';
import { shared } from '../support/run/shared.ts';

let admin: Awaited<ReturnType<typeof addStaff>>;
let manager: typeof admin;
const crowd = 4_000;

/** The contract says which columns the files have. */
const contract = readFileSync(new URL('../../docs/contract/12-staff.md', import.meta.url), 'utf8');

/** Texts that others wrote, and how a field of a file shows them (contract 7.181). */
const texts: Record<string, string> = {
  '=1+1': "'=1+1",
  '+1': "'+1",
  '-1': '-1',
  '-1+2': "'-1+2",
  '@SUM(A1)': "'@SUM(A1)",
  '\t=1': "'\t'=1",
  '\r=1': "'\r'=1",
  '\nplain': "'\nplain",
  'a,"b"\r\nc': 'a,"b"\r\nc',
  'a;=1;+2;b;-3;@4': "a;'=1;'+2;b;'-3;'@4",
  'a\t=1\n+2\r\n-3\u2028@4': "a\t'=1\n'+2\r\n'-3\u2028'@4",
  '＝1': "'＝1",
  'a;＋1;－2;＠3': "a;'＋1;'－2;'＠3",
  'a; =1;"=2";\u00a0""-3': 'a;\' =1;\'"=2";\'\u00a0""-3',
  ' =1': "' =1",
  'a-b; c=d, -e': 'a-b; c=d, -e',
  plain: 'plain',
};
const hostile = Object.keys(texts);
const guarded = Object.values(texts);
const tables = ['people', 'audit', 'mails', 'clients', 'contracts', 'invoices'].map((name) => `${name}.csv`);
const books = ['documents', 'lines', 'tax', 'money', 'allocations', 'oss', 'ec_sales'].map(
  (name) => `${name}.csv`,
);

const app = shared(openApp);
beforeAll(async () => {
  await setSettings(app.db);
  admin = await addStaff('admin');
  manager = await addStaff('manager');
  await addInvoice(app.db);
  const number = await addInvoice(app.db);
  await report(app, buildPayment(100, { invoice_number: number }));
  await report(app, buildPayment(7, { reference: '=1+1' }));
  const contract = await addContract(app.db);
  for (const text of hostile) {
    const { id } = await addPerson(app, { name: text, passwordHash: 'SECRET hash' });
    await sql`update accounts set name = ${text} where id = ${id}`.execute(app.db);
    await sql`insert into audit_events (id, type, reason, user_id, why, device, place, details)
      values (gen_random_uuid(), 'test.hostile', ${text}, ${id}, ${text}, ${text}, ${text}, ${JSON.stringify({ text })})`.execute(
      app.db,
    );
    await sql`insert into mails (id, kind, user_id, recipient, details, created_at, attempts, next_attempt_at, last_error,
        kept_text, sent_at)
      values (gen_random_uuid(), 'hostile', ${id}, ${text}, '{"token": "SECRET"}', now(), 3, now(), ${text},
        'SECRET link', now())`.execute(app.db);
  }
  await sql`update service_contracts set signup_id = '=1+1', plan = '-1', trial_ends_at = 'infinity'
    where id = ${contract}`.execute(app.db);
  await sql`update service_contracts set signup_id = '+' || id where id <> ${contract}`.execute(app.db);
  // An email address may begin like a formula.
  await sql`update users set email = '=' || email where name = 'plain'`.execute(app.db);
  await sql`update users set suspended_at = 'infinity' where name = 'plain'`.execute(app.db);
  await sql`insert into accounts (id, name)
    select gen_random_uuid(), 'Crowd, of many' from generate_series(1, ${crowd})`.execute(app.db);
  await sql`insert into users (id, account_id, email, holds_email, name)
    select id, id, id || '@example.test', true, 'Crowd' from accounts where name = 'Crowd, of many'`.execute(
    app.db,
  );
}, 60_000);
beforeEach(() => sql`delete from audit_events where type like 'staff.export%'`.execute(app.db));

async function addStaff(role: 'admin' | 'manager') {
  const person = await addPerson(app, { role });
  await addFactor(app.db, person);
  return { ...person, ...(await addSession(app, person.id)) };
}

const take = (file: string, options: SendOptions = {}) =>
  app.send(`/admin/files/${file}`, { cookie: admin.cookie, ...options });

const read = (text: string): Record<string, string>[] => parse(text, { columns: true });

/**
 * The cells that programs see if they split files at semicolons (as German Excel does), at tabs, or at semicolons, tabs and
 * commas.
 */
const cellsOf = (text: string): string[] =>
  [';', '\t', [';', '\t', ',']].flatMap((delimiter) =>
    parse(text, { delimiter, relax_quotes: true, relax_column_count: true }).flat(),
  );

async function listTaken() {
  const { rows } = await sql<{ type: string; details: Record<string, unknown> }>`
    select type, details from audit_events where type like 'staff.export%' order by id`.execute(app.db);
  return rows.map(({ type, details }) => ({ type: type.replace('staff.', ''), ...details }));
}

/** Begins to download a file, and reads nothing of it. */
async function open(file: string, { cookie } = admin) {
  const request = new Request(`http://localhost:3000/admin/files/${file}`, { headers: { cookie } });
  const answer = await app.fetch(request, { address: '192.0.2.1' });
  return { answer, status: answer.status, body: answer.body as ReadableStream<Uint8Array> };
}

const idle = async () =>
  (
    await sql<{ n: number }>`select count(*)::int as n from pg_stat_activity
      where datname = current_database() and state like 'idle in transaction%'`.execute(app.db)
  ).rows[0]?.n;

describe('the tables', () => {
  it.each(tables)('%s is CSV that a spreadsheet opens, with nothing secret', async (file) => {
    const { status, headers, text } = await take(file);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present');
    expect(headers.get('content-disposition')).toBe(`attachment; filename="${file}"`);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(contract).toContain(`\`${file}\` has \`${text.split('\r\n')[0]}\``);
    expect(text.endsWith('\r\n')).toBe(true);
    const rows = read(text);
    expect(rows.length).toBeGreaterThan(0);
    for (const value of rows.flatMap((row) => Object.values(row)))
      expect(value).not.toMatch(/^([=+@\t\r]|-(?!\d+$))/);
    for (const cell of cellsOf(text)) expect(cell).not.toMatch(/^[\s"]*([=+@＝＋－＠]|-(?![\d.]+$))/);
    expect(text).not.toContain('SECRET');
    for (const { secrets } of app.config.clients.values())
      for (const secret of secrets) expect(text).not.toContain(secret);
    expect(await listTaken()).toMatchObject([
      { type: 'export_started', file },
      { type: 'exported', file, rows: file === 'audit.csv' ? expect.any(Number) : rows.length, whole: true },
    ]);
  });

  it('have texts of others with a mark before what a spreadsheet would take for a formula', async () => {
    const people = read((await take('people.csv')).text);
    expect(people.length).toBeGreaterThan(crowd);
    expect(
      people
        .filter(({ account }) => guarded.includes(account ?? ''))
        .map(({ name }) => name)
        .sort(),
    ).toEqual([...guarded].sort());
    expect(people.find(({ name }) => name === 'plain')).toMatchObject({
      state: 'suspended',
      suspended_at: 'Infinity',
    });
    const ids = people.map(({ id }) => id ?? '');
    expect(ids).toEqual([...ids].sort());
    expect(new Set(ids).size).toBe(ids.length);
    const events = read((await take('audit.csv')).text).filter(({ type }) => type === 'test.hostile');
    for (const column of ['reason', 'why', 'device', 'place'])
      expect(events.map((event) => event[column]).sort()).toEqual([...guarded].sort());
    const said = events.map(({ details }) => JSON.parse(details ?? '').text.replaceAll("'", ''));
    expect(said.sort()).toEqual([...hostile].sort());
    const mails = read((await take('mails.csv')).text).filter(({ kind }) => kind === 'hostile');
    expect(mails.map(({ recipient }) => recipient).sort()).toEqual([...guarded].sort());
    expect(mails[0]).toMatchObject({ state: 'sent', attempts: '3' });
  });

  it('say why a mail failed without what a mail server quoted of it', async () => {
    // A link in two lines, as mails have it.
    const part = 'Ab-_'.repeat(10);
    await sql`update mails set last_error = ${`554 nope\r\nhttps://id.example.test/take-back?token=3D${part}=`}
      where kind = 'hostile' and recipient = 'plain'`.execute(app.db);
    const { text } = await take('mails.csv');
    expect(read(text).find(({ recipient }) => recipient === 'plain')?.last_error).toMatch(/^554 nope /);
    expect(text).not.toContain(part.slice(4, 30));
  });

  it('have numbers, ids and amounts as they are', async () => {
    const contracts = read((await take('contracts.csv')).text);
    expect(contracts.find(({ plan }) => plan === '-1')).toMatchObject({ signup_id: "'=1+1" });
    const invoices = read((await take('invoices.csv')).text);
    expect(invoices[0]).toMatchObject({ currency: 'EUR', total: expect.stringMatching(/^\d+\.\d\d$/) });
    const clients = read((await take('clients.csv')).text);
    expect(clients.map(({ client }) => client)).toEqual([...app.config.clients.keys()]);
    expect(clients[0]).toMatchObject({ behind: '0', secrets: '1' });
    // The file has no byte order mark. This reads bytes, because readers of text would hide a byte order mark.
    const bytes = await new Response((await open('clients.csv')).body).arrayBuffer();
    expect(new TextDecoder('latin1').decode(bytes)).toMatch(/^client,/);
  });
});

describe('the books', () => {
  const span = { from: '2020-01-01', to: '2026-01-31' };

  it('are what the command writes, byte by byte', async () => {
    for (const { from, to } of [span, { ...span, to: dayOfSeller() }]) {
      const texts: Record<string, string> = {};
      const counts = await exportBooks(app.db, { from, to }, async (name, records) => {
        texts[name] = (texts[name] ?? '') + writeCsv(records);
      });
      for (const file of books) {
        const { status, headers, text } = await take(`${file}?from=${from}&to=${to}`);
        expect([file, status, text]).toEqual([file, 200, texts[file]]);
        expect(headers.get('content-disposition')).toContain(`${from}-${to}.csv`);
        expect((await listTaken()).at(-1)).toMatchObject({
          ...{ type: 'exported', file, from, to, whole: true },
          rows: counts[file as keyof typeof counts],
        });
      }
      // Nothing here is sold abroad.
      const empty = Object.entries(counts).flatMap(([name, rows]) => (rows === 0 ? [name] : []));
      if (to !== span.to) expect(empty).toEqual(['oss.csv', 'ec_sales.csv']);
    }
  });

  it('refuse other days, and count nothing', async () => {
    const tomorrow = new Date(Date.now() + 48 * 3_600_000).toISOString().slice(0, 10);
    for (const days of [
      '',
      'from=2020-01-01',
      'from=2020-02-30&to=2020-03-01',
      'from=2021-01-01&to=2020-01-01',
      `from=2020-01-01&to=${tomorrow}`,
    ])
      expect([days, (await take(`tax.csv?${days}`)).status]).toEqual([days, 422]);
    expect((await take('settings.csv')).status).toBe(404);
    expect((await take('__proto__.csv')).status).toBe(404);
    expect(await listTaken()).toEqual([]);
  });

  it('give their connection back when the reader has gone', async () => {
    const contract = await addContract(app.db);
    await sql`alter table invoices disable trigger user`.execute(app.db);
    await sql`insert into invoices (number, contract_id, plan, period_starts_at, period_ends_at, currency, unit_amount,
        status, issued_at, due_at)
      select 100000 + n, ${contract}, 'starter', now() + n * interval '1 day', now() + (n + 1) * interval '1 day', 'EUR', 100,
        'open', now(), now() from generate_series(1, 8000) n`.execute(app.db);
    await sql`alter table invoices enable trigger user`.execute(app.db);
    const { body } = await open(`documents.csv?from=2020-01-01&to=${dayOfSeller()}`);
    const reader = body.getReader();
    await reader.read();
    await expect.poll(idle).toBe(1);
    await reader.cancel();
    await expect.poll(idle).toBe(0);
    await expect.poll(listTaken).toMatchObject([{}, { type: 'exported', whole: false }]);
  });
});

describe('the spans of days', () => {
  it.each([
    // Each row has today, last month, last quarter, this year and last year.
    [
      '2026-11-26',
      ['2026-10-01', '2026-10-31', '2026-07-01', '2026-09-30', '2026-01-01', '2025-01-01', '2025-12-31'],
    ],
    // The first day of a year, and the first day of a quarter.
    [
      '2027-01-01',
      ['2026-12-01', '2026-12-31', '2026-10-01', '2026-12-31', '2027-01-01', '2026-01-01', '2026-12-31'],
    ],
    [
      '2026-04-01',
      ['2026-03-01', '2026-03-31', '2026-01-01', '2026-03-31', '2026-01-01', '2025-01-01', '2025-12-31'],
    ],
    // Each of these days is the last day of a quarter. The second is the last day of a year, too.
    [
      '2026-09-30',
      ['2026-08-01', '2026-08-31', '2026-04-01', '2026-06-30', '2026-01-01', '2025-01-01', '2025-12-31'],
    ],
    [
      '2026-12-31',
      ['2026-11-01', '2026-11-30', '2026-07-01', '2026-09-30', '2026-01-01', '2025-01-01', '2025-12-31'],
    ],
    // The month before has a 29 February.
    [
      '2028-03-31',
      ['2028-02-01', '2028-02-29', '2027-10-01', '2027-12-31', '2028-01-01', '2027-01-01', '2027-12-31'],
    ],
  ])('on %s are of the calendar, and none goes beyond it', (today, days) => {
    const [lastMonth, lastMonthTo, lastQuarter, lastQuarterTo, thisYear, lastYear, lastYearTo] = days;
    expect(buildSpans(today)).toEqual([
      { name: 'last_month', from: lastMonth, to: lastMonthTo },
      { name: 'last_quarter', from: lastQuarter, to: lastQuarterTo },
      { name: 'this_year', from: thisYear, to: today },
      { name: 'last_year', from: lastYear, to: lastYearTo },
    ]);
  });
});

describe('who may', () => {
  it('take a file, and others get a refusal that does not count', async () => {
    const customer = await addPerson(app);
    const stale = (minutes: number) =>
      addSession(app, admin.id, { authTime: new Date(Date.now() - minutes * 60_000) });
    const where = async (options: SendOptions, file = 'people.csv') => {
      const answer = await take(file, options);
      return answer.status === 303 ? answer.headers.get('location') : answer.status;
    };
    const page = '/admin/files?file=people.csv';
    for (const file of [...tables, 'tax.csv?from=2020-01-01&to=2020-01-31']) {
      expect(await where({ cookie: manager.cookie }, file)).toBe(404);
      expect(await where({ cookie: (await addSession(app, customer.id)).cookie }, file)).toBe(404);
      expect(await where({ cookie: '' }, file)).toContain('/login?next=');
    }
    expect(await where({ cookie: (await stale(11)).cookie })).toBe(page);
    expect(await where({ cookie: (await stale(13 * 60)).cookie })).toBe(page);
    const books = 'tax.csv?from=2020-01-01&to=2020-01-31';
    expect(await where({ cookie: (await stale(11)).cookie }, books)).toBe(
      '/admin/files?file=tax.csv&from=2020-01-01&to=2020-01-31',
    );
    expect(await where({ method: 'HEAD' })).toBe(204);
    expect(await where({ headers: { 'sec-purpose': 'prefetch' } })).toBe(204);
    for (const site of ['cross-site', 'same-site'])
      expect(await where({ headers: { 'sec-fetch-site': site } })).toBe('/admin/files');
    expect(await where({ form: { file: 'people.csv' } })).toBe(405);
    expect(await listTaken()).toEqual([]);
    expect(await where({ headers: { 'sec-fetch-site': 'none' } })).toBe(200);
  });

  it('lose it in the middle, once they are logged out', async () => {
    const other = await addSession(app, admin.id);
    const { body } = await open('people.csv', { ...admin, ...other });
    await sql`update sessions set ended_at = now() where id = ${other.sessionId}`.execute(app.db);
    await expect(new Response(body).text()).rejects.toThrow();
    const [, ended] = await listTaken();
    expect(ended).toMatchObject({ type: 'exported', whole: false });
    expect((ended as { rows?: number } | undefined)?.rows).toBeLessThan(crowd);
  });
});

describe('how often', () => {
  const begin = (sessionId: string) => {
    const staff = {
      session: { id: sessionId, user: { id: admin.id } },
      visit: { requestId: crypto.randomUUID(), address: '', deadline: new Deadline() },
    } as Staff;
    return beginFile({ db: app.db } as Dependencies, staff, { file: 'people.csv' });
  };

  it('is five in an hour, where all books of one span count as one', async () => {
    for (const day of ['01', '02', '03'])
      for (const file of books)
        expect((await take(`${file}?from=2020-01-${day}&to=2020-02-01`)).status).toBe(200);
    expect((await take('clients.csv')).status).toBe(200);
    const again = () => take('tax.csv?from=2020-01-03&to=2020-02-01');
    expect((await again()).status).toBe(200);
    // Each other book of that span was downloaded only one time, so it may be downloaded again.
    expect((await take('money.csv?from=2020-01-03&to=2020-02-01')).status).toBe(200);
    const files = async () => readData(await call(app, 'files.list', admin.cookie, undefined, true));
    expect(await files()).toMatchObject({ tables, books, left: 0 });
    for (const refused of [
      await again(),
      await take('clients.csv'),
      await take('tax.csv?from=2020-01-04&to=2020-02-01'),
    ]) {
      expect(refused.status).toBe(429);
      expectRetryAfter(refused, 3_600);
    }
    // Another administrator may download files now. This one may do so an hour later.
    expect((await take('clients.csv', { cookie: (await addStaff('admin')).cookie })).status).toBe(200);
    await sql`update audit_events set at = at - interval '61 minutes' where type = 'staff.export_started'`.execute(
      app.db,
    );
    expect((await again()).status).toBe(200);
  });

  it('is five, of sixteen that begin at once', async () => {
    // Each download begins in a browser of its own.
    const sessions = await Promise.all(Array.from({ length: 16 }, () => addSession(app, admin.id)));
    const begun = await Promise.allSettled(sessions.map(({ sessionId }) => begin(sessionId)));
    expect(begun.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
    expect(await listTaken()).toHaveLength(5);
  });

  it('is none, and counts nothing, for a session that has ended meanwhile', async () => {
    const { sessionId } = await addSession(app, admin.id);
    await sql`update sessions set ended_at = now() where id = ${sessionId}`.execute(app.db);
    await expect(begin(sessionId)).rejects.toMatchObject({ code: 'login_required' });
    expect(await listTaken()).toEqual([]);
  });

  it('nothing leaves if the audit cannot record it first', async () => {
    await sql`alter table audit_events add constraint no_start check (type <> 'staff.export_started') not valid`.execute(
      app.db,
    );
    const { status, text } = await take('people.csv');
    await sql`alter table audit_events drop constraint no_start`.execute(app.db);
    expect(status).toBe(500);
    expect(text).not.toContain('Crowd');
    expect((await take('clients.csv')).status).toBe(200);
  });

  it('is two at once on an instance: a third is refused at once, until one has ended', async () => {
    const [first, second] = [await open('people.csv'), await open('people.csv')];
    const third = await take('clients.csv');
    expect([first.status, second.status, third.status]).toEqual([200, 200, 503]);
    // No transaction waits for the readers of these files.
    await expect.poll(idle).toBe(0);
    expectRetryAfter(third, 10);
    expect(await listTaken()).toHaveLength(2);
    await first.body.cancel();
    await expect.poll(async () => (await take('clients.csv')).status).toBe(200);
    expect(read(await new Response(second.body).text()).length).toBeGreaterThan(crowd);
    const ended = (await listTaken()).filter(({ type }) => type === 'exported') as Record<string, unknown>[];
    const ofPeople = ended.filter(({ file }) => file === 'people.csv');
    expect(ofPeople.map(({ whole }) => whole).sort()).toEqual([false, true]);
    expect(ofPeople.find(({ whole }) => !whole)?.rows).toBeLessThan(crowd);
  });
});

describe('a body that is written while it is read', () => {
  const text = 'x'.repeat(100 * 1_024);
  const patient = { stallMs: 60_000, wholeMs: 60_000 };

  it('is only a little ahead of its reader', async () => {
    let written = 0;
    const reader = streamPaced(async ({ write }) => {
      for (; written < 50; written++) await write(text);
    }, patient).getReader();
    for (let taken = 1; taken <= 50; taken++) {
      await reader.read();
      await new Promise((done) => setTimeout(done));
      expect(written - taken).toBeLessThanOrEqual(3);
    }
    expect((await reader.read()).done).toBe(true);
  });

  it.each([
    ['takes nothing for too long', { ...patient, stallMs: 20 }],
    ['takes too long for all of it', { ...patient, wholeMs: 20 }],
  ])('is cut off where its reader %s', async (_, bounds) => {
    let why: unknown;
    const body = streamPaced(async ({ write }) => {
      try {
        for (;;) await write(text);
      } catch (error) {
        why = error;
        throw error;
      }
    }, bounds);
    await expect.poll(() => why).toBeInstanceOf(CutOff);
    await expect(new Response(body).text()).rejects.toThrow();
  });
});

describe('the page', () => {
  const html = { accept: 'text/html' };
  const openPage = (query = '', cookie = admin.cookie) =>
    app.send(`/admin/files${query}`, { cookie, headers: html });
  const post = (form: Record<string, string>, cookie = admin.cookie) =>
    app.send('/admin/files', { form, cookie, headers: html });

  it('has each file, for administrators', async () => {
    const { text } = await openPage();
    for (const file of [...tables, ...books]) expect(text).toContain(`value="${file}"`);
    expect(text).toContain('You can download 5 more');
    expect((await openPage('', manager.cookie)).status).toBe(404);
    expect((await post({ file: 'people.csv' }, manager.cookie)).status).toBe(404);
  });

  it('leads to the file, and says what is wrong with the days', async () => {
    const people = await post({ file: 'people.csv', from: '', to: '' });
    expect([people.status, people.headers.get('location')]).toEqual([303, '/admin/files/people.csv']);
    const tax = await post({ file: 'tax.csv', from: '2020-01-01', to: '2020-01-31' });
    expect(tax.headers.get('location')).toBe('/admin/files/tax.csv?from=2020-01-01&to=2020-01-31');
    const wrong = await post({ file: 'tax.csv', from: '2020-02-01', to: '2020-01-31' });
    const cookie = `${admin.cookie}; ${wrong.headers.get('set-cookie')?.split(';')[0]}`;
    const { status, text } = await app.send(String(wrong.headers.get('location')), { cookie, headers: html });
    expect([wrong.status, status]).toEqual([303, 422]);
    expect(text).toContain('Must not be after the last day.');
    expect(text).toContain('value="2020-02-01"');
    expect((await post({ file: 'settings.csv' })).status).toBe(404);
  });

  it('has links that fill the days of a span, and start nothing', async () => {
    const { today, spans } = readData(await call(app, 'files.list', admin.cookie, undefined, true));
    expect(spans).toEqual(buildSpans(today));
    const filledIn = (text: string, name: string) =>
      new RegExp(`<input[^>]* name="${name}"[^>]* value="([^"]*)"`).exec(text)?.[1];
    const filled = (text: string) => [filledIn(text, 'from'), filledIn(text, 'to')];
    const first = await openPage();
    expect(filled(first.text)).toEqual([spans[0].from, spans[0].to]);
    // The fields are also filled for an administrator whose credential is too old for a download.
    const { cookie } = await addSession(app, admin.id, { authTime: new Date(Date.now() - 11 * 60_000) });
    for (const { from, to } of spans) {
      const query = `?from=${from}&to=${to}`;
      expect(first.text).toContain(`href="/admin/files${query.replace('&', '&amp;')}#books"`);
      const { status, headers, text } = await openPage(query, cookie);
      expect([status, headers.get('refresh')]).toEqual([200, null]);
      expect(filled(text)).toEqual([from, to]);
      expect(text.match(/aria-current="true"/g)).toHaveLength(
        spans.filter((span: { from: string; to: string }) => span.from === from && span.to === to).length,
      );
    }
    expect(filled((await openPage('?from=%22%3E%3Cb%3E&to=')).text)).toEqual([
      '&quot;&gt;&lt;b&gt;',
      spans[0].to,
    ]);
    expect(await listTaken()).toEqual([]);
  });

  it('asks for a credential first, for the file that was asked for', async () => {
    const { cookie } = await addSession(app, admin.id, { authTime: new Date(Date.now() - 11 * 60_000) });
    const { text } = await openPage('?file=tax.csv&from=2020-01-01&to=2020-01-31', cookie);
    expect(text).toMatch(/Confirm it’s you/);
    expect((await openPage('?file=none.csv', cookie)).text).toContain('value="people.csv"');
    const posted = await post({ file: 'people.csv' }, cookie);
    expect([posted.status, locationOf(posted).pathname]).toEqual([303, '/admin/files']);
    expect(await listTaken()).toEqual([]);
  });

  it('starts a download only where it led itself', async () => {
    const query = '?saved=download&file=tax.csv&from=2020-01-01&to=2020-01-31';
    const started = await app.send(`/admin/files${query}`, {
      cookie: admin.cookie,
      headers: { ...html, referer: `${app.config.baseUrl}/admin/files?file=tax.csv` },
    });
    expect(started.headers.get('refresh')).toBe('0; url=/admin/files/tax.csv?from=2020-01-01&to=2020-01-31');
    for (const referer of ['https://evil.example/', undefined]) {
      const headers = { ...html, ...(referer && { referer }) };
      const answer = await app.send(`/admin/files${query}`, { cookie: admin.cookie, headers });
      expect(answer.headers.get('refresh')).toBe(null);
    }
  });

  it('of the audit says who took what, and how much of it', async () => {
    await take('clients.csv');
    const { text } = await app.send('/admin/audit?kind=staff.exported', { cookie: admin.cookie });
    expect(text).toContain('Staff: downloaded: clients.csv, ');
  });
});
