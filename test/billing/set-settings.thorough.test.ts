// Settings of billing, by page and procedure (contract 7.114 to 7.128): who may change and stop them, and who is told.
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { findSettingsInForce } from '../../db/tables/billing-settings.ts';
import { setSettings } from '../../server/billing/settings/set-settings.ts';
import { type BillingSettings, writeSettings } from '../../server/billing/settings/settings.ts';
import { type Answer, locationOf, openApp } from '../support/app/app.ts';
import { type Browser, logIn, openBrowser, textOf } from '../support/app/visitor.ts';
import { germanSettings, setBillingClock } from '../support/billing/settings.ts';
import { idOf } from '../support/database/database.ts';
import { addPerson, addSession, call, readData, readOutcome } from '../support/people/staff.ts';
import { shared } from '../support/run/shared.ts';

let lagMs = 0;
const app = shared(() => openApp({ now: () => new Date(Date.now() + lagMs) }));

const start = '2026-11-26T12:00:00Z';
const page = '/admin/billing/settings';
const why = 'The accountant asked for it.';

beforeEach(async () => {
  await sql`alter table billing_settings disable trigger user`.execute(app.db);
  await sql`delete from billing_settings`.execute(app.db);
  await sql`alter table billing_settings enable trigger user`.execute(app.db);
  await sql`delete from mails`.execute(app.db);
  await sql`delete from rate_limits`.execute(app.db);
  await sql`delete from refused_forms`.execute(app.db);
  await sql`update users set role = 'user' where role = 'admin' and email <> 'admin@example.test'`.execute(
    app.db,
  );
  await setBillingClock(app.db, start);
});

type Change = {
  seller?: Partial<BillingSettings['seller']>;
  plans?: BillingSettings['plans'];
  terms?: object;
  payment?: object;
};

const withChange = ({ seller, plans, terms, payment }: Change) => ({
  ...germanSettings,
  plans: plans ?? germanSettings.plans,
  seller: { ...germanSettings.seller, ...seller },
  terms: { ...germanSettings.terms, ...terms },
  payment: { ...germanSettings.payment, ...payment },
});

const otherBank = { seller: { iban: 'FR7630006000011234567890189', bic: null as unknown as undefined } };

async function openAdmin() {
  const person = await addPerson(app, { role: 'admin' });
  return { ...person, cookie: (await addSession(app, person.id)).cookie };
}

const read = async (cookie: string) => readData(await call(app, 'billing.settings', cookie, undefined, true));

const set = async (cookie: string, settings: unknown, asked: { why?: string; seen?: string } = {}) =>
  call(app, 'billing.setSettings', cookie, { why, seen: (await read(cookie)).seen, ...asked, settings });

const stop = async (cookie: string, asked: { why?: string; seen?: string } = {}) =>
  call(app, 'billing.stopSettings', cookie, { why, seen: (await read(cookie)).seen, ...asked });

async function mustSet(cookie: string, settings: unknown) {
  const answer = await set(cookie, settings);
  expect(readOutcome(answer)).toBe('200');
  return readData(answer);
}

/** The settings in force at that moment, as documents see them. */
async function inForceAt(at: string): Promise<BillingSettings> {
  await setBillingClock(app.db, at);
  return (await findSettingsInForce(app.db))?.settings as BillingSettings;
}

const mails = async () =>
  (
    await sql<{ recipient: string; details: Record<string, string> }>`
      select recipient, details from mails where kind = 'bank_details_changed' order by recipient`.execute(
      app.db,
    )
  ).rows;

const events = async () =>
  (
    await sql<{ actorId: string; why: string; reason: string | null; details: Record<string, unknown> }>`
      select actor_id as "actorId", why, reason, details from audit_events where type = 'billing.set'
      order by at desc, id desc`.execute(app.db)
  ).rows;

/** Contract 11.65 says what the procedures return. */
describe('the first settings', () => {
  it('count at once, without a mail, and leave who set them and why', async () => {
    const admin = await openAdmin();
    expect(await read(admin.cookie)).toMatchObject({ inForce: null, pending: null, versions: [] });
    expect(await mustSet(admin.cookie, germanSettings)).toEqual({ done: true, version: 1 });
    expect(await inForceAt(start)).toEqual(germanSettings);
    expect(await mails()).toEqual([]);
    expect((await events())[0]).toMatchObject({
      actorId: admin.id,
      why,
      details: { by: 'staff', version: 1 },
    });
    expect(await read(admin.cookie)).toMatchObject({
      inForce: {
        version: 1,
        settings: writeSettings(germanSettings),
        madeBy: 'staff',
        actorId: admin.id,
        why,
      },
      versions: [{ version: 1, state: 'in_force', changed: [] }],
      people: [{ id: admin.id }],
    });
  });

  it('do nothing if they are set again unchanged', async () => {
    const { cookie } = await openAdmin();
    await mustSet(cookie, germanSettings);
    const before = (await events()).length;
    expect(await mustSet(cookie, germanSettings)).toEqual({ done: false, version: 1 });
    expect([(await read(cookie)).versions.length, (await events()).length]).toEqual([1, before]);
  });
});

describe('another bank account or link', () => {
  const { starter = { title: '' } } = germanSettings.plans;
  it.each<[what: string, change: Change]>([
    ['an IBAN', { seller: { iban: 'FR7630006000011234567890189' } }],
    ['a BIC', { seller: { bic: 'DEUTDEFF' } }],
    ['no BIC', { seller: { bic: undefined } }],
    ['a link', { payment: { link: 'https://other.example/{number}' } }],
    ['no link', { payment: { link: undefined } }],
    // Contract 7.463.
    ['a link of a plan', { plans: { starter: { ...starter, link: 'https://shop.example/starter' } } }],
    ['a link of a new plan', { plans: { starter, new: { title: 'New', link: 'https://shop.example/new' } } }],
  ])('counts after 24 hours, and everything else at once: %s', async (_, change) => {
    const admin = await openAdmin();
    await mustSet(admin.cookie, germanSettings);
    const changed = withChange({ ...change, terms: { days_to_pay: 30 } });
    expect(await mustSet(admin.cookie, changed)).toMatchObject({
      done: true,
      version: 2,
      pending: { version: 3 },
    });
    const plans = Object.fromEntries(
      Object.entries(changed.plans).map(([name, plan]) => [name, { ...plan, link: undefined }]),
    );
    const soon = withChange({ plans, terms: { days_to_pay: 30 } });
    expect(await inForceAt(start)).toEqual(soon);
    expect(await inForceAt('2026-11-27T11:59:59.999Z')).toEqual(soon);
    expect(await inForceAt('2026-11-27T12:00:00Z')).toEqual(JSON.parse(JSON.stringify(changed)));
  });

  it('counts after 24 hours if its plan is removed, too, and the plan stays until then (contract 7.115)', async () => {
    const { cookie } = await openAdmin();
    const pro = { title: 'Pro', link: 'https://shop.example/pro' };
    const before = withChange({ plans: { starter, pro } });
    const removed = withChange({ plans: { starter }, terms: { days_to_pay: 30 } });
    await mustSet(cookie, before);
    expect(await mustSet(cookie, removed)).toMatchObject({ version: 2, pending: { version: 3 } });
    expect((await mails()).length).toBeGreaterThan(0);
    const soon = withChange({ plans: { starter, pro }, terms: { days_to_pay: 30 } });
    expect(await inForceAt('2026-11-27T11:59:59.999Z')).toEqual(soon);
    // Saving something else in the meantime does not begin the 24 hours anew.
    expect(await mustSet(cookie, withChange({ plans: { starter } }))).toMatchObject({
      version: 4,
      pending: { version: 5, countsFrom: '2026-11-27T12:00:00.000Z' },
    });
    expect(await inForceAt('2026-11-27T11:59:59.999Z')).toEqual(before);
    expect(await inForceAt('2026-11-27T12:00:00Z')).toEqual(withChange({ plans: { starter } }));
  });

  it('is told to every administrator who can log in, at once, and to nobody else', async () => {
    const admin = await openAdmin();
    const others = [await openAdmin(), await openAdmin()];
    const gone = [await openAdmin(), await openAdmin(), await openAdmin()];
    const [suspended, leaving, unproved] = gone.map(({ id }) => id);
    await sql`update users set suspended_at = now() where id = ${suspended}`.execute(app.db);
    await sql`update users set deletion_due_at = now() where id = ${leaving}`.execute(app.db);
    await sql`update users set email_verified_at = null where id = ${unproved}`.execute(app.db);
    await addPerson(app, { role: 'manager' });
    await mustSet(admin.cookie, germanSettings);
    await mustSet(admin.cookie, withChange(otherBank));
    const found = await mails();
    expect(found.map(({ recipient }) => recipient)).toEqual(
      [admin, ...others]
        .map(({ email }) => email)
        .concat('admin@example.test')
        .sort(),
    );
    for (const { details } of found)
      expect(details).toEqual({
        at: expect.any(String),
        by: admin.id,
        countsAt: '2026-11-27T12:00:00.000Z',
      });
    // Setting the same bank account again while it is pending, with other terms, sends no mail.
    await mustSet(admin.cookie, withChange({ ...otherBank, terms: { days_to_pay: 7 } }));
    expect(await mails()).toHaveLength(found.length);
  });

  it('is told whatever the limits of notices', async () => {
    const admin = await openAdmin();
    await mustSet(admin.cookie, germanSettings);
    for (let at = 0; at < 25; at++)
      await mustSet(admin.cookie, withChange({ seller: { bic: at % 2 ? 'DEUTDEFF' : 'COBADEFF' } }));
    expect((await mails()).filter(({ recipient }) => recipient === admin.email)).toHaveLength(25);
  });

  it('keeps its time while other things are changed, begins anew with another one, and is gone with the old one', async () => {
    const { cookie } = await openAdmin();
    await mustSet(cookie, germanSettings);
    await mustSet(cookie, withChange(otherBank));
    await setBillingClock(app.db, '2026-11-26T20:00:00Z');
    const later = withChange({ ...otherBank, terms: { days_to_pay: 30 } });
    expect(await mustSet(cookie, later)).toMatchObject({
      version: 4,
      pending: { version: 5, countsFrom: '2026-11-27T12:00:00.000Z' },
    });
    expect(await inForceAt('2026-11-26T20:00:00Z')).toEqual(withChange({ terms: { days_to_pay: 30 } }));
    const third = withChange({ seller: { iban: 'GB82WEST12345698765432' } });
    expect(await mustSet(cookie, third)).toMatchObject({
      version: 6,
      pending: { version: 7, countsFrom: '2026-11-27T20:00:00.000Z' },
    });
    expect(await inForceAt('2026-11-27T12:00:00Z')).toEqual(germanSettings);
    expect(await inForceAt('2026-11-27T20:00:00Z')).toEqual(third);

    await setBillingClock(app.db, '2026-11-27T19:00:00Z');
    expect(await mustSet(cookie, withChange({ terms: { days_to_pay: 3 } }))).toEqual({
      done: true,
      version: 8,
    });
    expect(await inForceAt('2030-01-01T00:00:00Z')).toEqual(withChange({ terms: { days_to_pay: 3 } }));
    expect((await read(cookie)).versions.map(({ state }: { state: string }) => state)).toEqual([
      'in_force',
      ...Array(7).fill('replaced'),
    ]);
  });

  it('does nothing if it is set again while it waits: no version, no mail, no audit', async () => {
    const { cookie } = await openAdmin();
    await mustSet(cookie, germanSettings);
    await mustSet(cookie, withChange(otherBank));
    const before = [(await mails()).length, (await events()).length];
    expect(await mustSet(cookie, withChange(otherBank))).toEqual({ done: false, version: 3 });
    expect([(await mails()).length, (await events()).length]).toEqual(before);
    expect(await read(cookie)).toMatchObject({ inForce: { version: 2 }, pending: { version: 3 } });
  });

  it('is stopped by any other administrator until it counts, and never comes back', async () => {
    const admin = await openAdmin();
    const other = await openAdmin();
    await mustSet(admin.cookie, germanSettings);
    await mustSet(admin.cookie, withChange({ ...otherBank, terms: { days_to_pay: 30 } }));
    await setBillingClock(app.db, '2026-11-27T11:59:59Z');
    const answer = await stop(other.cookie, { why: 'Nobody of us did this.' });
    expect([readOutcome(answer), readData(answer)]).toEqual(['200', { version: 3 }]);
    expect(await inForceAt('2027-01-01T00:00:00Z')).toEqual(withChange({ terms: { days_to_pay: 30 } }));
    expect((await events())[0]).toMatchObject({
      actorId: other.id,
      why: 'Nobody of us did this.',
      reason: 'stopped',
      details: { by: 'staff', version: 3 },
    });
    const { pending, versions } = await read(other.cookie);
    expect([pending, versions.map(({ state }: { state: string }) => state)]).toEqual([
      null,
      ['stopped', 'in_force', 'replaced'],
    ]);
    // No change is pending any more, so none can be stopped.
    expect(readOutcome(await stop(other.cookie))).toBe('409 edited_meanwhile');
  });

  it('is not stopped any more once it counts', async () => {
    const { cookie } = await openAdmin();
    await mustSet(cookie, germanSettings);
    await mustSet(cookie, withChange(otherBank));
    const { seen } = await read(cookie);
    await setBillingClock(app.db, '2026-11-27T12:00:00Z');
    expect(readOutcome(await stop(cookie, { seen }))).toBe('409 edited_meanwhile');
    expect(readOutcome(await stop(cookie))).toBe('409 edited_meanwhile');
    expect((await inForceAt('2026-11-28T00:00:00Z')).seller.iban).toBe(otherBank.seller.iban);
  });

  it('is stopped once if sixteen stop it at once', async () => {
    const admins = await Promise.all(Array.from({ length: 16 }, openAdmin));
    const [first] = admins;
    await mustSet(first?.cookie ?? '', germanSettings);
    await mustSet(first?.cookie ?? '', withChange(otherBank));
    const { seen } = await read(first?.cookie ?? '');
    const outcomes = await Promise.all(
      admins.map(async ({ cookie }) => readOutcome(await stop(cookie, { seen }))),
    );
    expect(outcomes.sort()).toEqual(['200', ...Array(15).fill('409 edited_meanwhile')]);
  });
});

/** Contract 7.385. */
describe('a text that documents print', () => {
  const warnings = async () =>
    (
      await sql<{ recipient: string; details: Record<string, string> }>`
        select recipient, details - 'at' as details from mails where kind = 'billing_texts_changed' order by recipient`.execute(
        app.db,
      )
    ).rows;

  const { plans, tax } = germanSettings;
  it.each<[what: string, settings: unknown]>([
    ['payment', withChange({ payment: { text: 'Pay to our new account.' } })],
    ['payment', withChange({ payment: { text: undefined } })],
    ['foot', withChange({ seller: { foot: 'Bank: see our letter' } })],
    ['name', withChange({ seller: { name: 'Blumen GmbH, account 12 34' } })],
    ['address', withChange({ seller: { address: { ...germanSettings.seller.address, line2: 'c/o Bank' } } })],
    ['contact', withChange({ seller: { email: 'other@example.test' } })],
    ['plans', { ...germanSettings, plans: { starter: { ...plans.starter, title: 'Pay elsewhere' } } }],
    ['plans', { ...germanSettings, plans: { ...plans, pro: { title: 'Pro' } } }],
    ['tax', { ...germanSettings, tax: { ...tax, reverse_charge_words: 'Reverse charge, pay elsewhere' } }],
    ['name foot', withChange({ seller: { name: 'Other GmbH', foot: 'Other' }, terms: { days_to_pay: 1 } })],
  ])('that is changed is told to each other administrator, in one mail: %s', async (what, settings) => {
    const [admin, other] = [await openAdmin(), await openAdmin()];
    await addPerson(app, { role: 'manager' });
    await mustSet(admin.cookie, germanSettings);
    await sql`delete from mails`.execute(app.db);
    await mustSet(admin.cookie, settings);
    const to = [other.email, 'admin@example.test'].sort();
    expect(await warnings()).toEqual(to.map((recipient) => ({ recipient, details: { by: admin.id, what } })));
    // A change that leaves the texts as they were sends no mail.
    await mustSet(admin.cookie, settings);
    await mustSet(admin.cookie, {
      ...(settings as BillingSettings),
      terms: { ...germanSettings.terms, days_to_pay: 3 },
    });
    expect(await warnings()).toHaveLength(to.length);
  });

  it('is told of the first settings too, and to everybody if a command sets it', async () => {
    const [admin, other] = [await openAdmin(), await openAdmin()];
    await mustSet(admin.cookie, germanSettings);
    const what = 'name address contact foot plans payment tax';
    expect((await warnings())[0]?.details).toEqual({ by: admin.id, what });
    await sql`delete from mails`.execute(app.db);
    await inTransaction(app.db, { by: 'operator', cause: 'test' }, (trx) =>
      setSettings(trx, { now: () => new Date() }, withChange({ seller: { foot: 'New' } }), {
        why,
        details: { by: 'cli', operator: 'Olga' },
      }),
    );
    const found = await warnings();
    expect(found.map(({ recipient }) => recipient)).toEqual(
      [admin.email, other.email, 'admin@example.test'].sort(),
    );
    expect(found[0]?.details).toEqual({ by: 'command', what: 'foot' });
  });
});

/** Contract 7.383. */
describe('a bank account in a text', () => {
  const foreign = 'FR7630006000011234567890189';
  const refused = async (cookie: string, settings: unknown) => {
    const answer = await set(cookie, settings);
    expect(readOutcome(answer)).toBe('422 validation_failed');
    return JSON.parse(answer.text).error.json.data.errors as { pointer: string; detail: string }[];
  };

  it.each([
    foreign,
    `Pay to ${foreign}.`,
    'IBAN: FR76 3000 6000 0112 3456 7890 189',
    'iban fr76 3000 6000 0112 3456 7890 189',
    'FR76\u00a03000\u202f6000\u20090112\u00a03456\u00a07890\u00a0189',
    'ＦＲ７６　３０００　６０００　０１１２　３４５６　７８９０　１８９',
    'FR76-3000-6000-0112-3456-7890-189',
    'FR76\u20113000\u20136000\u20140112\u22123456\u20107890\u2010189',
    'FR.76;3000_6000·0112|3456 7890+189',
    'FR٧٦ ٣٠٠٠ ٦٠٠٠ ٠١١٢ ٣٤٥٦ ٧٨٩٠ ١٨٩',
    'FR76 3OOO 6ooo Oll2 3456 789O I89',
    'GB82 WEST l234 5698 7654 32',
    'fR 7 6 3 0 0 0 6 0 0 0 0 1 1 2 3 4 5 6 7 8 9 0 1 8 9',
    'DE89 3704 0044 0532 0130 00 or FR76 3000 6000 0112 3456 7890 189',
    'GB82 WEST 1234 5698 7654 32',
    'NO93 8601 1117 947',
    'XK05 1212 0123 4567 8906',
    'MT84 MALT 0110 0001 2345 MTLC AST0 01S',
  ])('that is not the one in force is refused: %s', async (text) => {
    const { cookie } = await openAdmin();
    await mustSet(cookie, germanSettings);
    const before = await mails();
    const [fault, ...more] = await refused(cookie, withChange({ payment: { text } }));
    expect([fault?.pointer, more]).toEqual(['/payment/text', []]);
    expect(fault?.detail).toContain('a bank account that is not the one in force');
    expect([(await read(cookie)).versions.length, await mails()]).toEqual([1, before]);
  });

  it('is refused even if it goes on in the next line', async () => {
    const { cookie } = await openAdmin();
    await mustSet(cookie, germanSettings);
    const { seller, plans } = germanSettings;
    const [line1, line2] = ['FR76 3000 6000 01', '12 3456 7890 189'];
    const errors = await refused(cookie, {
      ...germanSettings,
      seller: { ...seller, address: { ...seller.address, line1, line2 } },
      plans: { ...plans, starter: { title: line1, description: line2 } },
    });
    expect(errors.map(({ pointer }) => pointer).sort()).toEqual([
      '/plans/starter/title',
      '/seller/address/line1',
    ]);
  });

  it('does not stop an administrator who changes something else, if it is in force already', async () => {
    const { cookie } = await openAdmin();
    await mustSet(cookie, germanSettings);
    // An earlier version accepted this text.
    await sql`alter table billing_settings disable trigger user`.execute(app.db);
    await sql`update billing_settings
      set settings = jsonb_set(settings::jsonb, '{payment,text}', to_jsonb(${foreign}::text))`.execute(
      app.db,
    );
    await sql`alter table billing_settings enable trigger user`.execute(app.db);
    const terms = { ...germanSettings.terms, days_to_pay: 5 };
    const payment = { ...germanSettings.payment, text: foreign };
    await mustSet(cookie, { ...germanSettings, payment, terms });
    const changed = { ...payment, text: `Pay to ${foreign}` };
    expect(await refused(cookie, { ...germanSettings, payment: changed, terms })).toHaveLength(1);
  });

  it('is refused in each text, and each is named', async () => {
    const { cookie } = await openAdmin();
    await mustSet(cookie, germanSettings);
    const { seller, tax, plans } = germanSettings;
    const errors = await refused(cookie, {
      ...germanSettings,
      seller: {
        ...seller,
        name: `Blumen ${foreign}`,
        foot: foreign,
        address: { ...seller.address, line2: foreign },
        tax_number: foreign,
      },
      plans: { ...plans, starter: { title: foreign, description: foreign } },
      tax: {
        ...tax,
        reverse_charge_words: `Reverse charge ${foreign}`,
        rules: tax.rules.map((rule) => ({ ...rule, words: foreign })),
      },
      payment: { text: foreign },
    });
    expect(errors.map(({ pointer }) => pointer).sort()).toEqual(
      [
        '/payment/text',
        '/plans/starter/description',
        '/plans/starter/title',
        '/seller/address/line2',
        '/seller/foot',
        '/seller/name',
        '/seller/tax_number',
        '/tax/reverse_charge_words',
        '/tax/rules/0/words',
        '/tax/rules/1/words',
        '/tax/rules/2/words',
      ].sort(),
    );
  });

  it.each([
    'Pay to DE89 3704 0044 0532 0130 00, or by the link.',
    // Signs such as a slash divide these numbers, so they are no IBAN.
    'FR76 3000/6000 0112, 3456:7890 189',
    'de89-3704-0044-0532-0130-00',
    // One of these two IBANs has a wrong digit, and the other lacks a digit.
    'FR76 3000 6000 0112 3456 7890 188',
    'FR76 3000 6000 0112 3456 7890 18',
    // Texts without an IBAN.
    'Amtsgericht Berlin HRB 12345, USt-IdNr. DE136695976, Tel. +49 30 1234567',
    'AA00 1234 5678 9012 3456',
    '',
  ])('that is the one in force, or is none, stays: %j', async (text) => {
    const { cookie } = await openAdmin();
    await mustSet(cookie, germanSettings);
    await mustSet(cookie, withChange({ payment: { text: text || undefined }, terms: { days_to_pay: 2 } }));
  });

  it('may be the one that waits once it counts, and not before', async () => {
    const { cookie } = await openAdmin();
    await mustSet(cookie, germanSettings);
    const other = withChange({
      seller: { iban: foreign, bic: undefined },
      payment: { text: `Pay to ${foreign}` },
    });
    expect((await refused(cookie, other)).map(({ pointer }) => pointer)).toEqual(['/payment/text']);
    await mustSet(cookie, { ...other, payment: germanSettings.payment });
    expect(await refused(cookie, other)).toHaveLength(1);
    await setBillingClock(app.db, '2026-11-27T12:00:00Z');
    await mustSet(cookie, other);
    // The earlier bank account is not in force any more, so a text must not name it.
    const text = 'DE89 3704 0044 0532 0130 00';
    expect(await refused(cookie, { ...other, payment: { ...other.payment, text } })).toHaveLength(1);
  });

  it('of a seller without one is refused, and in the first settings may be theirs only', async () => {
    const { cookie } = await openAdmin();
    const named = withChange({ payment: { text: `Pay to ${germanSettings.seller.iban}` } });
    expect(await refused(cookie, withChange({ payment: { text: foreign } }))).toHaveLength(1);
    await mustSet(cookie, named);
    await mustSet(cookie, withChange({ seller: { iban: undefined, bic: undefined } }));
    await setBillingClock(app.db, '2026-11-27T12:00:00Z');
    expect(
      await refused(cookie, withChange({ seller: { iban: undefined }, payment: { text: foreign } })),
    ).toHaveLength(1);
  });
});

it('exactly one succeeds if eight stop a waiting change and eight replace it at once', async () => {
  const admins = await Promise.all(Array.from({ length: 16 }, openAdmin));
  const first = admins[0]?.cookie ?? '';
  await mustSet(first, germanSettings);
  await mustSet(first, withChange(otherBank));
  const { seen } = await read(first);
  const outcomes = await Promise.all(
    admins.map(async ({ cookie }, at) =>
      readOutcome(
        await (at % 2
          ? stop(cookie, { seen })
          : set(cookie, withChange({ ...otherBank, terms: { days_to_pay: 20 + at } }), { seen })),
      ),
    ),
  );
  expect(outcomes.sort()).toEqual(['200', ...Array(15).fill('409 edited_meanwhile')]);
});

it('lists the newest thirty versions, and what each changed', async () => {
  const { cookie } = await openAdmin();
  for (let days = 1; days <= 31; days++) await mustSet(cookie, withChange({ terms: { days_to_pay: days } }));
  const { versions } = await read(cookie);
  expect(versions.map(({ version }: { version: number }) => version)).toEqual(
    Array.from({ length: 30 }, (_, at) => 31 - at),
  );
  expect(versions[0]).toMatchObject({ why, changed: ['terms.days_to_pay'] });
});

describe('sixteen changes at once', () => {
  it('made from the same version: one counts, and the others are told', async () => {
    const admins = await Promise.all(Array.from({ length: 16 }, openAdmin));
    await mustSet(admins[0]?.cookie ?? '', germanSettings);
    const { seen } = await read(admins[0]?.cookie ?? '');
    const outcomes = await Promise.all(
      admins.map(async ({ cookie }, at) =>
        readOutcome(await set(cookie, withChange({ terms: { days_to_pay: 20 + at } }), { seen })),
      ),
    );
    expect(outcomes.sort()).toEqual(['200', ...Array(15).fill('409 edited_meanwhile')]);
    const { rows } = await sql`select version from billing_settings order by 1`.execute(app.db);
    expect(rows).toEqual([{ version: 1 }, { version: 2 }]);
  });
});

describe('sixteen changes by operators at once', () => {
  it('are sixteen versions, each made from the one before', async () => {
    const by = { why, details: { by: 'cli', operator: 'Olga' } } as const;
    const deps = { now: () => new Date() };
    const change = (settings: BillingSettings) =>
      inTransaction(app.db, { by: 'operator', cause: 'test' }, (trx) => setSettings(trx, deps, settings, by));
    await change(germanSettings);
    const done = await Promise.all(
      Array.from({ length: 16 }, (_, at) => change(withChange({ terms: { days_to_pay: 20 + at } }))),
    );
    const versions = done.map(({ version }) => version).sort((one, other) => one - other);
    expect(versions).toEqual(Array.from({ length: 16 }, (_, at) => 2 + at));
    expect(await inForceAt(start)).toEqual(
      withChange({ terms: { days_to_pay: 20 + done.findIndex(({ version }) => version === 17) } }),
    );
  });
});

describe('what is wrong is refused', () => {
  it('in the order of contract 12.14, with everything at once, and changes nothing', async () => {
    const admin = await openAdmin();
    const manager = await addPerson(app, { role: 'manager' });
    const managing = (await addSession(app, manager.id)).cookie;
    const old = (await addSession(app, admin.id, { authTime: new Date(Date.now() - 11 * 60_000) })).cookie;
    await mustSet(admin.cookie, germanSettings);
    const wrong = { why: 'x', seen: 'x', settings: { ...withChange({ seller: { iban: 'x' } }), more: 1 } };
    const ask = (cookie: string, input: object) => call(app, 'billing.setSettings', cookie, input);
    const before = await sql`select count(*)::int as n from billing_settings`.execute(app.db);

    expect(readOutcome(await ask('', wrong))).toBe('401 login_required');
    expect(readOutcome(await ask(managing, wrong))).toBe('404 not_found');
    expect(readOutcome(await call(app, 'billing.settings', managing, undefined, true))).toBe('404 not_found');
    expect(readOutcome(await call(app, 'billing.stopSettings', managing, { why, seen: 'x' }))).toBe(
      '404 not_found',
    );
    expect(readOutcome(await ask(old, wrong))).toBe('401 login_required');
    const refused = await ask(admin.cookie, wrong);
    expect(readOutcome(refused)).toBe('422 validation_failed');
    const { errors } = JSON.parse(refused.text).error.json.data;
    expect(errors.map(({ pointer }: { pointer: string }) => pointer).sort()).toEqual([
      '/more',
      '/seller/iban',
      '/why',
    ]);
    expect(readOutcome(await ask(admin.cookie, { settings: germanSettings }))).toBe('422 validation_failed');
    expect(
      readOutcome(await ask(admin.cookie, { why, settings: withChange({ terms: { days_to_pay: 1 } }) })),
    ).toBe('409 edited_meanwhile');
    const after = await sql`select count(*)::int as n from billing_settings`.execute(app.db);
    expect(after.rows).toEqual(before.rows);
  });

  it('after 60 changes by one administrator in an hour, except for a stop', async () => {
    const { cookie, id } = await openAdmin();
    const other = await openAdmin();
    await mustSet(cookie, germanSettings);
    await mustSet(cookie, withChange(otherBank));
    await sql`update rate_limits set points = 60 where key like 'allowance-billing.set:%'`.execute(app.db);
    const answer = await set(cookie, withChange({ terms: { days_to_pay: 1 } }));
    expect([readOutcome(answer), Number(answer.headers.get('retry-after')) > 3_000]).toEqual([
      '429 rate_limited',
      true,
    ]);
    expect(readOutcome(await stop(cookie))).toBe('200');
    expect((await events())[0]?.actorId).toBe(id);
    expect(readOutcome(await set(other.cookie, withChange({ terms: { days_to_pay: 1 } })))).toBe('200');
  });

  it('from somebody who is no longer an administrator', async () => {
    const { cookie, id } = await openAdmin();
    const { seen } = await read(cookie);
    await sql`update users set role = 'manager' where id = ${id}`.execute(app.db);
    const asked = { why, seen, settings: germanSettings };
    expect(readOutcome(await call(app, 'billing.setSettings', cookie, asked))).toBe('404 not_found');
  });
});

describe('the page', () => {
  const html = { accept: 'text/html' };

  /** Returns the fields of the form on the page, as a browser would send them. */
  function fieldsOf({ text }: Answer, intent = 'set'): Record<string, string> {
    const [, form = ''] =
      new RegExp(`<form [^>]*data-intent="${intent}"[^>]*>(.*?)</form>`, 's').exec(text) ?? [];
    const inputs = [...form.matchAll(/<input [^>]*>/g)].map(([input]) => {
      const of = (name: string) => new RegExp(` ${name}="([^"]*)"`).exec(input)?.[1];
      return [of('name') ?? '', plain(of('value') ?? '')];
    });
    const selects = [...form.matchAll(/<select [^>]*name="([^"]+)"[^>]*>(.*?)<\/select>/gs)].map(
      ([, name = '', options = '']) => [name, /<option value="([^"]*)" selected/.exec(options)?.[1] ?? ''],
    );
    return { ...Object.fromEntries([...inputs, ...selects]), intent };
  }
  const plain = (text: string) =>
    text
      .replaceAll('&quot;', '"')
      .replaceAll('&#x27;', "'")
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&amp;', '&');

  const open = async () => logIn(app.send, 'admin@example.test');

  /** Sends the form as a browser does, and opens the page that a refused form leads to. */
  async function sendForm(browser: Browser, form: Record<string, string>, to = page): Promise<Answer> {
    const answer = await browser.send(to, { form, headers: html });
    const next = answer.status === 303 ? locationOf(answer) : undefined;
    return next?.searchParams.has('refused')
      ? browser.send(next.pathname + next.search, { headers: html })
      : answer;
  }

  it('does not exist for managers and customers, and sends people who are not logged in to the login', async () => {
    for (const email of ['manager@example.test', 'customer@example.test']) {
      const browser = await logIn(app.send, email);
      for (const form of [undefined, { intent: 'set', why, seen: 'x' }, { intent: 'stop', why, seen: 'x' }])
        expect((await browser.send(page, { headers: html, ...(form && { form }) })).status).toBe(404);
      expect((await browser.send('/admin/people', { headers: html })).text).not.toContain(page);
    }
    expect((await openBrowser(app.send).send(page, { headers: html })).headers.get('location')).toBe(
      `/login?next=${encodeURIComponent(page)}`,
    );
  });

  it('sets up billing without script, and shows what counts', async () => {
    const browser = await open();
    const first = await browser.send(page, { headers: html });
    expect([first.status, first.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(first.text).not.toMatch(/<script[^>]*>(?!<\/script>)/);
    expect(textOf(first)).toContain('There is no seller yet');
    const typed = {
      ...fieldsOf(first),
      sellerName: 'Zoë & Söhne "GmbH" <b>',
      line1: 'Hauptstraße 1',
      postcode: '10115',
      city: 'Berlin',
      country: 'DE',
      vatId: 'DE 136695976',
      email: 'billing@example.test',
      timeZone: 'Europe/Berlin',
      iban: 'DE89 3704 0044 0532 0130 00',
      'ruleCountry-1': 'DE',
      'ruleRate-1': '19',
      'ruleCategory-1': 'S',
      'ruleFrom-1': '2026-01-01',
      'ruleCountry-3': '*',
      'ruleRate-3': '0',
      'ruleCategory-3': 'O',
      'ruleWords-3': 'Not subject to German VAT',
      'ruleFrom-3': '2026-01-01',
      'plan-2': 'starter',
      'planTitle-2': 'Starter',
      'planPrice-2': '29,00',
      'planLink-2': 'https://shop.example/starter',
      why,
    };
    const done = await browser.send(page, { form: typed, headers: html });
    expect([done.status, done.headers.get('location')]).toEqual([303, `${page}?saved=set`]);
    const saved = await browser.send(`${page}?saved=set`, { headers: html });
    expect(textOf(saved)).toContain('The settings are saved. They are in force now.');
    expect(textOf(saved)).toContain('Version 1');
    expect(fieldsOf(saved)).toMatchObject({
      sellerName: 'Zoë & Söhne "GmbH" <b>',
      iban: 'DE89370400440532013000',
      'ruleRate-1': '19',
      'ruleCountry-1': 'Germany',
      'ruleCountry-2': 'All others',
      'planPrice-1': '29.00',
      customersMayCancel: 'yes',
      why: '',
    });
    expect(await inForceAt(start)).toMatchObject({
      seller: { vat_id: 'DE136695976', currency: 'EUR' },
      numbers: { invoice: 'INV-', credit_note: 'CN-' },
      plans: { starter: { title: 'Starter', price: 2900, link: 'https://shop.example/starter' } },
    });
    // Sending the same form a second time changes nothing.
    const again = await browser.send(page, { form: { ...fieldsOf(saved), why }, headers: html });
    expect(again.status).toBe(303);
    expect(textOf(await browser.send(page, { headers: html }))).not.toContain('Version 2');
  });

  it('shows a wrong form again with 422, what was typed, and words at each field (contract 7.457)', async () => {
    const browser = await open();
    const { cookie } = await openAdmin();
    await mustSet(cookie, germanSettings);
    const fields = fieldsOf(await browser.send(page, { headers: html }));
    const long = 'ü'.repeat(500);
    const wrong = {
      ...fields,
      iban: 'DE00',
      paymentText: long,
      'ruleRate-2': 'many',
      secondReminder: '8',
      why: 'x',
    };
    const answer = await sendForm(browser, wrong);
    expect(answer.status).toBe(422);
    expect(fieldsOf(answer)).toMatchObject({ ...wrong, seen: fields.seen });
    for (const words of [
      'Check the IBAN: a letter or digit is wrong.',
      'Leave at least 6 days between the two reminders.',
      'Enter a rate from 0 to 100 %, such as 19 or 5.5, with two decimals at most.',
      'Say why in 3 to 500 characters.',
      'Nothing was saved.',
    ])
      expect(textOf(answer)).toContain(words);
    expect(answer.text).toMatch(
      /<input [^>]*name="ruleRate-2"[^>]*aria-invalid="true"[^>]*aria-describedby="ruleRate-2-error"/,
    );
    expect((await browser.send(page, { form: { intent: 'drop', why }, headers: html })).status).toBe(400);
  });

  it('keeps a refused form with the settings that it was made from, so that it undoes no later change (contract 7.457)', async () => {
    const browser = await open();
    const { cookie } = await openAdmin();
    await mustSet(cookie, germanSettings);
    const fields = fieldsOf(await browser.send(page, { headers: html }));
    const typed = { ...fields, daysToPay: 'soon', why };
    const refused = await browser.send(page, { form: typed, headers: html });
    const { pathname, search } = locationOf(refused);
    await mustSet(cookie, withChange({ terms: { past_due_after_days: 9 } }));
    const kept = await browser.send(pathname + search, { headers: html });
    expect([kept.status, fieldsOf(kept)]).toEqual([422, typed]);
    const late = await sendForm(browser, { ...fieldsOf(kept), daysToPay: '5' }, pathname + search);
    expect([late.status, fieldsOf(late).daysToPay]).toEqual([409, '5']);
    expect((await inForceAt(start)).terms.past_due_after_days).toBe(9);
    // Nobody else is shown the form.
    const other = await logIn(app.send, 'admin@example.test');
    expect(fieldsOf(await other.send(pathname + search, { headers: html })).daysToPay).not.toBe('soon');
  });

  it('leaves whether past-due contracts are invoiced as it is, if a form lacks the field, as in 1.0.0 (contract 7.476)', async () => {
    const browser = await open();
    const { cookie } = await openAdmin();
    await mustSet(cookie, withChange({ terms: { invoice_while_past_due: false } }));
    const { invoiceWhilePastDue: _, ...fields } = fieldsOf(await browser.send(page, { headers: html }));
    await sendForm(browser, { ...fields, daysToPay: '6', why });
    expect((await inForceAt(start)).terms).toMatchObject({ days_to_pay: 6, invoice_while_past_due: false });
    await mustSet(cookie, germanSettings);
  });

  it('answers a form at once that is too long to keep (contract 7.457)', async () => {
    const browser = await open();
    const rows = Array.from({ length: 100 }, (_, at) => [
      `planDescription-${at + 1}`,
      Array.from({ length: 4 }, () => crypto.randomUUID()).join(' '),
    ]);
    const answer = await browser.send(page, {
      form: { intent: 'set', why, seen: 'x', ...Object.fromEntries(rows) },
      headers: html,
    });
    expect([answer.status, fieldsOf(answer)['planDescription-100']]).toEqual([422, rows[99]?.[1]]);
    const { rows: kept } = await sql`select from refused_forms`.execute(app.db);
    expect(kept).toEqual([]);
  });

  it('keeps the rules of every country of the EU, with words and plans', async () => {
    const browser = await open();
    const states = 'AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK'.split(
      ' ',
    );
    const typed: Record<string, string> = { ...fieldsOf(await browser.send(page, { headers: html })), why };
    for (const [at, state] of states.entries()) {
      const row = at + 1;
      Object.assign(typed, {
        ...{
          [`ruleCountry-${row}`]: state,
          [`ruleRate-${row}`]: `${17 + (at % 11)}.50`,
          [`ruleCategory-${row}`]: 'S',
        },
        ...{ [`ruleWords-${row}`]: `Words for ${state}`, [`ruleFrom-${row}`]: `2026-01-${10 + (at % 20)}` },
        ...{ [`plan-${row}`]: `plan-${row}`, [`planTitle-${row}`]: `Plan number ${row}` },
        ...{ [`planDescription-${row}`]: `What is in plan ${row}`, [`planPrice-${row}`]: `${row * 7}.95` },
      });
    }
    const refused = await browser.send(page, { form: typed, headers: html });
    const { pathname, search } = locationOf(refused);
    expect(fieldsOf(await browser.send(pathname + search, { headers: html }))).toMatchObject({
      'ruleCountry-27': 'SK',
      'planPrice-27': '189.95',
    });
  });

  it('adds a row to a table without script, keeps what was typed, and saves nothing (contract 7.456)', async () => {
    const browser = await open();
    const { cookie } = await openAdmin();
    await mustSet(cookie, germanSettings);
    const first = fieldsOf(await browser.send(page, { headers: html }));
    const rowsOf = (fields: Record<string, string>, name: string) =>
      Object.keys(fields).filter((each) => each.startsWith(`${name}-`)).length;
    expect([rowsOf(first, 'ruleCountry'), rowsOf(first, 'plan')]).toEqual([3, 1]);
    const typed = { ...first, sellerName: 'Typed', daysToPay: 'no number', intent: 'add-rules' };
    const added = await sendForm(browser, typed);
    expect(added.status).toBe(200);
    expect(fieldsOf(added)).toEqual({ ...typed, intent: 'set', ...newRow(4) });
    expect(added.text).toMatch(/<input [^>]*name="ruleCountry-4"[^>]*autofocus/i);
    expect(textOf(added)).not.toMatch(/Nothing was saved|is wrong/);
    // The second added row is below the first one, which is still empty.
    const twice = await sendForm(browser, { ...fieldsOf(added), intent: 'add-rules' });
    expect(fieldsOf(twice)).toEqual({ ...typed, intent: 'set', ...newRow(4), ...newRow(5) });
    const plans = await sendForm(browser, { ...fieldsOf(twice), intent: 'add-plans' });
    expect([rowsOf(fieldsOf(plans), 'ruleCountry'), rowsOf(fieldsOf(plans), 'plan')]).toEqual([5, 2]);
    // An empty row is left out of what is saved.
    const done = await browser.send(page, {
      form: { ...fieldsOf(plans), daysToPay: '5', why },
      headers: html,
    });
    expect(locationOf(done).search).toBe('?saved=set');
    expect((await inForceAt(start)).tax).toEqual(germanSettings.tax);
    expect((await read(cookie)).versions).toHaveLength(2);
    // There are no more than 200 rows.
    const full = await sendForm(browser, { ...first, 'plan-200': 'last', intent: 'add-plans' });
    expect([rowsOf(fieldsOf(full), 'plan'), full.text.includes('value="add-plans"')]).toEqual([200, false]);
    expect((await browser.send(page, { form: { intent: 'add-x', why }, headers: html })).status).toBe(400);
    const json = { accept: 'application/json' };
    expect((await browser.send(page, { form: { intent: 'add-rules' }, headers: json })).status).toBe(400);
  });
  const newRow = (number: number) => ({
    ...{ [`ruleCountry-${number}`]: '', [`ruleRate-${number}`]: '', [`ruleCategory-${number}`]: '' },
    ...{ [`ruleWords-${number}`]: '', [`ruleFrom-${number}`]: '' },
  });

  it('keeps a time zone that the list lacks (contract 7.455)', async () => {
    const browser = await open();
    const { cookie } = await openAdmin();
    await mustSet(cookie, withChange({ seller: { time_zone: 'US/Pacific' } }));
    const fields = fieldsOf(await browser.send(page, { headers: html }));
    expect(fields.timeZone).toBe('US/Pacific');
    await browser.send(page, { form: { ...fields, daysToPay: '5', why }, headers: html });
    expect(await inForceAt(start)).toMatchObject({
      seller: { time_zone: 'US/Pacific' },
      terms: { days_to_pay: 5 },
    });
  });

  it('asks for a credential, keeps every field of the form meanwhile, and shows what others changed', async () => {
    const browser = await open();
    const { cookie } = await openAdmin();
    await mustSet(cookie, germanSettings);
    const fields = fieldsOf(await browser.send(page, { headers: html }));
    lagMs = 11 * 60_000;
    try {
      const typed: Record<string, string> = {
        ...fields,
        paymentText: 'ü'.repeat(500),
        'ruleRate-2': '21',
        why,
      };
      const asked = await sendForm(browser, typed);
      expect([asked.status, textOf(asked).includes('Confirm it’s you')]).toEqual([401, true]);
      const hidden = Object.fromEntries(
        [...asked.text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(
          ([, name = '', value = '']) => [name, plain(value)],
        ),
      );
      expect(hidden).toEqual(typed);
      const confirmed = { ...hidden, confirmPassword: 'local demo password' };
      expect((await browser.send(page, { form: confirmed, headers: html })).status).toBe(303);
      expect(await inForceAt(start)).toMatchObject({ payment: { text: 'ü'.repeat(500) } });
      // This form was made from settings that have been replaced since.
      const late = await sendForm(browser, { ...typed, daysToPay: '5' });
      expect([late.status, fieldsOf(late).daysToPay, fieldsOf(late).seen === typed.seen]).toEqual([
        409,
        '5',
        false,
      ]);
      expect(textOf(late)).toContain('The settings have changed since you opened the page');
      expect(textOf(late)).toContain('Changed: tax rules, words about paying');
    } finally {
      lagMs = 0;
    }
  });

  it('shows what waits, now and then, and stops it', async () => {
    const browser = await open();
    const { cookie } = await openAdmin();
    await mustSet(cookie, germanSettings);
    await mustSet(cookie, withChange(otherBank));
    const shown = await browser.send(page, { headers: html });
    expect(textOf(shown)).toContain('A change waits');
    for (const words of [
      'DE89 3704 0044 0532 0130 00',
      'FR76 3000 6000 0112 3456 7890 189',
      'COBADEFFXXX',
      why,
    ])
      expect(textOf(shown)).toContain(words);
    expect(shown.text).toContain('dateTime="2026-11-27T12:00:00.000Z"');
    // The form shows the settings that will count, so that another change does not take them back.
    expect(fieldsOf(shown).iban).toBe('FR7630006000011234567890189');
    const refused = await sendForm(browser, { ...fieldsOf(shown, 'stop'), why: '' });
    expect([refused.status, textOf(refused).includes('Say why in 3 to 500 characters.')]).toEqual([
      422,
      true,
    ]);
    const stopped = await browser.send(page, {
      form: { ...fieldsOf(shown, 'stop'), why: 'Not by us' },
      headers: html,
    });
    expect(locationOf(stopped).search).toBe('?saved=stop');
    const after = await browser.send(`${page}?saved=stop`, { headers: html });
    expect(textOf(after)).toContain('The change is stopped.');
    expect(textOf(after)).not.toContain('A change waits');
    expect(fieldsOf(after).iban).toBe('DE89370400440532013000');
    expect((await events())[0]).toMatchObject({
      actorId: await idOf(app.db, 'admin@example.test'),
      why: 'Not by us',
    });
  });

  it('names the field of each text that names another bank account', async () => {
    const { cookie } = await openAdmin();
    await mustSet(cookie, germanSettings);
    const browser = await open();
    const fields = fieldsOf(await browser.send(page, { headers: html }));
    const text = 'fr76 3000 6000 0112 3456 7890 189';
    const form = { ...fields, paymentText: text, 'planTitle-1': text, why };
    const refused = await sendForm(browser, form);
    expect(refused.status).toBe(422);
    for (const name of ['paymentText', 'planTitle-1']) expect(refused.text).toContain(`href="#${name}"`);
    expect(fieldsOf(refused).paymentText).toBe(text);
  });
});
