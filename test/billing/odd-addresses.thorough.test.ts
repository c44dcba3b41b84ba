// Odd and faulty billing addresses (contract 7.62, 7.232 and 7.390 to 7.393). No faulty address leads to the tax of the
// seller's country.
import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { findBillingDetails } from '../../db/tables/billing-details.ts';
import { decideWaiting } from '../../server/billing/invoices/waiting-country.ts';
import { openApp } from '../support/app/app.ts';
import { openClient, refusalOf } from '../support/app/trpc.ts';
import { type Browser, openBrowser, textOf } from '../support/app/visitor.ts';
import { address, arrangeSeller } from '../support/billing/customers.ts';
import { idOf } from '../support/database/database.ts';
import { addSession } from '../support/people/staff.ts';
import { shared } from '../support/run/shared.ts';

const page = '/profile/billing';
const clock = { at: new Date('2036-03-10T10:00:00Z') };

const app = shared(() => openApp({ now: () => clock.at }));
const customers = shared(() => arrangeSeller(app, clock));
beforeAll(() => customers.setClock('2036-03-10T10:00:00Z'));
beforeEach(async () => {
  await sql`delete from rate_limits`.execute(app.db);
});

/** Without a price, nothing is issued before the test asks for it. */
const unpriced = { price: null };

let count = 0;
async function arrive(billing?: unknown, contract = {}) {
  const nth = ++count;
  const [email, signupId] = [`odd-${nth}@example.test`, `odd-${nth}`];
  const answer = await customers.report(signupId, { email, billing, contract });
  await sql`update users set email_verified_at = now() where email = ${email}`.execute(app.db);
  return { email, signupId, answer };
}

const open = async (email: string) =>
  openBrowser(app.send, (await addSession(app, await idOf(app.db, email), { authTime: clock.at })).cookie);

async function read(email: string) {
  const { rows } = await sql<{
    id: string;
  }>`select account_id as id from users where email = ${email}`.execute(app.db);
  return findBillingDetails(app.db, rows[0]?.id ?? '');
}

type Issued = { tax: string; country: string | null; said: string | null };

/** The tax and country on the invoices of a signup, or why the next period is blocked. */
async function bill(signupId: string): Promise<Issued[] | string> {
  await customers.bill();
  const { rows: held } = await sql<{ code: string }>`select held_code as code from waiting_periods w
    join service_contracts c on c.id = w.contract_id where signup_id = ${signupId}`.execute(app.db);
  if (held[0]) return held[0].code;
  const { rows } = await sql<Issued>`select d.category || ' ' || d.rate as tax,
      d.facts #>> '{buyer,address,country}' as country, d.facts #>> '{buyer,country}' as said
    from documents d join invoices i on i.number = d.invoice join service_contracts c on c.id = i.contract_id
    where signup_id = ${signupId} order by d.issued_at`.execute(app.db);
  return rows;
}

const french = 'S 2000';
const german = 'S 1900';
const outside = 'O 0';
const { postcode: _postcode, ...withoutPostcode } = address;
const { city: _city, ...withoutCity } = address;

/** Whole postal addresses. For each: what was given, what is stored of it (contract 7.391), and the tax. */
const whole: [what: string, given: Record<string, string>, kept: Record<string, string>, tax: string][] = [
  ['Hong Kong, without a postcode', { line1: '1 Queen’s Road', city: 'Central', country: 'HK' }, {}, outside],
  ['the Emirates, with no postcode and no city', { line1: 'PO Box 1', country: 'AE' }, {}, outside],
  ['Macao, with nothing but a street', { line1: 'Avenida 1', country: 'MO' }, {}, outside],
  ['Singapore, without a city', { line1: '1 Raffles Place', postcode: '048616', country: 'SG' }, {}, outside],
  [
    'Qatar, whose postcode is a dash',
    { line1: 'Box 1', postcode: '-', city: 'Doha', country: 'qa' },
    { country: 'QA' },
    outside,
  ],
  [
    'the United Kingdom as UK',
    { ...address, postcode: 'SW1A 1AA', country: 'UK' },
    { country: 'GB' },
    outside,
  ],
  ['Greece as EL', { ...address, country: ' el ' }, { country: 'GR' }, outside],
  ['Greece as GR', { ...address, country: 'GR' }, {}, outside],
  ['France in small letters', { ...address, country: 'fr' }, { country: 'FR' }, french],
  [
    'Germany with a street of 100 characters',
    { ...address, line1: 'x'.repeat(100), country: 'DE' },
    {},
    german,
  ],
];

describe('an address that is whole', () => {
  const keptOf = (given: Record<string, string>, kept: Record<string, string>) => ({
    ...{ postcode: '', city: '' },
    ...given,
    ...kept,
  });

  it.each(whole)('of %s counts in a signup', async (_, given, kept, tax) => {
    const { email, signupId, answer } = await arrive({ address: given });
    expect(answer).not.toHaveProperty('ignored');
    expect((await read(email))?.address).toEqual(keptOf(given, kept));
    const { country } = keptOf(given, kept) as { country?: string };
    expect(await bill(signupId)).toEqual([{ tax, country, said: null }]);
  });

  it.each(whole)('of %s counts on the page', async (_, given, kept, tax) => {
    const { email, signupId } = await arrive(undefined, unpriced);
    await save(await open(email), given);
    await customers.report(signupId, { email });
    await clockOn();
    expect((await read(email))?.address).toEqual(keptOf(given, kept));
    const { country } = keptOf(given, kept) as { country?: string };
    expect(await bill(signupId)).toEqual([{ tax, country, said: null }]);
  });
});

const empty = {
  company: '',
  line1: '',
  line2: '',
  postcode: '',
  city: '',
  country: '',
  vatId: '',
  invoiceEmail: '',
};
const post = (browser: Browser, fields: Record<string, string>) =>
  browser.send(page, { form: { intent: 'details', ...empty, ...fields } });

async function save(browser: Browser, fields: Record<string, string>): Promise<void> {
  const answer = await post(browser, fields);
  expect([answer.status, answer.headers.get('location')]).toEqual([303, `${page}?saved=details`]);
}

/** Postal addresses with a fault, and the country that each of them names all the same. */
const faulty: [what: string, given: unknown, country: string | null, tax: string][] = [
  ['no town', { ...withoutCity, country: 'US' }, 'US', outside],
  ['no postcode where there is one', withoutPostcode, 'FR', french],
  ['a street of 101 characters', { ...address, line1: 'x'.repeat(101) }, 'FR', french],
  ['a second line that cannot be shown', { ...address, line2: 'a\u0000b' }, 'FR', french],
  ['a town that is a number, in the UK', { ...address, city: 7, country: 'uk' }, 'GB', outside],
  ['no street, in EL', { ...address, line1: ' ', country: 'EL' }, 'GR', outside],
  ['a country that is a letter ß', { ...address, country: 'ß' }, null, ''],
  ['a country that there is not', { ...address, country: 'ZZ' }, null, ''],
  ['a country by its name', { ...address, country: 'France' }, null, ''],
  ['no country', { ...address, country: undefined }, null, ''],
  ['a country that is no text', { ...address, country: 33 }, null, ''],
  ['an address that is text', '12 Rue des Fleurs, 75011 Paris', null, ''],
];

describe('an address with a fault', () => {
  it.each(faulty)(
    '(%s) is left out of a signup, but for its country, or holds the period',
    async (_, given, country, tax) => {
      const { email, signupId, answer } = await arrive({ company: 'Good', address: given });
      expect(answer.ignored).toEqual(['/account/billing/address']);
      expect(await read(email)).toMatchObject({ company: 'Good', address: null, country });
      expect(await bill(signupId)).toEqual(
        country === null ? 'country_unread' : [{ tax, country: null, said: country }],
      );
    },
  );

  it.each(faulty.filter(([, given]) => typeof given === 'object'))(
    '(%s) is refused by the page, and changes nothing',
    async (_, given) => {
      const { email, signupId } = await arrive({ address });
      const texts = Object.fromEntries(
        Object.entries(given as object).filter(([, text]) => typeof text === 'string'),
      );
      // The page sends only text, so a number arrives empty.
      const answer = await post(await open(email), texts);
      expect(answer.status).toBe(422);
      expect((await read(email))?.address).toEqual(address);
      expect(await bill(signupId)).toEqual([{ tax: french, country: 'FR', said: null }]);
    },
  );
});

describe('a country that could not be read', () => {
  it('holds the period until the customer says it; staff see why, and the customer sees that it waits', async () => {
    const { email, signupId } = await arrive({ address: { ...address, country: 'Narnia' } });
    expect(await bill(signupId)).toBe('country_unread');
    const admin = await app.login('admin@example.test');
    const shown = await app.send('/admin/billing', { cookie: admin });
    expect(shown.text).toContain('data-held="country_unread"');
    expect(textOf(shown)).toContain('could not be read, and so not the country, which decides the tax');
    const browser = await open(email);
    expect(textOf(await browser.send(page))).toContain(
      'We cannot make your invoices until we know your country.',
    );
    // Saving the form without a country does not tell us the country.
    await save(browser, { company: 'Narnia Ltd' });
    await clockOn();
    expect(await bill(signupId)).toBe('country_unread');
    expect(await read(email)).toMatchObject({ country: null, editedHere: ['company'] });
    await save(browser, { company: 'Narnia Ltd', ...address });
    await clockOn();
    // The new country does not count immediately, because there was another country before.
    expect(await bill(signupId)).toBe('country_unread');
    await accept(email);
    await clockOn();
    expect(await bill(signupId)).toEqual([{ tax: french, country: 'FR', said: null }]);
    expect(await read(email)).toMatchObject({ ignored: [], editedHere: ['address', 'company'] });
  });

  it('holds it until the CRM reports it, also if all of the details were unreadable', async () => {
    const { email, signupId } = await arrive('none');
    expect(await bill(signupId)).toBe('country_unread');
    await customers.report(signupId, { email, billing: { address } });
    await clockOn();
    expect(await bill(signupId)).toBe('country_unread');
    await accept(email);
    await clockOn();
    expect(await bill(signupId)).toEqual([{ tax: french, country: 'FR', said: null }]);
  });

  it('is held once a new one is refused, until another counts, said by the CRM or anew by the customer', async () => {
    const { email, signupId } = await arrive({ address: 'Narnia' });
    const browser = await open(email);
    await save(browser, address);
    await accept(email, false);
    expect(await read(email)).toMatchObject({ country: null, waiting: null, editedHere: [] });
    await clockOn();
    expect(await bill(signupId)).toBe('country_unread');
    await save(browser, address);
    expect(await read(email)).toMatchObject({ country: null, waiting: { country: 'FR' } });
    await accept(email, false);
    await customers.report(signupId, { email, billing: { address: { ...address, country: 'DE' } } });
    await clockOn();
    // The invoice is taxed as if there were no country.
    expect(await bill(signupId)).toEqual([{ tax: german, country: 'DE', said: null }]);
  });

  it('holds it for a row of the version before, which kept nothing of the address', async () => {
    const { email, signupId } = await arrive(undefined, unpriced);
    await sql`insert into billing_details (account_id, ignored)
      select account_id, '{/account/billing/address}' from users where email = ${email}`.execute(app.db);
    await customers.report(signupId, { email });
    await clockOn();
    expect(await bill(signupId)).toBe('country_unread');
  });

  it('leaves a country that is known as it is', async () => {
    const { email, signupId } = await arrive({ address });
    const answer = await customers.report(signupId, {
      email,
      billing: { address: { ...address, country: '??' } },
    });
    expect(answer.ignored).toEqual(['/account/billing/address']);
    expect(await bill(signupId)).toEqual([{ tax: french, country: 'FR', said: null }]);
  });
});

describe('a country that was said', () => {
  it('stays when the address is taken away, and is on what is issued and exported', async () => {
    const { email, signupId } = await arrive({ address }, unpriced);
    const browser = await open(email);
    await save(browser, {});
    expect(await read(email)).toMatchObject({ address: null, country: 'FR' });
    await customers.report(signupId, { email });
    await clockOn();
    expect(await bill(signupId)).toEqual([{ tax: french, country: null, said: 'FR' }]);
    const { invoices } = await openClient(app.send, browser.cookie())
      .invoices.list.query()
      .then((all) => ({ invoices: all }));
    const shown = await browser.send(`/invoices/${invoices[0]?.number}`);
    expect(textOf(shown)).toContain('France');
  });

  it('can be said alone, and the rest of the details beside it', async () => {
    const { email } = await arrive({ address: { ...withoutCity, country: 'US' } });
    const browser = await open(email);
    await save(browser, { country: 'US', company: 'Only Inc.' });
    expect(await read(email)).toMatchObject({ address: null, country: 'US', company: 'Only Inc.' });
    const client = openClient(app.send, browser.cookie());
    await client.billing.update.mutate({ company: 'Renamed Inc.' });
    expect(await read(email)).toMatchObject({ address: null, country: 'US', company: 'Renamed Inc.' });
    expect(await refusalOf(client.billing.update.mutate({ line1: 'Half' }))).toMatchObject({
      httpStatus: 422,
    });
  });
});

/** An administrator decides about the country France. */
const accept = async (email: string, isAccepted = true) => {
  const { rows } = await sql<{
    id: string;
  }>`select account_id as id from users where email = ${email}`.execute(app.db);
  const isDone = await inTransaction(app.db, { by: 'service', cause: 'test' }, (trx) =>
    decideWaiting(trx, rows[0]?.id ?? '', { country: 'FR', isAccepted }),
  );
  expect(isDone).toBe(true);
};

/** Moves the clock on by more than a minute, after which a blocked period is tried again. */
const clockOn = () => customers.setClock(new Date(clock.at.getTime() + 61_000).toISOString());
