// An invoice waits for the check of the VAT id that decides its tax (contract 7.480 to 7.489, and 9.380).
import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { findBillingDetails } from '../../db/tables/billing-details.ts';
import { lookAfterVatIds } from '../../server/billing/invoices/vat-ids-to-check.ts';
import { isSameName } from '../../server/billing/invoices/vies.ts';
import { openApp } from '../support/app/app.ts';
import { runCli } from '../support/app/cli.ts';
import { recordLog } from '../support/app/log.ts';
import { openClient } from '../support/app/trpc.ts';
import { openBrowser, textOf } from '../support/app/visitor.ts';
import { address, arrangeSeller } from '../support/billing/customers.ts';
import { germanSettings, setSettings } from '../support/billing/settings.ts';
import { failsWith, knows, openVies, type ViesRequest } from '../support/billing/vies.ts';
import { addFactor, addPerson, addSession } from '../support/people/staff.ts';
import { shared } from '../support/run/shared.ts';

const vatId = 'FR83404833048';
const other = 'FR23334175221';
const start = '2026-03-10T10:00:00.000Z';
const clock = { at: new Date(start) };
const app = shared(() => openApp({ now: () => clock.at }));
// With a year to pay, no open invoice holds up the next document.
const settings = { ...germanSettings, terms: { ...germanSettings.terms, days_to_pay: 365 } };
const customers = shared(() => arrangeSeller(app, clock, settings));
const vies = shared(() => openVies((asked) => knows(asked, { valid: false })));
let admin: { id: string; email: string };
let cookie: string;
beforeAll(async () => {
  admin = await addPerson(app, { role: 'admin' });
  await addFactor(app.db, admin);
});
beforeEach(async () => {
  await setClock(start);
  await setSettings(app.db, settings);
  await sql`delete from mails`.execute(app.db);
  await sql`delete from rate_limits`.execute(app.db);
  await sql`delete from billing_details`.execute(app.db);
  await sql`delete from waiting_periods`.execute(app.db);
  vies.asked.length = 0;
  vies.how.before = () => undefined;
});

async function setClock(at: string | Date): Promise<void> {
  await customers.setClock(new Date(at).toISOString());
  cookie = (await addSession(app, admin.id, { authTime: clock.at })).cookie;
}
const daysOn = (days: number, ms = 0) => setClock(new Date(Date.parse(start) + days * 86_400_000 + ms));

let count = 0;
/** A business in France arrives by a signup, as active from now on. */
async function arrive(given: object = {}, contract = {}) {
  const [email, signupId] = [`fleurs-${++count}@example.test`, `fleurs-${count}`];
  const billing = { company: 'Fleurs SARL', address, vat_id: vatId, ...given };
  await customers.report(signupId, { email, billing, contract });
  const { rows } = await sql<{ id: string; accountId: string }>`
    update users set email_verified_at = now() where email = ${email} returning id, account_id as "accountId"`.execute(
    app.db,
  );
  const { id = '', accountId = '' } = rows[0] ?? {};
  return { email, signupId, id, accountId };
}
const edit = (accountId: string, typed: string | null) =>
  sql`update billing_details set vat_id = ${typed} where account_id = ${accountId}`.execute(app.db);
const details = ({ accountId }: { accountId: string }) => findBillingDetails(app.db, accountId);

/** The tax of each document of the contract, or why its period is blocked. */
async function bill(signupId: string): Promise<string[]> {
  await sql`update waiting_periods set tried_at = tried_at - interval '1 minute'`.execute(app.db);
  await customers.bill();
  const { rows } = await sql<{ said: string }>`
    select d.category || ' ' || d.rate as said, d.issued_at as at from documents d
      join invoices i on i.number = d.invoice join service_contracts c on c.id = i.contract_id
      where c.signup_id = ${signupId}
    union all
    select held_code, starts_at from waiting_periods w join service_contracts c on c.id = w.contract_id
      where c.signup_id = ${signupId} order by at`.execute(app.db);
  return rows.map(({ said }) => said);
}
const held = 'vat_id_unchecked';

const decide = (email: string, typed: string, ...more: string[]) =>
  runCli(app.databaseUrl, ['vat-id:checked', email, typed, ...more, '--why', 'looked it up']);

describe('an invoice to a business in another EU country', () => {
  it('waits until somebody says that the VAT id is checked, and is then without tax (contract 7.480)', async () => {
    const { email, signupId } = await arrive();
    expect(await bill(signupId)).toEqual([held]);
    expect((await decide(email, vatId)).code).toBe(0);
    expect(await bill(signupId)).toEqual(['AE 0']);
  });

  it('is with tax once somebody says that it is not, also for later periods (contract 7.480 and 7.246)', async () => {
    const buyer = await arrive();
    expect(await bill(buyer.signupId)).toEqual([held]);
    expect((await decide(buyer.email, vatId, '--no')).out).toContain('is not checked.');
    expect(await bill(buyer.signupId)).toEqual(['S 2000']);
    await daysOn(31);
    expect(await bill(buyer.signupId)).toEqual(['S 2000', 'S 2000']);
    expect(await details(buyer)).toMatchObject({ hasRefusedVatId: true, isVatIdOpen: false });
    // Nobody has decided about the new VAT id yet.
    await openClient(
      app.send,
      (await addSession(app, buyer.id, { authTime: clock.at })).cookie,
    ).billing.update.mutate({
      vatId: other,
    });
    await daysOn(62);
    expect((await bill(buyer.signupId)).at(-1)).toBe(held);
    expect((await decide(buyer.email, other)).code).toBe(0);
    expect((await bill(buyer.signupId)).at(-1)).toBe('AE 0');
  });

  it('waits 14 days from the first time at most, whatever VAT id is typed meanwhile (contract 7.481)', async () => {
    const { accountId, signupId, email } = await arrive();
    expect(await bill(signupId)).toEqual([held]);
    await daysOn(13);
    await edit(accountId, other);
    expect(await bill(signupId)).toEqual([held]);
    await edit(accountId, null);
    await edit(accountId, vatId);
    await daysOn(14, -1);
    expect(await bill(signupId)).toEqual([held]);
    await daysOn(14);
    expect(await bill(signupId)).toEqual(['S 2000']);
    // Nobody has decided, so the next period is not blocked again. After a decision, a period can be blocked again.
    await daysOn(31);
    expect(await bill(signupId)).toEqual(['S 2000', 'S 2000']);
    expect((await decide(email, vatId)).code).toBe(0);
    await edit(accountId, other);
    await daysOn(62);
    expect((await bill(signupId)).at(-1)).toBe(held);
  });

  it('does not wait if the VAT id cannot change the tax (contract 7.480)', async () => {
    const cases: [string, object, Partial<typeof settings.seller>, string][] = [
      ['the buyer has none', { vat_id: undefined }, {}, 'S 2000'],
      [
        'the buyer is in the seller’s country',
        { address: { ...address, country: 'DE' }, vat_id: 'DE136695976' },
        {},
        'S 1900',
      ],
      ['the buyer is outside the EU', { address: { ...address, country: 'CH' }, vat_id: 'CHE-1' }, {}, 'O 0'],
      ['the buyer’s country is not known', { address: undefined }, {}, 'S 1900'],
      ['the seller has no VAT id', {}, { vat_id: undefined }, 'S 2000'],
    ];
    for (const [name, billing, seller, said] of cases) {
      await setSettings(app.db, { ...settings, seller: { ...settings.seller, ...seller } });
      const { signupId } = await arrive(billing);
      expect(await bill(signupId), name).toEqual([said]);
    }
  });

  it('is not issued anew with tax while nobody has looked', async () => {
    const { accountId, signupId, email } = await arrive({ vat_id: undefined });
    expect(await bill(signupId)).toEqual(['S 2000']);
    await edit(accountId, vatId);
    const { rows } = await sql<{ number: string }>`select document as number from invoices
      where contract_id = (select id from service_contracts where signup_id = ${signupId})`.execute(app.db);
    const number = rows[0]?.number ?? '';
    const reissue = () =>
      runCli(app.databaseUrl, ['invoice:reissue', number, '--why', 'It was wrong', '--yes']);
    expect(await reissue()).toMatchObject({ code: 1, err: expect.stringContaining('Nobody has checked') });
    await decide(email, vatId);
    expect((await reissue()).code).toBe(0);
  });

  it('keeps its check if only the spelling of the VAT id is corrected (contract 7.241)', async () => {
    const buyer = await arrive();
    const client = openClient(app.send, (await addSession(app, buyer.id, { authTime: clock.at })).cookie);
    for (const [column, state] of [
      ['checked_vat_id', { hasCheckedVatId: true, hasRefusedVatId: false }],
      ['refused_vat_id', { hasCheckedVatId: false, hasRefusedVatId: true }],
    ] as const) {
      // The VAT id is stored as an earlier version stored it, for a buyer without a country.
      await sql`update billing_details set vat_id = 'fr 83-404 833.048', checked_vat_id = null, refused_vat_id = null`.execute(
        app.db,
      );
      await sql`update billing_details set ${sql.ref(column)} = vat_id`.execute(app.db);
      await client.billing.update.mutate({ vatId });
      expect(await details(buyer)).toMatchObject({ vatId, ...state });
    }
  });

  it('is refused with a wrong digit, unless the account has that VAT id already (contract 7.484 and 7.485)', async () => {
    const wrong = 'FR83404833049';
    const buyer = await arrive();
    const browser = openBrowser(app.send, (await addSession(app, buyer.id, { authTime: clock.at })).cookie);
    const form = { intent: 'details', company: 'Fleurs', ...address, line2: '', invoiceEmail: '' };
    const save = (typed: string) => browser.send('/profile/billing', { form: { ...form, vatId: typed } });
    expect(textOf(await save(wrong))).toContain('A digit or letter of this VAT ID is wrong.');
    expect((await details(buyer))?.vatId).toBe(vatId);
    await edit(buyer.accountId, wrong);
    expect((await save('fr 83 404 833 049')).status).toBe(303);
    expect((await details(buyer))?.vatId).toBe(wrong);
    // A report with a wrong digit loses only the VAT id, and its answer says so.
    const ofReport = async (id: string) => {
      const answer = await customers.report(`digit-${++count}`, {
        email: `digit-${count}@example.test`,
        billing: { company: 'Fleurs', address, vat_id: id },
      });
      return answer.ignored ?? [];
    };
    expect([await ofReport(wrong), await ofReport(vatId)]).toEqual([['/account/billing/vat_id'], []]);
  });

  it('shows the customer that the VAT id does not count', async () => {
    const buyer = await arrive();
    const { cookie: own } = await addSession(app, buyer.id, { authTime: clock.at });
    const read = async () => textOf(await app.send('/profile/billing', { cookie: own }));
    expect(await read()).toContain('We have not checked this VAT ID yet.');
    await decide(buyer.email, vatId, '--no');
    expect(await read()).toContain('We could not confirm this VAT ID');
  });
});

describe('VAT ids to check', () => {
  const client = () => openClient(app.send, cookie);
  const listed = async () => (await client().admin.billing.summary.query()).vatIds.map((each) => each.vatId);
  const ofState = async () =>
    (await client().admin.billing.contracts.query({ state: 'vat-id' })).contracts.map(
      (each) => each.signup_id,
    );
  const printed = async () => {
    const { out } = await runCli(app.databaseUrl, ['contracts', '--state', 'vat-id', '--json']);
    return out.split('\n').flatMap((line) => (line ? JSON.parse(line).signup_id : []));
  };

  it('are first among what waits for an administrator, and in the lists of contracts (contract 7.483)', async () => {
    const trial = await arrive(
      { vat_id: other },
      { status: 'trialing', trial_ends_at: '2026-03-20T10:00:00Z' },
    );
    const { signupId, email } = await arrive();
    // No decision is needed about these VAT ids: no contract runs, or somebody has decided, or the tax would not change.
    await arrive({}, { status: 'canceled' });
    await arrive({ address: { ...address, country: 'DE' }, vat_id: 'DE136695976' });
    await bill(signupId);
    expect(await listed()).toEqual([vatId, other]);
    expect((await ofState()).sort()).toEqual([trial.signupId, signupId].sort());
    expect((await printed()).sort()).toEqual([trial.signupId, signupId].sort());
    const page = await app.send('/admin/billing', { cookie });
    expect(page.text).toMatch(new RegExp(`data-vat-id="${vatId}"`));
    const ids = [...page.text.matchAll(/href="#([a-z-]+)"/g)].map(([, id]) => id);
    expect(ids.filter((id) => id !== 'main')[0]).toBe('vat-ids');
    expect(page.text.search('id="vat-ids"')).toBeLessThan(page.text.search('id="overdue"'));
    expect((await app.send('/admin', { cookie })).text).toMatch(/data-now="vat-ids">2</);
    expect((await app.send('/admin/contracts?state=vat-id', { cookie })).text).toContain(signupId);
    await decide(email, vatId);
    await decide(trial.email, other, '--no');
    expect([await listed(), await ofState(), await printed()]).toEqual([[], [], []]);
  });

  it('still wait for a look once their invoice has left with tax', async () => {
    const { signupId } = await arrive();
    await bill(signupId);
    await daysOn(14);
    expect(await bill(signupId)).toEqual(['S 2000']);
    expect(await listed()).toEqual([vatId]);
  });

  const { log } = recordLog();
  const look = (vatCheck: 'off' | 'vies' = 'off') =>
    lookAfterVatIds(
      { config: { ...app.config, vatCheck }, db: app.db, now: () => clock.at, log },
      undefined,
      vies.url,
    );
  const mailed = async () =>
    (
      await sql<{ recipient: string }>`select recipient from mails where kind = 'vat_ids_to_check'`.execute(
        app.db,
      )
    ).rows.map(({ recipient }) => recipient);

  it('are mailed to each administrator once a day, if there are any (contract 9.380)', async () => {
    await look();
    expect(await mailed()).toEqual([]);
    const { email } = await arrive();
    // All sixteen jobs look at the mails before one of them can write a mail.
    const looks = await inTransaction(app.db, { by: 'service' }, async (trx) => {
      await sql`lock table mails in share row exclusive mode`.execute(trx);
      const started = Array.from({ length: 16 }, () => look());
      await new Promise((done) => setTimeout(done, 200));
      return { all: Promise.all(started) };
    });
    await looks.all;
    const all = await mailed();
    expect(all).toContain(admin.email);
    expect(new Set(all).size).toBe(all.length);
    await daysOn(1, -1_000);
    await look();
    expect(await mailed()).toHaveLength(all.length);
    await daysOn(1, 1_000);
    await look();
    expect(await mailed()).toHaveLength(2 * all.length);
    await decide(email, vatId);
    await daysOn(3);
    await look();
    expect(await mailed()).toHaveLength(2 * all.length);
    // VIES is off by default, so it was not asked.
    expect(vies.asked).toEqual([]);
  });

  describe('with VIES (contract 7.486 to 7.489)', () => {
    const checksOf = async ({ accountId }: { accountId: string }) =>
      (
        await sql<
          Record<string, unknown>
        >`select vat_id, asked_by, is_valid, consultation, name from vat_checks
          where account_id = ${accountId}`.execute(app.db)
      ).rows;
    const inTheName = (asked: ViesRequest) =>
      knows(asked, { valid: true, name: 'SARL FLEURS', address: '12 RUE DES FLEURS\n75011 PARIS' });

    it('are checked if valid in the name of the customer, with evidence, and asked once by 16', async () => {
      vies.how.answer = inTheName;
      const buyer = await arrive();
      expect(await bill(buyer.signupId)).toEqual([held]);
      await Promise.all(Array.from({ length: 16 }, () => look('vies')));
      expect(vies.asked).toEqual([
        {
          ...{ countryCode: 'FR', vatNumber: '83404833048', traderName: 'Fleurs SARL' },
          ...{ requesterMemberStateCode: 'DE', requesterNumber: '136695976' },
        },
      ]);
      expect(await checksOf(buyer)).toEqual([
        {
          ...{ vat_id: vatId, asked_by: 'DE136695976', is_valid: true, name: 'SARL FLEURS' },
          consultation: expect.stringMatching(/^WAPIAAAA/),
        },
      ]);
      expect(await bill(buyer.signupId)).toEqual(['AE 0']);
      expect(await mailed()).toEqual([]);
      const shown = textOf(await app.send(`/admin/people/${buyer.id}/billing`, { cookie }));
      expect(shown).toMatch(
        /VIES, .*valid, SARL FLEURS, 12 RUE DES FLEURS 75011 PARIS.*Consultation number WAPIAAAA/,
      );
    });

    it('do not count if not valid, and the invoice leaves with tax', async () => {
      vies.how.answer = (asked) => knows(asked, { valid: false });
      const buyer = await arrive();
      expect(await bill(buyer.signupId)).toEqual([held]);
      await look('vies');
      expect(await details(buyer)).toMatchObject({ hasRefusedVatId: true });
      expect(await bill(buyer.signupId)).toEqual(['S 2000']);
      expect(await checksOf(buyer)).toMatchObject([{ is_valid: false, name: null }]);
    });

    it.each<[string, { name?: string; traderNameMatch?: string }, boolean]>([
      ['has another name', { name: 'GRANDE BANQUE SA' }, false],
      ['has a hidden name', {}, false],
      ['has the name with hidden characters', { name: 'FLEURS\u0000\u202e SARL\ud800' }, true],
      ['has a name that the country compared', { traderNameMatch: 'VALID' }, true],
    ])('that are valid, where VIES %s', async (_, said, isChecked) => {
      vies.how.answer = (asked) => knows(asked, { valid: true, ...said });
      const buyer = await arrive();
      await look('vies');
      expect(await details(buyer)).toMatchObject({ hasCheckedVatId: isChecked, hasRefusedVatId: false });
      expect(await listed()).toEqual(isChecked ? [] : [vatId]);
      expect((await mailed()).includes(admin.email)).toBe(!isChecked);
      // The answer is known, so VIES is not asked again.
      await daysOn(2);
      await look('vies');
      expect(vies.asked).toHaveLength(1);
    });

    const outages: [string, (asked: ViesRequest) => ReturnType<typeof knows>][] = [
      ['a country that is away', () => failsWith('MS_UNAVAILABLE')],
      ['too many questions', () => failsWith('MS_MAX_CONCURRENT_REQ', 400)],
      ['an error of the server', () => failsWith('SERVICE_UNAVAILABLE', 500)],
      ['a connection that drops', () => 'drops'],
      ['a page instead of an answer', () => ({ body: '<html>Maintenance</html>' })],
      ['an empty answer', () => ({ body: '' })],
      ['an answer without a verdict', () => ({ body: { countryCode: 'FR', vatNumber: '83404833048' } })],
      [
        'an error beside a verdict',
        (asked) => ({ body: { ...verdict(asked), valid: false, userError: 'IP_BLOCKED' } }),
      ],
      ['a verdict that failed', (asked) => ({ body: { ...verdict(asked), actionSucceed: false } })],
      ['an answer about another', (asked) => inTheName({ ...asked, vatNumber: other.slice(2) })],
      ['an answer that is too long', (asked) => ({ body: { ...verdict(asked), more: 'x'.repeat(70_000) } })],
      ['a way to somewhere else', () => ({ status: 302, body: '' })],
    ];
    const verdict = (asked: ViesRequest) => (inTheName(asked) as { body: object }).body;

    it.each(outages)('change by nothing in case of %s, and are asked about again', async (_, answer) => {
      vies.how.answer = answer;
      const buyer = await arrive();
      await look('vies');
      expect(await details(buyer)).toMatchObject({
        hasCheckedVatId: false,
        hasRefusedVatId: false,
        isVatIdOpen: true,
      });
      expect([await listed(), await checksOf(buyer)]).toEqual([[vatId], []]);
      // Administrators may decide before VIES answers.
      expect(await mailed()).toContain(admin.email);
      await look('vies');
      expect(vies.asked).toHaveLength(1);
      vies.how.answer = inTheName;
      // A job of the app may lock the row for a moment. This run then skips the row.
      for (let tries = 0; tries < 5 && !(await details(buyer))?.hasCheckedVatId; tries++) {
        await daysOn(0, 15 * 60_000);
        await look('vies');
      }
      expect(await details(buyer)).toMatchObject({ hasCheckedVatId: true });
    });

    const save = async (buyer: { id: string }) =>
      openClient(app.send, (await addSession(app, buyer.id, { authTime: clock.at })).cookie);
    const renames: [string, object, (buyer: { id: string; signupId: string }) => Promise<unknown>][] = [
      [
        'the customer changes the company',
        {},
        async (buyer) => (await save(buyer)).billing.update.mutate({ company: 'Grande Banque SA' }),
      ],
      [
        'the customer removes the company',
        {},
        async (buyer) => (await save(buyer)).billing.update.mutate({ company: '' }),
      ],
      [
        'the customer changes the name of the account without a company',
        { company: undefined },
        async (buyer) => (await save(buyer)).profile.update.mutate({ accountName: 'Grande Banque SA' }),
      ],
    ];
    it.each(renames)(
      'in the name before are asked about again once %s (contract 7.241)',
      // The app's own job may bill between two moves of the clock.
      { retry: 2 },
      async (_, given, rename) => {
        vies.how.answer = (asked) => knows(asked, { valid: true, name: asked.traderName });
        const buyer = await arrive(given);
        await look('vies');
        expect(await details(buyer)).toMatchObject({ hasCheckedVatId: true });
        expect(await bill(buyer.signupId)).toEqual(['AE 0']);
        vies.how.answer = inTheName;
        await daysOn(31);
        await rename(buyer);
        expect(await details(buyer)).toMatchObject({ hasCheckedVatId: false, isVatIdOpen: true });
        expect((await bill(buyer.signupId)).at(-1)).toBe(held);
        await look('vies');
        expect(vies.asked).toHaveLength(2);
        expect(await details(buyer)).toMatchObject({ hasCheckedVatId: false, isVatIdOpen: true });
      },
    );

    it('stay checked if other details change, or an account that has a company gets a name', async () => {
      vies.how.answer = inTheName;
      const buyer = await arrive();
      await look('vies');
      const client = await save(buyer);
      await client.billing.update.mutate({ line2: 'Hinterhaus' });
      await client.profile.update.mutate({ accountName: 'Grande Banque SA' });
      expect(await details(buyer)).toMatchObject({ hasCheckedVatId: true });
    });

    it.each([
      ['company', sql`update billing_details set company = 'Grande Banque SA'`],
      ['name of the account', sql`update accounts set name = 'Grande Banque SA'`],
    ])('are not decided by the answer if the %s changed meanwhile', async (_, rename) => {
      const buyer = await arrive({ company: undefined });
      let write: Promise<unknown> | undefined;
      vies.how.answer = (asked) => {
        write ??= rename.execute(app.db);
        return knows(asked, { valid: true, name: asked.traderName });
      };
      vies.how.before = () => write;
      await look('vies');
      expect(await details(buyer)).toMatchObject({ hasCheckedVatId: false, isVatIdOpen: true });
      expect(await checksOf(buyer)).toEqual([]);
    });

    it('stay as an administrator decided while VIES was asked', async () => {
      const buyer = await arrive();
      let write: Promise<unknown> | undefined;
      vies.how.answer = (asked) => {
        write = sql`update billing_details set refused_vat_id = vat_id`.execute(app.db);
        return inTheName(asked);
      };
      // The answer comes after the decision is stored.
      vies.how.before = () => write;
      await look('vies');
      expect(await details(buyer)).toMatchObject({ hasCheckedVatId: false, hasRefusedVatId: true });
      expect(await checksOf(buyer)).toHaveLength(1);
    });

    it('that changed while VIES was asked are not decided by the answer', async () => {
      const buyer = await arrive();
      let write: Promise<unknown> | undefined;
      vies.how.answer = (asked) => {
        write ??= edit(buyer.accountId, other);
        return inTheName(asked);
      };
      vies.how.before = () => write;
      await look('vies');
      expect(await details(buyer)).toMatchObject({ vatId: other, hasCheckedVatId: false, isVatIdOpen: true });
      expect(await checksOf(buyer)).toEqual([]);
    });
  });

  it('belong to a customer if the register has the same words (contract 7.487)', () => {
    expect(isSameName('Fleurs S.A.R.L.', 'SARL FLEURS')).toBe(true);
    expect(isSameName('Müller & Söhne', 'MULLER, SOHNE')).toBe(true);
    expect(isSameName('ΑΝΘΗ Α.Ε.', 'Άνθη ΑΕ')).toBe(true);
    expect(isSameName('Fleurs', 'Fleurs SARL')).toBe(false);
    expect(isSameName('---', '…')).toBe(false);
  });
});
