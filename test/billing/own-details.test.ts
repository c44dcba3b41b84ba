// Billing details: the person edits them, and signups fill them. A click in a mail proves the email address for invoices.
import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { findBillingDetails } from '../../db/tables/billing-details.ts';
import { endsWithPerson } from '../../server/billing/customers/ends-with-person.ts';
import { eraseUser } from '../../server/identity/person/erase-user.ts';
import { sendDueMails } from '../../server/mail/outbox.ts';
import { locationOf, openApp } from '../support/app/app.ts';
import { openBackend } from '../support/app/backend.ts';
import { runCli } from '../support/app/cli.ts';
import { retryWhileBusy, sendPatiently } from '../support/app/patience.ts';
import { openClient, refusalOf } from '../support/app/trpc.ts';
import { type Browser, fieldOf, logIn, openBrowser, textOf } from '../support/app/visitor.ts';
import { address, arrangeSeller } from '../support/billing/customers.ts';
import { idOf } from '../support/database/database.ts';
import { addPerson, addSession } from '../support/people/staff.ts';
import { shared } from '../support/run/shared.ts';

const owner = 'customer@example.test';
const page = '/profile/billing';
const html = { accept: 'text/html' };
// The sweep goes by the clock of the database. If this clock were in the past, the sweep would delete its tokens at any time.
const start = '2036-03-10T10:00:00Z';
const clock = { at: new Date(start) };

const now = () => clock.at;
const app = shared(() => openApp({ now }));
const mails = shared(() => openBackend({ databaseUrl: app.databaseUrl, now }));
const customers = shared(() => arrangeSeller(app, clock));
beforeAll(() => customers.setClock(start));
beforeEach(async () => {
  // `truncate` could wait for a job, while the job waits for it.
  for (const table of ['rate_limits', 'mail_tokens', 'mails', 'billing_details'])
    await sql`delete from ${sql.table(table)}`.execute(app.db);
});

const form = {
  intent: 'details',
  ...{ company: '', line1: '', line2: '', postcode: '', city: '', country: '', vatId: '', invoiceEmail: '' },
};
const whole = { ...form, ...address, company: 'Fleurs SARL', vatId: 'fr 83 404 833 048' };

const open = () => logIn(app.send, owner);
const post = (browser: Browser, fields: Record<string, string>) => browser.send(page, { form: fields });
const accountOf = async (email: string) =>
  (await sql<{ id: string }>`select account_id as id from users where email = ${email}`.execute(app.db))
    .rows[0]?.id ?? '';
const read = async (email = owner) => findBillingDetails(app.db, await accountOf(email));

async function save(fields: Record<string, string>, browser?: Browser): Promise<void> {
  const answer = await post(browser ?? (await open()), { ...form, ...fields });
  expect([answer.status, answer.headers.get('location')]).toEqual([303, `${page}?saved=details`]);
}

describe('the form (contract 7.230, 7.234 and 7.235)', () => {
  it('keeps what is right in its usual form, and the page shows it', async () => {
    const browser = await open();
    await save(whole, browser);
    expect(await read()).toMatchObject({
      company: 'Fleurs SARL',
      address,
      vatId: 'FR83404833048',
      hasCheckedVatId: false,
      editedHere: ['address', 'company', 'vatId'],
    });
    const shown = await browser.send(`${page}?saved=details`);
    expect(textOf(shown)).toContain('Saved.');
    expect(textOf(shown)).toMatch(/VAT ID FR83404833048 We have not checked .* Invoices go to/);
    const edited = await browser.send(`${page}?edit=details`);
    expect(fieldOf(edited, 'vatId').value).toBe('FR83404833048');
    expect(edited.text).toMatch(/<option value="FR" selected="">France/);
  });

  it.each([
    ['half an address', { line1: 'Somewhere 1' }, ['city', 'country', 'postcode']],
    ['no country that there is', { ...address, country: 'ZZ' }, ['country']],
    ['a line that is too long', { ...address, city: 'x'.repeat(101) }, ['city']],
    ['a VAT id of another country', { ...address, vatId: 'DE136695976' }, ['vatId']],
    [
      'a VAT id of another country, which is in small letters',
      { ...address, country: 'de', vatId: 'FR83404833048' },
      ['vatId'],
    ],
    ['a VAT id of the wrong form', { vatId: 'ATU1' }, ['vatId']],
    ['a long VAT id of elsewhere', { vatId: `CH${'1'.repeat(29)}` }, ['vatId']],
    ['a control character', { company: 'a\u0007b' }, ['company']],
    ['a noncharacter, which XML refuses', { company: 'a\uffffb' }, ['company']],
    ['a name of 201 characters', { company: 'x'.repeat(201) }, ['company']],
    ['an address that is none', { invoiceEmail: 'books' }, ['invoiceEmail']],
    [
      'all of it at once',
      { company: 'a\u0007b', city: 'x', vatId: 'ATU1' },
      ['company', 'country', 'line1', 'postcode', 'vatId'],
    ],
  ])('refuses %s, changes nothing, and asks for no credential', async (_, fields, wrong) => {
    await save(whole);
    await sql`update sessions set auth_time = auth_time - interval '1 hour'`.execute(app.db);
    const before = await read();
    const browser = await open();
    await sql`update sessions set auth_time = auth_time - interval '1 hour'`.execute(app.db);
    const client = openClient(app.send, browser.cookie());
    const { intent: _intent, ...given } = { ...form, ...fields };
    const refused = await refusalOf(client.billing.update.mutate(given));
    expect([refused.httpStatus, refused.problem]).toEqual([422, 'validation_failed']);
    expect(refused.errors?.map(({ pointer }) => pointer.slice(1)).sort()).toEqual(
      expect.arrayContaining(wrong),
    );
    const answer = await post(browser, { ...form, ...fields });
    expect(answer.status).toBe(422);
    for (const name of wrong.filter((each) => each !== 'country'))
      expect(fieldOf(answer, name).isInvalid).toBe(true);
    expect(await read()).toEqual(before);
  });

  it('takes a VAT id of any country that is not in the EU', async () => {
    await save({ ...address, country: 'CH', vatId: 'CHE-123.456.789 MWST' });
    expect((await read())?.vatId).toBe('CHE-123.456.789 MWST');
  });

  it('asks for a credential first, and is then sent with all its fields, however long they are', async () => {
    const browser = await open();
    await sql`update sessions set auth_time = auth_time - interval '11 minutes'`.execute(app.db);
    const long = {
      line1: 'ä'.repeat(100),
      line2: 'ö'.repeat(100),
      city: 'ü'.repeat(100),
      postcode: '1',
      country: 'FR',
    };
    const fields = { ...form, ...long, company: '漢'.repeat(200) };
    const asked = await browser.send(page, { form: fields, headers: html });
    expect([asked.status, textOf(asked)]).toEqual([
      401,
      expect.stringContaining('save your billing details'),
    ]);
    expect(await read()).toBeUndefined();
    const again = Object.fromEntries(
      [...asked.text.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g)].map(
        ([, name, value]) => [name, value],
      ),
    ) as Record<string, string>;
    expect(again).toEqual(fields);
    const done = await browser.send(page, { form: { ...again, confirmPassword: 'local demo password' } });
    expect(done.status).toBe(303);
    expect(await read()).toMatchObject({ company: '漢'.repeat(200), address: { city: 'ü'.repeat(100) } });
  });

  it('is refused to programs without a credential of the last ten minutes', async () => {
    const browser = await open();
    await sql`update sessions set auth_time = auth_time - interval '11 minutes'`.execute(app.db);
    const client = openClient(app.send, browser.cookie());
    expect(await refusalOf(client.billing.update.mutate({ company: 'x' }))).toMatchObject({
      httpStatus: 401,
      problem: 'login_required',
    });
  });

  it('leaves what a program does not name, and counts nothing that changes nothing', async () => {
    const client = openClient(app.send, (await open()).cookie());
    await client.billing.update.mutate({ ...address, company: 'One' });
    for (let nth = 0; nth < 40; nth++) await client.billing.update.mutate({ company: 'One' });
    await client.billing.update.mutate({ vatId: 'FR83404833048' });
    expect(await client.billing.details.query()).toEqual({
      ...{ company: 'One', address, vatId: 'FR83404833048', hasCheckedVatId: false },
      ...{ hasRefusedVatId: false, isVatIdOpen: true },
      ...{ invoiceEmail: null, hasProvedInvoiceEmail: false, ignored: [] },
      ...{ country: 'FR', isCountryUnread: false, waiting: null },
    });
  });

  it('loses nothing if 16 programs give one member each at once, and notes what each changed', async () => {
    const { cookie } = await addSession(app, await idOf(app.db, owner), { authTime: clock.at });
    const client = openClient(app.send, cookie);
    await client.billing.update.mutate({ ...address, country: 'CH', company: 'Old', vatId: 'CHE-1' });
    await sql`update billing_details set edited_here = '{}'`.execute(app.db);
    const { rows: before } = await sql`select from audit_events where type = 'billing.updated'`.execute(
      app.db,
    );
    const invoiceEmail = 'sixteen@fleurs.example.com';
    const given = [
      ...[{ company: 'New' }, { vatId: 'CHE-2' }, { invoiceEmail }, { line1: 'New Street 1' }],
      ...[{ line2: 'Door 2' }, { postcode: '0150' }, { city: 'Oslo' }, { country: 'NO' }],
    ];
    await Promise.all([...given, ...given].map((member) => client.billing.update.mutate(member)));
    expect(await read()).toMatchObject({
      ...{ company: 'New', vatId: 'CHE-2', invoiceEmail },
      address: { line1: 'New Street 1', line2: 'Door 2', postcode: '0150', city: 'Oslo', country: 'NO' },
    });
    const { rows } = await sql<{ changed: string[] }>`select details->'changed' as changed from audit_events
      where type = 'billing.updated' order by at desc, id desc limit ${8}`.execute(app.db);
    expect(rows.map(({ changed }) => changed.join()).sort()).toEqual(
      [...Array(5).fill('address'), 'company', 'invoiceEmail', 'vatId'].sort(),
    );
    const { rows: after } = await sql`select from audit_events where type = 'billing.updated'`.execute(
      app.db,
    );
    expect(after.length - before.length).toBe(8);
    expect(await listMailsTo(invoiceEmail)).toEqual(['invoice_email']);
  });

  it('says that the address for invoices waits, and of no email that it did not send', async () => {
    const browser = await open();
    const invoiceEmail = 'waiting@fleurs.example.com';
    await save({ ...whole, invoiceEmail }, browser);
    await save({ ...whole, company: 'Other', invoiceEmail }, browser);
    expect(await listMailsTo(invoiceEmail)).toEqual(['invoice_email']);
    const said = textOf(await browser.send(`${page}?saved=details`));
    expect(said).toContain(`Saved.`);
    expect(said).toContain(`${invoiceEmail} gets no invoices yet`);
    expect(said).toContain(`Invoices go to ${owner} `);
    expect(said).not.toContain('We have sent');
    // An email address that was removed from the form gets no mail.
    await save(whole, browser);
    expect(textOf(await browser.send(`${page}?saved=mail-invoice-email`))).not.toContain('We have sent');
  });

  it('is shown only with a contract, a document or a detail (contract 7.430)', async () => {
    const browser = await logIn(app.send, 'merchant@example.test');
    const { text } = await browser.send(page);
    expect([text.includes('No contracts or invoices yet'), text.includes('name="vatId"')]).toEqual([
      true,
      false,
    ]);
    await openClient(app.send, browser.cookie()).billing.update.mutate({ company: 'x' });
    const shown = await browser.send(page);
    expect(textOf(shown)).toContain('Billing details');
    // Contract 7.468.
    expect(shown.text).not.toContain('name="vatId"');
    expect((await browser.send(`${page}?edit=details`)).text).toContain('name="vatId"');
  });

  it('stays open after a mistake, with what was typed, and closes once it is saved (contract 7.468)', async () => {
    const browser = await open();
    await save({ ...form, company: 'First' }, browser);
    const edits = `${page}?edit=details`;
    const wrong = await browser.send(edits, {
      form: { ...form, city: 'Typed', vatId: 'FR1' },
      headers: html,
    });
    const shown = wrong.status === 303 ? await browser.send(wrong.headers.get('location') ?? '') : wrong;
    expect(shown.text).toMatch(/name="city"[^>]*value="Typed"/);
    const right = await browser.send(edits, { form: { ...form, company: 'Closed' } });
    expect([right.status, right.headers.get('location')]).toEqual([303, `${page}?saved=details`]);
    const { text } = await browser.send(`${page}?saved=details`);
    expect([text.includes('Closed'), text.includes('name="city"')]).toEqual([true, false]);
  });

  it('is shown to nobody whose address is not proved, and changes nothing for them', async () => {
    const email = 'unverified@example.test';
    const browser = await logIn(app.send, email);
    expect(textOf(await browser.send(page))).toContain('Verify your email address first');
    expect((await browser.send(page)).text).not.toContain('name="vatId"');
    expect((await post(browser, { ...form, company: 'x' })).status).toBe(403);
    const client = openClient(app.send, browser.cookie());
    for (const call of [
      () => client.billing.details.query(),
      () => client.billing.update.mutate({ company: 'x' }),
    ])
      expect(await refusalOf(call())).toMatchObject({ httpStatus: 403, problem: 'email_unverified' });
    expect(await read(email)).toBeUndefined();
  });
});

describe('a VAT id', () => {
  const check = async (vatId: string) =>
    sql`update billing_details set checked_vat_id = ${vatId} where account_id = ${await accountOf(owner)}`.execute(
      app.db,
    );

  const categoryOf = async (signupId: string) => {
    await customers.report(signupId);
    await customers.bill();
    const { rows } = await sql<{
      category: string;
    }>`select category from documents order by issued_at desc, number desc
      limit 1`.execute(app.db);
    return rows[0]?.category;
  };

  it('that is changed is no longer checked, even if it is changed back (contract 7.241)', async () => {
    const browser = await open();
    await save(whole, browser);
    await check('FR83404833048');
    await save({ ...whole, company: 'Other' }, browser);
    expect((await read())?.hasCheckedVatId).toBe(true);
    expect(textOf(await browser.send(page))).toContain('We have checked this VAT ID.');
    await save({ ...whole, vatId: 'FR23334175221' }, browser);
    await save(whole, browser);
    expect(await read()).toMatchObject({ vatId: 'FR83404833048', hasCheckedVatId: false });
  });

  it('of no country is kept as it is without an address, reverses no tax, and is refused with an address in the EU', async () => {
    const browser = await open();
    await save({ vatId: 'wrong' }, browser);
    await check('wrong');
    expect(await read()).toMatchObject({ vatId: 'wrong', hasCheckedVatId: true });
    expect(await categoryOf('of-no-country')).toBe('S');
    expect((await post(browser, { ...form, ...address, vatId: 'wrong' })).status).toBe(422);
  });

  it('counts for reverse charge only while it is checked', async () => {
    await customers.giveDetails(owner, 'Fleurs SARL', 'FR83404833048');
    expect(await categoryOf('unchecked')).toBe('S');
    await check('FR83404833048');
    expect(await categoryOf('checked')).toBe('AE');
  });
});

describe('a signup (contract 7.236 to 7.238)', () => {
  const billing = { company: 'From the CRM', address, vat_id: 'FR83404833048', more: { unknown: true } };

  let arrived = 0;
  /** Makes a customer by a signup, and gives them the password of the demo users. */
  async function arrive(signupId: string, given?: unknown) {
    const email = `arrived-${++arrived}@example.test`;
    const answer = await customers.report(signupId, { email, billing: given });
    await sql`update users set email_verified_at = now(),
      password_hash = (select password_hash from users where email = ${owner}) where email = ${email}`.execute(
      app.db,
    );
    return { email, answer };
  }

  it('fills nothing of an account that was there before, and says so', async () => {
    const answer = await customers.report('stranger', {
      billing: { ...billing, invoice_email: 'thief@example.com' },
    });
    expect([answer.applied, answer.ignored]).toEqual([true, ['/account/billing']]);
    expect(await read()).toBeUndefined();
    expect(await listMailsTo('thief@example.com')).toEqual([]);
    // A later report does not fill the details. Nor does a signup that did not make the account.
    expect((await customers.report('stranger', { billing })).ignored).toEqual(['/account/billing']);
    const { email } = await arrive('made-it', billing);
    const later = await customers.report('not-this-one', { email, billing: { company: 'Thief' } });
    expect(later.ignored).toEqual(['/account/billing']);
    expect(await read(email)).toMatchObject({ company: 'From the CRM', ignored: [] });
  });

  it('fills the details, again with each later report that is stored (contract 7.599)', async () => {
    const { email, answer } = await arrive('fills', billing);
    expect(answer).not.toHaveProperty('ignored');
    expect(await read(email)).toMatchObject({
      company: 'From the CRM',
      address,
      vatId: 'FR83404833048',
      editedHere: [],
    });
    await customers.report('fills', { email, billing: { company: 'Renamed', vat_id: null } });
    expect(await read(email)).toMatchObject({ company: 'Renamed', address, vatId: 'FR83404833048' });
    await customers.report('fills', { email });
    expect(await read(email)).toMatchObject({ company: 'Renamed', address });
    const trial = { status: 'trialing', trial_ends_at: '2036-05-01T00:00:00.000Z' };
    const refused = await customers.report('fills', { email, contract: trial, billing });
    expect([refused.applied, refused.reason]).toEqual([false, 'not_allowed']);
    expect(await read(email)).toMatchObject({ company: 'Renamed', address });
  });

  it('changes nothing that was edited here, field by field', async () => {
    const { email } = await arrive('wins', billing);
    await save({ ...whole, company: '' }, await logIn(app.send, email));
    await customers.report('wins', {
      email,
      billing: { company: 'Again', address: { ...address, city: 'Lyon' }, vat_id: 'FR23334175221' },
    });
    expect(await read(email)).toMatchObject({
      company: null,
      address: { city: 'Lyon' },
      vatId: 'FR23334175221',
      editedHere: ['company'],
    });
  });

  it('still corrects what an administrator who edited something else left as it was (contract 7.240 and 7.600)', async () => {
    const { email } = await arrive('edited', { ...billing, vat_id: 'DE136695976' });
    const ignored = ['/account/billing/vat_id'];
    expect(await read(email)).toMatchObject({ vatId: null, ignored });
    const edit = ['billing-details:edit', email, '--company', 'By support', '--why', 'Called back'];
    expect(await runCli(app.databaseUrl, edit)).toMatchObject({ code: 0 });
    expect(await read(email)).toMatchObject({ company: 'By support', editedHere: ['company'], ignored });
    await customers.report('edited', { email, billing });
    expect(await read(email)).toMatchObject({
      company: 'By support',
      vatId: 'FR83404833048',
      ignored: [],
    });
  });

  /** The people in the list that staff see, and the faults in the details of each. */
  const listIgnored = async () => {
    const staff = openClient(app.send, await app.login('admin@example.test'));
    const { ignored } = await staff.admin.billing.summary.query();
    return ignored.map(({ userId, ignored: pointers }) => [userId, pointers]);
  };

  it('that brings another VAT id leaves it unchecked, and checked with the same one', async () => {
    const { email } = await arrive('rechecked', billing);
    await sql`update billing_details set checked_vat_id = vat_id`.execute(app.db);
    await customers.report('rechecked', { email, billing: { vat_id: 'fr 83404833048' } });
    expect(await read(email)).toMatchObject({ hasCheckedVatId: true });
    await customers.report('rechecked', { email, billing: { vat_id: 'FR23334175221' } });
    await customers.report('rechecked', { email, billing });
    expect(await read(email)).toMatchObject({ vatId: 'FR83404833048', hasCheckedVatId: false });
  });

  it('does not change what was left out once the person has saved the form (contract 7.240)', async () => {
    const { email } = await arrive('decided', { company: 'From the CRM', vat_id: 'ATU1' });
    await save({ company: 'From the CRM' }, await logIn(app.send, email));
    await customers.report('decided', { email, billing: { company: 'Renamed', vat_id: 'FR83404833048' } });
    expect(await read(email)).toMatchObject({ company: 'Renamed', vatId: null, ignored: [] });
  });

  it('whose address for invoices could not be read may name another, which waits though the form was saved (contract 7.240)', async () => {
    const { email } = await arrive('unread-email', { invoice_email: 'a b' });
    const browser = await logIn(app.send, email);
    await save({ company: 'Mine' }, browser);
    expect(await read(email)).toMatchObject({ ignored: [], editedHere: ['company'] });
    const invoice_email = 'later@fleurs.example.com';
    await customers.report('unread-email', { email, billing: { invoice_email } });
    expect(await read(email)).toMatchObject({ invoiceEmail: invoice_email, isInvoiceEmailUndecided: true });
  });

  it('with a value that does not fit stops nobody from saving the rest', async () => {
    const invoice_email = 'misfit@fleurs.example.com';
    const { email } = await arrive('misfit', { vat_id: 'FR83404833048', invoice_email });
    await sql`update billing_details set tax_country = 'DE' where account_id = ${await accountOf(email)}`.execute(
      app.db,
    );
    const browser = await logIn(app.send, email);
    expect((await post(browser, { intent: 'own-invoice-email', invoiceEmail: invoice_email })).status).toBe(
      303,
    );
    const client = openClient(app.send, browser.cookie());
    await client.billing.update.mutate({ company: 'Mine' });
    expect(await read(email)).toMatchObject({
      ...{ company: 'Mine', invoiceEmail: null, vatId: 'FR83404833048', country: 'DE' },
    });
    for (const given of [{ country: 'DE' }, { vatId: 'FR83404833048' }])
      expect((await refusalOf(client.billing.update.mutate(given))).errors).toMatchObject([
        { pointer: '/vatId' },
      ]);
  });

  it.each([
    ['a VAT id of another country', { address, vat_id: 'DE136695976' }, ['/account/billing/vat_id']],
    ['a VAT id that is no text', { vat_id: 7 }, ['/account/billing/vat_id']],
    ['an address without a city', { address: { ...address, city: undefined } }, ['/account/billing/address']],
    ['an address that is a list', { address: ['a'] }, ['/account/billing/address']],
    [
      'everything',
      { company: '\u0000', address: { country: 'xx' }, vat_id: '?'.repeat(40), invoice_email: 'a b' },
      ['company', 'address', 'vat_id', 'invoice_email'].map((name) => `/account/billing/${name}`),
    ],
    ['billing that is no object', 'none', ['/account/billing']],
  ])('is taken with %s, which is left out, said and listed', async (what, wrong, pointers) => {
    const { email, answer } = await arrive(`wrong-${what.replaceAll(/\W/g, '-')}`, wrong);
    expect([answer.applied, answer.ignored]).toEqual([true, pointers]);
    expect(await listIgnored()).toEqual([[await idOf(app.db, email), [...pointers].sort()]]);
    const browser = await logIn(app.send, email);
    expect(textOf(await browser.send(page))).toContain('that we could not use');
    // Saving the form clears the list of faults. This country leaves the tax as it is, because a change of the tax would wait
    // for an administrator.
    await save({ ...whole, country: 'DE', vatId: '' }, browser);
    expect(await listIgnored()).toEqual([]);
  });

  it('with a right value later clears the list of faults', async () => {
    const { email } = await arrive('mends', { address, vat_id: 'wrong' });
    await customers.report('mends', { email, billing: { vat_id: 'FR83404833048' } });
    expect(await read(email)).toMatchObject({ vatId: 'FR83404833048', ignored: [] });
  });

  it('that does not count fills nothing', async () => {
    const email = 'ended@example.test';
    await customers.report('ended', { email, contract: { status: 'canceled' } });
    const answer = await customers.report('ended', { email, billing: { vat_id: 'wrong', company: 'Late' } });
    expect(answer).toMatchObject({ applied: false, reason: 'ended' });
    expect(answer).not.toHaveProperty('ignored');
    expect(await read(email)).toBeUndefined();
  });

  it('makes two mails a day to one address for invoices, whichever accounts name it (contract 7.244)', async () => {
    const invoice_email = 'wanted@fleurs.example.com';
    for (const nth of [1, 2, 3]) {
      const { email } = await arrive(`wanted-${nth}`, { invoice_email });
      expect(await read(email)).toMatchObject({ invoiceEmail: invoice_email, provedInvoiceEmail: null });
    }
    expect(await listMailsTo(invoice_email)).toEqual(['invoice_email', 'invoice_email']);
  });

  it('fills the details once if 16 copies arrive at once, and mails the address for invoices once', async () => {
    const invoiceEmail = 'accounts@fleurs.example.com';
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, nth) =>
        customers.report(`many-${nth}`, {
          email: 'many@example.test',
          billing: { ...billing, invoice_email: invoiceEmail },
        }),
      ),
    );
    expect(answers.map(({ applied }) => applied)).toEqual(Array(16).fill(true));
    // Only the signup that made the account fills the details.
    expect(answers.filter(({ ignored }) => ignored === undefined)).toHaveLength(1);
    expect(await read('many@example.test')).toMatchObject({
      company: 'From the CRM',
      invoiceEmail,
      provedInvoiceEmail: null,
    });
    expect(await listMailsTo(invoiceEmail)).toEqual(['invoice_email']);
  });
});

const listMailsTo = async (recipient: string) =>
  (
    await sql<{ kind: string }>`select kind from mails where recipient = ${recipient}`.execute(app.db)
  ).rows.map(({ kind }) => kind);

/** Sends the mails, and returns the paths of the links that were mailed to that email address, oldest first. */
const readLinks = (recipient: string) =>
  readMail(recipient, 'invoice_email', /\/invoice-email\/confirm\?token=[\w-]{43}/);

async function readMail(recipient: string, kind: string, link: RegExp): Promise<string[]> {
  await sendDueMails(mails.backend.deps, undefined, new AbortController().signal);
  await expect
    .poll(async () => {
      const { rows } =
        await sql`select from mails where recipient = ${recipient} and kind = ${kind} and sent_at is null`.execute(
          app.db,
        );
      return rows.length;
    })
    .toBe(0);
  const { rows } = await sql<{ text: string }>`select kept_text as text from mails
    where recipient = ${recipient} and kind = ${kind} order by created_at, id`.execute(app.db);
  return rows.map(({ text }) => link.exec(text)?.[0] ?? '');
}

describe('an address for invoices (contract 7.242 to 7.244)', () => {
  const books = 'books@fleurs.example.com';
  const buyerEmail = async (signupId: string) => {
    await customers.report(signupId);
    await customers.bill();
    const { rows } = await sql<{ email: string }>`select facts #>> '{buyer,email}' as email from documents d
      join invoices i on i.number = d.invoice join service_contracts c on c.id = i.contract_id
      where c.signup_id = ${signupId} order by d.issued_at desc limit 1`.execute(app.db);
    return rows[0]?.email;
  };

  it('counts after a click there, in any browser, once', async () => {
    const browser = await open();
    await save({ ...whole, invoiceEmail: 'Books@Fleurs.example.com' }, browser);
    expect(textOf(await browser.send(page))).toContain(`${books} gets no invoices yet`);
    expect(await buyerEmail('before-click')).toBe(owner);
    const [link = ''] = await readLinks(books);
    const stranger = openBrowser(app.send);
    const shown = await stranger.send(link);
    expect([shown.status, textOf(shown)]).toEqual([200, expect.stringContaining(books)]);
    expect(shown.headers.get('referrer-policy')).toBe('no-referrer');
    // The page says nothing about the account.
    for (const secret of [owner, 'Fleurs SARL', 'FR83404833048']) expect(textOf(shown)).not.toContain(secret);
    expect((await read())?.provedInvoiceEmail).toBeNull();
    const clicks = await sendPatiently(
      Array.from({ length: 16 }, () => () => stranger.send(link, { form: {} })),
    );
    expect(clicks.map(({ status }) => status).sort()).toEqual([303, ...Array(15).fill(404)]);
    expect((await read())?.provedInvoiceEmail).toBe(books);
    const again = await stranger.send(link);
    expect([again.status, textOf(again)]).toEqual([
      404,
      expect.stringContaining('You have already used this link'),
    ]);
    expect(await buyerEmail('after-click')).toBe(books);
    const said = textOf(await browser.send(page));
    expect(said).not.toContain('gets no invoices yet');
    expect(said).toContain(`Invoices go to ${books} `);
  });

  it('that is one’s own needs no mail', async () => {
    await save({ ...whole, invoiceEmail: owner });
    expect(await listMailsTo(owner)).not.toContain('invoice_email');
    expect((await read())?.provedInvoiceEmail).toBe(owner);
  });

  it('that is changed is not proved, and the link to the one before does not work', async () => {
    const browser = await open();
    await save({ ...whole, invoiceEmail: books }, browser);
    const [link = ''] = await readLinks(books);
    await save({ ...whole, invoiceEmail: 'other@fleurs.example.com' }, browser);
    expect((await openBrowser(app.send).send(link, { form: {} })).status).toBe(404);
    const [other = ''] = await readLinks('other@fleurs.example.com');
    expect((await openBrowser(app.send).send(other, { form: {} })).status).toBe(303);
    await save({ ...whole, invoiceEmail: books }, browser);
    expect(await read()).toMatchObject({ invoiceEmail: books, provedInvoiceEmail: null });
  });

  it('keeps its link when the person sets a password, as new customers do (contract 9.120)', async () => {
    await save({ ...whole, invoiceEmail: books });
    const [link = ''] = await readLinks(books);
    await sql`update mail_tokens set ended = null`.execute(app.db);
    const client = openClient(app.send, (await open()).cookie());
    await client.profile.changePassword.mutate({
      currentPassword: 'local demo password',
      newPassword: 'seven quiet lanterns',
    });
    expect((await openBrowser(app.send).send(link)).status).toBe(200);
    await sql`update users set password_hash = (select password_hash from users where email = 'merchant@example.test')
      where email = ${owner}`.execute(app.db);
  });

  it('gets no text that anybody typed, and no more mails than any other address', async () => {
    const victim = 'victim@elsewhere.example.com';
    const browser = await open();
    let refusals = 0;
    for (let nth = 0; nth < 8; nth++) {
      const typed = { ...whole, company: `BUY NOW http://evil.example ${nth}` };
      const answer = await post(browser, { ...typed, invoiceEmail: victim });
      if (answer.status === 429) refusals++;
      else {
        await readLinks(victim);
        await post(browser, { ...typed, invoiceEmail: '' });
      }
    }
    expect(refusals).toBe(3);
    // A request to mail the link a second time counts, too.
    expect((await post(browser, { intent: 'mail-invoice-email' })).status).toBeLessThan(430);
    await readLinks(victim);
    const { rows } = await sql<{
      said: string;
    }>`select concat(kept_subject, kept_text, kept_html) as said from mails
      where recipient = ${victim}`.execute(app.db);
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.length).toBeLessThanOrEqual(5);
    for (const { said } of rows) {
      expect(said).not.toMatch(/evil|BUY NOW|Fleurs|Zoë/);
      expect(said).toContain('the invoices from Blumen GmbH for an account with Identity');
    }
  });

  it('has a link of seven days', async () => {
    await save({ ...whole, invoiceEmail: books });
    const [link = ''] = await readLinks(books);
    const { rows } = await sql<{
      at: Date;
    }>`select created_at as at from mails where recipient = ${books}`.execute(app.db);
    const asked = rows[0]?.at.getTime() ?? 0;
    try {
      await customers.setClock(new Date(asked + 7 * 24 * 3_600_000 - 1_000).toISOString());
      expect((await openBrowser(app.send).send(link)).status).toBe(200);
      await customers.setClock(new Date(asked + 7 * 24 * 3_600_000 + 1_000).toISOString());
      expect((await openBrowser(app.send).send(link, { form: {} })).status).toBe(404);
      expect((await read())?.provedInvoiceEmail).toBeNull();
    } finally {
      await customers.setClock(start);
    }
  });

  it('is mailed again on request, which ends the link before (contract 11.143)', async () => {
    const browser = await open();
    await save({ ...whole, invoiceEmail: books }, browser);
    const [first = ''] = await readLinks(books);
    const answer = await post(browser, { intent: 'mail-invoice-email' });
    expect(locationOf(answer).search).toBe('?saved=mail-invoice-email');
    const [, second = ''] = await readLinks(books);
    expect((await openBrowser(app.send).send(first, { form: {} })).status).toBe(404);
    expect((await openBrowser(app.send).send(second, { form: {} })).status).toBe(303);
  });

  /** Adds another person to the owner's account, with the password of the demo users. */
  async function addColleague(): Promise<string> {
    const colleague = await addPerson(app);
    await sql`update users set account_id = ${await accountOf(owner)},
      password_hash = (select password_hash from users where email = ${owner}) where id = ${colleague.id}`.execute(
      app.db,
    );
    return colleague.email;
  }

  const told = async () =>
    (
      await sql<{ recipient: string }>`select recipient from mails where kind = 'invoice_email_changed'
        order by recipient`.execute(app.db)
    ).rows.map(({ recipient }) => recipient);

  it('is announced to everybody in the account each time it is given, changed or removed (contract 7.262)', async () => {
    const colleague = await addColleague();
    const browser = await open();
    await save({ ...whole, invoiceEmail: books }, browser);
    const both = [colleague, owner].sort();
    expect(await told()).toEqual(both);
    await save({ ...whole, company: 'Other', invoiceEmail: books }, browser);
    expect(await told()).toEqual(both);
    await save({ ...whole, invoiceEmail: 'other@fleurs.example.com' }, browser);
    await save({ ...whole, invoiceEmail: '' }, browser);
    expect(await told()).toEqual([...both, ...both, ...both].sort());
    await readLinks(books);
    const { rows } = await sql<{ text: string }>`select kept_text as text from mails
      where kind = 'invoice_email_changed'`.execute(app.db);
    for (const { text } of rows) expect(text).not.toMatch(/fleurs/i);
    await sql`delete from users where email = ${colleague}`.execute(app.db);
  });

  it('has one link that works, no matter who in the account asked for it', async () => {
    const colleague = await addColleague();
    const browser = await open();
    await save({ ...whole, invoiceEmail: books }, browser);
    const [first = ''] = await readLinks(books);
    const other = await logIn(app.send, colleague);
    expect((await post(other, { intent: 'mail-invoice-email' })).status).toBe(303);
    const [, second = ''] = await readLinks(books);
    expect((await openBrowser(app.send).send(first, { form: {} })).status).toBe(404);
    await save({ ...whole, invoiceEmail: 'other@fleurs.example.com' }, browser);
    await save({ ...whole, invoiceEmail: books }, browser);
    expect((await openBrowser(app.send).send(second, { form: {} })).status).toBe(404);
    const [, , third = ''] = await readLinks(books);
    // The newest request ends earlier links, even if the mails with those links are still to be sent.
    await post(other, { intent: 'mail-invoice-email' });
    await post(browser, { intent: 'mail-invoice-email' });
    const links = await readLinks(books);
    expect(links.slice(0, 3)).toEqual([first, second, third]);
    for (const ended of links.slice(0, -1))
      expect((await openBrowser(app.send).send(ended, { form: {} })).status).toBe(404);
    expect((await openBrowser(app.send).send(links.at(-1) ?? '', { form: {} })).status).toBe(303);
    await sql`delete from users where email = ${colleague}`.execute(app.db);
  });

  it('is removed by a password set by mail within 30 days, with its link, and everybody hears of it (contract 7.262 and 7.263)', async () => {
    const setPassword = async () => {
      await openBrowser(app.send).send('/forgot-password', { form: { email: owner } });
      const links = await readMail(owner, 'set_password', /\/[\w/-]+\?token=[\w-]{43}/);
      const answer = await openBrowser(app.send).send(links.at(-1) ?? '', {
        form: { newPassword: 'seven quiet lanterns' },
      });
      expect(answer.status).toBe(303);
      await sql`update users set password_hash = (select password_hash from users where email = 'merchant@example.test')
        where email = ${owner}`.execute(app.db);
    };
    await save({ ...whole, invoiceEmail: books });
    const [link = ''] = await readLinks(books);
    expect((await openBrowser(app.send).send(link, { form: {} })).status).toBe(303);
    await sql`delete from mails`.execute(app.db);
    await setPassword();
    expect(await read()).toMatchObject({ company: 'Fleurs SARL', invoiceEmail: null });
    expect(await told()).toEqual([owner]);
    expect(await buyerEmail('after-password')).toBe(owner);
    // Setting the password removes an invoice email address that waits for its link, too. An address that was given 31 days ago
    // stays.
    await save({ ...whole, invoiceEmail: books });
    const [waiting = ''] = await readLinks(books);
    await setPassword();
    expect((await openBrowser(app.send).send(waiting, { form: {} })).status).toBe(404);
    await save({ ...whole, invoiceEmail: books });
    await sql`update billing_details set invoice_email_edited_at = ${new Date(clock.at.getTime() - 31 * 86_400_000)}`.execute(
      app.db,
    );
    await setPassword();
    expect((await read())?.invoiceEmail).toBe(books);
  });

  describe('that a signup named', () => {
    let nth = 0;
    /** Makes a customer by a stranger's signup. The customer sets their first password by the link in its mail. */
    async function arrive() {
      const email = `victim-${++nth}@example.test`;
      const invoiceEmail = `thief-${nth}@example.com`;
      await customers.report(`victim-${nth}`, {
        email,
        billing: { company: 'Thief', invoice_email: invoiceEmail },
      });
      const [proof = ''] = await readLinks(invoiceEmail);
      expect((await openBrowser(app.send).send(proof, { form: {} })).status).toBe(303);
      const toldOfProof = await told();
      const browser = openBrowser(app.send);
      const [welcome = ''] = await readMail(email, 'welcome', /\/[\w/-]+\?token=[\w-]{43}/);
      const answer = await browser.send(welcome, { form: { newPassword: 'seven quiet lanterns' } });
      expect(answer.status).toBe(303);
      return { email, invoiceEmail, browser, toldOfProof };
    }
    const waits = async ({ email }: { email: string }) => (await read(email))?.isInvoiceEmailUndecided;
    const answer = (browser: Browser, intent: string, invoiceEmail: string) =>
      post(browser, { intent, invoiceEmail });

    it('is told of as it is proved, waits, and the person is asked on their pages (contract 7.262, 7.400 and 7.402)', async () => {
      const { email, invoiceEmail, browser, toldOfProof } = await arrive();
      expect(toldOfProof).toEqual([email]);
      expect(await waits({ email })).toBe(true);
      for (const path of ['/profile', page]) {
        const shown = await browser.send(path);
        expect(textOf(shown)).toContain(`named ${invoiceEmail} as the address for your invoices`);
        expect(shown.text).toContain('value="keep-invoice-email"');
      }
      // Saving the form decides nothing if it leaves the email address as it was.
      await save({ company: 'Mine', invoiceEmail }, browser);
      expect(await waits({ email })).toBe(true);
    });

    it('is removed by “Send them to me”, and no signup puts it back', async () => {
      const { email, invoiceEmail, browser } = await arrive();
      const { status, headers } = await answer(browser, 'own-invoice-email', invoiceEmail);
      expect([status, headers.get('location')]).toEqual([303, `${page}?saved=own-invoice-email`]);
      expect(textOf(await browser.send(`${page}?saved=own-invoice-email`))).toContain(
        'Your invoices go to you.',
      );
      expect(await read(email)).toMatchObject({ invoiceEmail: null, editedHere: ['invoiceEmail'] });
      await customers.report(`victim-${nth}`, { email, billing: { invoice_email: invoiceEmail } });
      expect((await read(email))?.invoiceEmail).toBeNull();
      expect((await browser.send('/profile')).text).not.toContain('keep-invoice-email');
    });

    it('is kept once, by sixteen clicks at once, and told of once (contract 7.262 and 7.403)', async () => {
      const { email, invoiceEmail, browser } = await arrive();
      await sql`delete from mails`.execute(app.db);
      const answers = await Promise.all(
        Array.from({ length: 16 }, () => answer(browser, 'keep-invoice-email', invoiceEmail)),
      );
      expect(answers.map(({ status }) => status)).toEqual(Array(16).fill(303));
      expect(await told()).toEqual([email]);
      const kept = await read(email);
      expect(kept).toMatchObject({
        invoiceEmail,
        provedInvoiceEmail: invoiceEmail,
        editedHere: ['invoiceEmail'],
      });
      expect(kept?.invoiceEmailEditedAt).toEqual(clock.at);
      expect((await browser.send('/profile')).text).not.toContain('keep-invoice-email');
    });

    it('is not kept if another has replaced it, by a stranger, or without a credential', async () => {
      const { email, invoiceEmail, browser } = await arrive();
      expect((await answer(browser, 'keep-invoice-email', 'other@example.com')).status).toBe(409);
      expect((await answer(openBrowser(app.send), 'keep-invoice-email', invoiceEmail)).status).toBe(303);
      expect(await waits({ email })).toBe(true);
      await sql`update sessions set auth_time = auth_time - interval '11 minutes'`.execute(app.db);
      expect((await answer(browser, 'keep-invoice-email', invoiceEmail)).status).toBe(401);
      expect((await answer(browser, 'own-invoice-email', invoiceEmail)).status).toBe(401);
      expect(await waits({ email })).toBe(true);
    });

    it('is removed by a later password set by mail, however long ago it was named (contract 7.404)', async () => {
      const { email, invoiceEmail } = await arrive();
      await sql`delete from mails`.execute(app.db);
      await openBrowser(app.send).send('/forgot-password', { form: { email } });
      const [link = ''] = await readMail(email, 'set_password', /\/[\w/-]+\?token=[\w-]{43}/);
      await retryWhileBusy(() =>
        openBrowser(app.send).send(link, { form: { newPassword: 'eight louder lanterns' } }),
      );
      expect(await read(email)).toMatchObject({ invoiceEmail: null, editedHere: ['invoiceEmail'] });
      expect(await told()).toEqual([email]);
      await customers.report(`victim-${nth}`, { email, billing: { invoice_email: invoiceEmail } });
      expect((await read(email))?.invoiceEmail).toBeNull();
    });
  });

  it('that was decided long ago stays when its customer sets a password', async () => {
    await sql`insert into billing_details (account_id, invoice_email, invoice_email_proved_at, edited_here)
      values (${await accountOf(owner)}, ${books}, now(), '{invoiceEmail}')`.execute(app.db);
    await openBrowser(app.send).send('/forgot-password', { form: { email: owner } });
    const [link = ''] = await readMail(owner, 'set_password', /\/[\w/-]+\?token=[\w-]{43}/);
    await openBrowser(app.send).send(link, { form: { newPassword: 'seven quiet lanterns' } });
    expect((await read())?.provedInvoiceEmail).toBe(books);
    await sql`update users set password_hash = (select password_hash from users where email = 'merchant@example.test')
      where email = ${owner}`.execute(app.db);
  });

  it('that somebody else has just left gets no mail, and the person who asked sees the usual answer', async () => {
    const look = async (invoiceEmail: string) => {
      await sql`delete from audit_events where type like 'billing.%'`.execute(app.db);
      const browser = await open();
      await save({ ...whole, invoiceEmail }, browser);
      await post(browser, { intent: 'mail-invoice-email' });
      const data = JSON.parse((await browser.send('/profile/data.json')).text);
      const kinds = (list: { kind?: string; type?: string }[]) =>
        list.map(({ kind, type }) => kind ?? type).filter((each) => each?.includes('invoice_email'));
      return {
        mails: await listMailsTo(invoiceEmail),
        seen: [
          ...[kinds(data.emails).sort(), kinds(data.activity)],
          // A minute may end between the two reads.
          ...[
            textOf(await browser.send('/profile/activity'))
              .replaceAll(/\d\d:\d\d UTC/g, '')
              .match(/[^.]*address for invoices/g),
          ],
          textOf(await browser.send(page)).replaceAll(invoiceEmail, ''),
        ],
      };
    };
    // The sweep goes by the database's clock, so the row must expire late.
    await sql`insert into reserved_addresses (email, user_id, expires_at)
      values (${books}, ${await idOf(app.db, 'merchant@example.test')}, '2099-01-01')`.execute(app.db);
    const left = await look(books);
    await sql`delete from reserved_addresses`.execute(app.db);
    await sql`delete from mails`.execute(app.db);
    const free = await look('free@fleurs.example.com');
    // The first mail may have left before the second one was asked for.
    expect([left.mails, [...new Set(free.mails)]]).toEqual([[], ['invoice_email']]);
    expect(left.seen).toEqual(free.seen);
    expect(free.seen[1]).toEqual(['billing.invoice_email_asked', 'billing.invoice_email_asked']);
  });
});

describe('an erasure', () => {
  it('takes the details along, and the address out of those of other accounts, with its mails and links (contract 7.245)', async () => {
    const email = 'leaver@example.com';
    const leaver = await addPerson(app);
    await sql`update users set email = ${email} where id = ${leaver.id}`.execute(app.db);
    await sql`insert into billing_details (account_id, company) values (${leaver.accountId}, 'Gone')`.execute(
      app.db,
    );
    await save({ ...whole, invoiceEmail: email });
    const [link = ''] = await readLinks(email);
    await inTransaction(app.db, { by: 'service', cause: 'test' }, (trx) =>
      eraseUser(trx, { now: () => clock.at, endsWithPerson }, leaver.id, { by: 'cli', onlyDue: false }),
    );
    expect(await read()).toMatchObject({ company: 'Fleurs SARL', invoiceEmail: null });
    expect((await openBrowser(app.send).send(link)).status).toBe(404);
    const { rows } = await sql`select from mails where recipient = ${email} and kind = 'invoice_email'
      union all select from mail_tokens where email = ${email}
      union all select from billing_details where account_id = ${leaver.accountId}`.execute(app.db);
    expect(rows).toEqual([]);
  });

  it('of the person who asked ends the link', async () => {
    const asker = await addPerson(app);
    const { cookie } = await addSession(app, asker.id, { authTime: clock.at });
    await openClient(app.send, cookie).billing.update.mutate({ invoiceEmail: 'kept@fleurs.example.com' });
    const [link = ''] = await readLinks('kept@fleurs.example.com');
    expect((await openBrowser(app.send).send(link)).status).toBe(200);
    await inTransaction(app.db, { by: 'service', cause: 'test' }, (trx) =>
      eraseUser(trx, { now: () => clock.at, endsWithPerson }, asker.id, { by: 'cli', onlyDue: false }),
    );
    expect((await openBrowser(app.send).send(link, { form: {} })).status).toBe(404);
    expect((await app.send(page, { cookie })).status).toBe(303);
  });
});
