// The page on which administrators accept the payments of a bank statement (contract 7.518, 7.519, 7.591, 7.596, 7.597 and 11.144).
import { sql } from 'kysely';
import { beforeAll, expect, it } from 'vitest';
import { type Answer, openApp } from '../support/app/app.ts';
import { retryWhileBusy, sendPatiently } from '../support/app/patience.ts';
import { bankSamples, camtEntry, encode, writeCamt } from '../support/billing/bank-samples.ts';
import {
  addContract,
  addInvoice,
  addOldInvoice,
  findFaultsInBooks,
  readInvoice,
  readUnallocated,
} from '../support/billing/money.ts';
import { setSettings } from '../support/billing/settings.ts';
import { addStaff } from '../support/people/staff.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(openApp);
let admin = '';
beforeAll(async () => {
  await setSettings(app.db);
  admin = (await addStaff(app)).cookie;
});

const path = '/admin/billing/import';

async function upload(
  bytes: Uint8Array | string,
  { cookie = admin, name = 'statement', hasLength = true } = {},
): Promise<Answer> {
  const form = new FormData();
  form.append(name, new File([typeof bytes === 'string' ? bytes : Uint8Array.from(bytes)], 'any.csv'));
  const request = new Request('http://localhost', { method: 'POST', body: form });
  const body = new Uint8Array(await request.arrayBuffer());
  const type = request.headers.get('content-type') ?? '';
  return app.send(path, {
    ...{ method: 'POST', cookie, body },
    headers: { 'content-type': type, ...(hasLength && { 'content-length': String(body.length) }) },
  });
}

const decode = (text: string) =>
  text
    .replaceAll('&quot;', '"')
    .replaceAll('&#x27;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');

/** Returns the fields of the form as a browser without script would send them. */
function fieldsOf({ text }: Answer): Record<string, string> {
  const fields: Record<string, string> = {};
  for (const [, name = '', value = ''] of text.matchAll(/name="(line-\d+)" value="([^"]*)"/g))
    fields[name] = decode(value);
  for (const [, name = '', options = ''] of text.matchAll(
    /<select[^>]*name="(to-\d+)"[^>]*>(.*?)<\/select>/gs,
  )) {
    const [, chosen = ''] =
      /value="([^"]*)" selected=""/.exec(options) ?? /value="([^"]*)"/.exec(options) ?? [];
    fields[name] = decode(chosen);
  }
  return fields;
}

const linesOf = (answer: Answer): { id: string; exact: string | null; reference: string }[] =>
  Object.entries(fieldsOf(answer)).flatMap(([name, value]) =>
    name.startsWith('line-') ? JSON.parse(value) : [],
  );

const post = (fields: Record<string, string>, which: string, more: Record<string, string> = {}) =>
  app.send(path, { cookie: admin, form: { ...fields, accept: which, why: 'Statement 2', ...more } });
const accept = (...form: Parameters<typeof post>) => retryWhileBusy(() => post(...form));

const countPayments = async () =>
  (await sql<{ count: number }>`select count(*)::int as count from payments`.execute(app.db)).rows[0]?.count;

it('proposes, does nothing before the click, then records all that match exactly, and each other one by itself', async () => {
  const [one, two] = [await addInvoice(app.db), await addInvoice(app.db)];
  const file = writeCamt(
    camtEntry(one.replaceAll('-', ' '), '34.51', { ref: '1' }),
    camtEntry(two, '30.00', { ref: '2' }),
    camtEntry('Danke &lt;b&gt;', '7.77', { ref: '3' }),
    camtEntry('Miete', '500.00', { ref: '4', sign: 'DBIT' }),
  );
  const before = await countPayments();
  const shown = await upload(file);
  expect([shown.status, await countPayments()]).toEqual([200, before]);
  expect(linesOf(shown).map(({ exact }) => exact)).toEqual([one, null, null]);
  expect(shown.text).toContain('Accept the one that matches exactly');
  expect(shown.text.replaceAll('<!-- -->', '')).toContain('1 paid out and about no invoice');
  expect(shown.text).not.toContain('Danke <b>');

  const noReason = await accept(fieldsOf(shown), 'all', { why: '' });
  expect([noReason.status, linesOf(noReason).length, await countPayments()]).toEqual([422, 3, before]);

  const first = await accept(fieldsOf(shown), 'all');
  expect(first.text).toContain('1 line is recorded.');
  expect(await readInvoice(app.db, one)).toMatchObject({ status: 'paid' });
  const rest = linesOf(first);
  expect(rest.map(({ reference }) => reference.split(' / ')[0])).toEqual([two, 'Danke <b>']);

  const second = await accept(fieldsOf(first), rest[0]?.id ?? '');
  expect(await readInvoice(app.db, two)).toMatchObject({ allocated: 3_000, status: 'open' });
  const third = await accept(fieldsOf(second), rest[1]?.id ?? '', { 'to-0': '' });
  expect(third.text).toContain('Nothing to decide');
  expect(await readUnallocated(app.db, rest[1]?.id ?? '')).toBe(777);
  // Sending the same form or the same file a second time records nothing.
  const again = await accept(fieldsOf(shown), 'all');
  expect([again.status, await countPayments()]).toEqual([200, (before ?? 0) + 3]);
  expect((await upload(file)).text.replaceAll('<!-- -->', '')).toContain('3 recorded before');
  const { rows } = await sql`select why, details->>'by' as by from audit_events
    where type = 'payment.recorded' and why = 'Statement 2'`.execute(app.db);
  expect(rows).toEqual(Array(3).fill({ why: 'Statement 2', by: 'staff' }));
  expect(await findFaultsInBooks(app.db)).toEqual([]);
});

it('keeps a return until its payment is accepted, which may be in the same file (contract 7.518)', async () => {
  const number = await addInvoice(app.db);
  const file = writeCamt(
    camtEntry(`Retoure ${number}`, '34.51', { ref: 'r1', sign: 'DBIT' }),
    camtEntry(number, '34.51', { ref: 'r2' }),
  );
  const shown = await upload(file);
  expect(linesOf(shown).map(({ exact }) => exact)).toEqual([null, number]);
  expect(shown.text).toContain('data-lacks-payment');
  const paid = await accept(fieldsOf(shown), 'all');
  expect(await readInvoice(app.db, number)).toMatchObject({ status: 'paid' });
  const [back] = linesOf(paid);
  expect([linesOf(paid).length, back?.exact]).toEqual([1, expect.stringMatching(/^bank:/)]);
  expect(paid.text).not.toContain('data-lacks-payment');
  await accept(fieldsOf(paid), 'all');
  expect(await readInvoice(app.db, number)).toMatchObject({ allocated: 0, status: 'open' });
  expect(await findFaultsInBooks(app.db)).toEqual([]);
});

it('proposes the invoice of the column for numbers, even a bare one, and pays nothing if told so', async () => {
  const old = await addOldInvoice(app.db, await addContract(app.db), { unitAmount: 1_357 });
  const number = await addInvoice(app.db);
  const other = await addInvoice(app.db);
  const file = [
    'number,amount,currency,date,reference',
    `${number.toLowerCase()},30.00,EUR,2026-01-01,`,
    `${old},13.57,EUR,2026-01-01,${other}`,
  ].join('\n');
  const shown = await upload(file);
  expect(linesOf(shown).map(({ exact }) => exact)).toEqual([null, old]);
  expect(fieldsOf(shown)).toMatchObject({ 'to-0': number, 'to-1': old });
  const [first, second] = linesOf(shown).map(({ id }) => id);
  await accept(fieldsOf(shown), first ?? '', { 'to-0': '' });
  expect(await readInvoice(app.db, number)).toMatchObject({ allocated: 0, status: 'open' });
  expect(await readUnallocated(app.db, first ?? '')).toBe(3_000);
  await accept(fieldsOf(shown), second ?? '');
  expect(await readUnallocated(app.db, second ?? '')).toBe(0);
});

it('pays no invoice of the own account of an administrator, not even by the column for numbers', async () => {
  const own = await addStaff(app);
  const number = await addInvoice(app.db, { email: own.email });
  const file = `number,amount,currency,date,reference\n${number},34.51,EUR,2026-01-02,`;
  const shown = await upload(file, { cookie: own.cookie });
  const [line] = linesOf(shown);
  const asked = { cookie: own.cookie, form: { ...fieldsOf(shown), accept: line?.id ?? '', why: 'Mine' } };
  expect((await retryWhileBusy(() => app.send(path, asked))).status).toBe(403);
  const none = { ...asked, form: { ...asked.form, 'to-0': '' } };
  expect((await retryWhileBusy(() => app.send(path, none))).status).toBe(200);
  expect(await readInvoice(app.db, number)).toMatchObject({ allocated: 0, status: 'open' });
  expect(await readUnallocated(app.db, line?.id ?? '')).toBe(3_451);
});

it('records each line once, if sixteen accept at once', async () => {
  const number = await addInvoice(app.db);
  const shown = await upload(
    writeCamt(camtEntry(number, '34.51', { ref: 'x' }), camtEntry(number, '34.51', { ref: 'y' })),
  );
  const before = await countPayments();
  const answers = await sendPatiently(Array.from({ length: 16 }, () => () => post(fieldsOf(shown), 'all')));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  expect(await readInvoice(app.db, number)).toMatchObject({ status: 'paid', allocated: 3_451 });
  expect(await countPayments()).toBe((before ?? 0) + 1);
});

it('gives a payment back that the bank has returned', async () => {
  const number = await addInvoice(app.db);
  await accept(fieldsOf(await upload(writeCamt(camtEntry(number, '34.51', { ref: 'in' })))), 'all');
  const shown = await upload(writeCamt(camtEntry(number, '34.51', { sign: 'DBIT', ref: 'out' })));
  expect(shown.text).toContain('Gives back a payment of');
  expect(fieldsOf(shown)['to-0']).toMatch(/^bank:/);
  for (const other of ['', number]) {
    const refused = await accept(fieldsOf(shown), linesOf(shown)[0]?.id ?? '', { 'to-0': other });
    expect([refused.status, await readInvoice(app.db, number)]).toMatchObject([409, { status: 'paid' }]);
  }
  await accept(fieldsOf(shown), linesOf(shown)[0]?.id ?? '');
  expect(await readInvoice(app.db, number)).toMatchObject({ status: 'open', allocated: 0 });
});

it('asks for a credential first, and keeps the lines', async () => {
  const number = await addInvoice(app.db);
  const shown = await upload(writeCamt(camtEntry(number, '34.51', { ref: 'later' })));
  await sql`update sessions set auth_time = now() - interval '11 minutes'`.execute(app.db);
  const asked = await accept(fieldsOf(shown), 'all');
  await sql`update sessions set auth_time = now()`.execute(app.db);
  const page =
    asked.status === 303 ? await app.send(asked.headers.get('location') ?? '', { cookie: admin }) : asked;
  expect(Object.keys(fieldsOf(page))).toContain('line-0');
  expect(await readInvoice(app.db, number)).toMatchObject({ allocated: 0 });
});

it.each([
  ['', /No line names the columns/],
  ['number,amount,currency,date,reference\n,1.234,56,EUR,morgen,a', /Line 2/],
  ['<!DOCTYPE a><a/>', /document type/],
  [
    `number,amount,currency,date,reference\n${Array.from({ length: 201 }, (_, at) => `,${at + 1}.00,EUR,2026-01-01,\n`).join('')}`,
    /201 new lines/,
  ],
])('refuses a file such as %j, and says why', async (text, words) => {
  const { status, text: page } = await upload(text);
  expect(status).toBe(422);
  expect(page).toMatch(words);
});

it('takes at most 200 outgoing lines that name an invoice, and any number of others', async () => {
  const number = await addInvoice(app.db);
  const out = (text: string, count: number) =>
    Array.from({ length: count }, (_, at) => camtEntry(text, `${at + 1}.00`, { sign: 'DBIT' }));
  expect((await upload(writeCamt(...out(number, 200), ...out('Miete', 200)))).status).toBe(200);
  const refused = await upload(writeCamt(...out(number, 201)));
  expect([refused.status, refused.text]).toEqual([422, expect.stringContaining('201 new lines')]);
});

it('names what is recorded already with the same amount and day', async () => {
  const csv = 'number,amount,currency,date,reference\n,3.33,EUR,2026-02-03,Danke';
  const [line] = linesOf(await upload(csv));
  await accept(fieldsOf(await upload(csv)), line?.id ?? '');
  const shown = await upload(writeCamt(camtEntry('Spende', '3.33'), camtEntry('Spende', '3.34')));
  expect(shown.text.match(/data-alike/g)).toHaveLength(1);
  expect(shown.text).toContain(`<bdi>${line?.id}</bdi>`);
});

it('takes a file of up to 2 MiB, and pages of people no more than before', async () => {
  const [sample] = bankSamples;
  const texts = { first: 'one', second: 'two' };
  const large = `${sample?.write(texts)}${'\r\n'.repeat(900_000)}`;
  expect((await upload(encode(large, 'windows-1252'))).status).toBe(200);
  expect((await upload('x'.repeat(2 * 1_024 * 1_024))).status).toBe(413);
  // Without its length, the body would be kept in memory before the service knows who sends it.
  expect((await upload('x'.repeat(70_000), { hasLength: false })).status).toBe(413);
  const other = { cookie: admin, form: { name: 'x'.repeat(70_000) } };
  expect((await app.send('/profile', other)).status).toBe(413);
});

it('is not there for managers and others, and refuses damaged lines', async () => {
  const manager = (await addStaff(app, 'manager')).cookie;
  expect((await app.send(path, { cookie: manager })).status).toBe(404);
  expect((await upload(writeCamt(), { cookie: manager })).status).toBe(404);
  expect((await accept({ 'line-0': '{}' }, 'all')).status).toBe(400);
  expect((await accept({}, 'all')).status).toBe(200);
  const shown = await upload(writeCamt(camtEntry('Danke', '1.23', { ref: 'odd' })));
  const changed = await accept(fieldsOf(shown), linesOf(shown)[0]?.id ?? '', { 'to-0': 'INV-1999-0001' });
  expect(changed.status).toBe(409);
});
