// What settings of billing may be (contract 7.101 to 7.113): each thing that can be wrong, and all of them together.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../server/basics/errors.ts';
import { describeTax } from '../../server/billing/settings/describe-settings.ts';
import { type BillingSettings, readSettings, writeSettings } from '../../server/billing/settings/settings.ts';
import {
  describeSettingsForm,
  readSettingsForm,
  writeSettingsForm,
} from '../../server/billing/settings/settings-form.ts';
import { isMemberState, memberStates } from '../../server/billing/values/countries.ts';
import { isMistypedVatId, readVatId, readVatIdOfAny } from '../../server/billing/values/vat-ids.ts';
import { exampleSettings } from '../../server/doors/demo/example-settings.ts';
import { germanSettings } from '../support/billing/settings.ts';

/** Changes the members of the settings at these pointers. The value undefined removes a member. */
function change(changes: Record<string, unknown>, from: BillingSettings = germanSettings): unknown {
  const settings = structuredClone(from) as unknown as Record<string, unknown>;
  for (const [pointer, value] of Object.entries(changes)) {
    const path = pointer.slice(1).split('/');
    const last = path.pop() ?? '';
    const at = path.reduce((inside, name) => inside[name] as Record<string, unknown>, settings);
    if (value === undefined) delete at[last];
    else at[last] = value;
  }
  return settings;
}

function faultsOf(read: () => unknown): Record<string, string> {
  try {
    read();
    return {};
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    expect([error.code, error.status]).toEqual(['validation_failed', 422]);
    return Object.fromEntries(error.errors.map(({ pointer, detail }) => [pointer, detail]));
  }
}

const faults = (json: unknown) => faultsOf(() => readSettings(json));

const taxed = { country: 'DE', percent: '19', category: 'S', from: '2026-01-01' };
const other = { country: '*', percent: '0', category: 'O', words: 'No tax here', from: '2026-01-01' };
const rules = (...more: object[]) => ({ '/tax/rules': [taxed, other, ...more] });

describe('settings', () => {
  it('are kept unchanged, except for spaces, capitals and absent members', () => {
    expect(readSettings(structuredClone(germanSettings))).toEqual(germanSettings);
    const spelled = change({
      '/seller/name': '  Blumen GmbH ',
      '/seller/iban': 'de89 3704 0044 0532 0130 00',
      '/seller/bic': 'cobadeff',
      '/seller/vat_id': 'de 136.695-976',
      '/seller/email': 'Billing@EXAMPLE.test',
      '/seller/address/line2': null,
      '/payment/link': null,
    });
    const { seller, payment } = readSettings(spelled);
    expect(seller).toMatchObject({
      name: 'Blumen GmbH',
      iban: 'DE89370400440532013000',
      bic: 'COBADEFF',
      vat_id: 'DE136695976',
      email: 'billing@example.test',
    });
    expect(JSON.parse(JSON.stringify({ seller, payment }))).not.toHaveProperty('seller.address.line2');
    expect(payment.link).toBeUndefined();
  });

  it('are right as docs/operate/billing.md has them', () => {
    const [, example = ''] = /```json\n(.*?)```/s.exec(readFileSync('docs/operate/billing.md', 'utf8')) ?? [];
    expect(readSettings(JSON.parse(example))).toEqual(exampleSettings);
  });

  it.each<[what: string, changes: Record<string, unknown>, pointer: string, says: RegExp]>([
    ['no seller', { '/seller': undefined }, '/seller', /missing/],
    ['an unknown member', { '/sellers': {} }, '/sellers', /no such member/],
    [
      'an unknown member inside',
      { '/seller/address/state': 'BE' },
      '/seller/address/state',
      /no such member/,
    ],
    ['a name that is empty', { '/seller/name': ' ' }, '/seller/name', /Enter a text/],
    ['a name that is no text', { '/seller/name': 1 }, '/seller/name', /type string/],
    ['a name that is too long', { '/seller/name': 'x'.repeat(201) }, '/seller/name', /200 characters/],
    ['a line that is too long', { '/seller/address/line1': 'x'.repeat(101) }, '/seller/address/line1', /100/],
    ['two lines in one', { '/seller/address/city': 'a\nb' }, '/seller/address/city', /one line/],
    ['a noncharacter', { '/seller/foot': 'a\ufffe' }, '/seller/foot', /cannot be shown/],
    ['a noncharacter of a high plane', { '/seller/foot': 'a\u{1ffff}' }, '/seller/foot', /cannot be shown/],
    ['half a character', { '/seller/foot': 'a\ud800' }, '/seller/foot', /cannot be shown/],
    ['an override', { '/payment/text': 'a\u202eb' }, '/payment/text', /cannot be shown/],
    ['a country that is none', { '/seller/address/country': 'XX' }, '/seller/address/country', /two letters/],
    [
      'a country in small letters',
      { '/seller/address/country': 'de' },
      '/seller/address/country',
      /two letters/,
    ],
    ['another country’s VAT ID', { '/seller/vat_id': 'FR12345678901' }, '/seller/vat_id', /begins with DE/],
    ['a VAT ID that is too short', { '/seller/vat_id': 'DE12345678' }, '/seller/vat_id', /its form/],
    ['a tax number that is too long', { '/seller/tax_number': '1'.repeat(31) }, '/seller/tax_number', /30/],
    ['no tax id', { '/seller/vat_id': undefined, '/seller/tax_number': null }, '/seller/vat_id', /required/],
    ['an address that is none', { '/seller/email': 'billing' }, '/seller/email', /correct format/],
    ['an offset as time zone', { '/seller/time_zone': '+01:00' }, '/seller/time_zone', /IANA/],
    ['a time zone that is none', { '/seller/time_zone': 'Europe/Atlantis' }, '/seller/time_zone', /IANA/],
    ['a currency that is none', { '/seller/currency': 'EURO' }, '/seller/currency', /ISO 4217/],
    ['an IBAN with a wrong digit', { '/seller/iban': 'DE89370400440532013001' }, '/seller/iban', /IBAN/],
    ['an IBAN of no country', { '/seller/iban': 'QQ82WEST12345698765432' }, '/seller/iban', /IBAN/],
    ['a BIC that is too short', { '/seller/bic': 'COBADE' }, '/seller/bic', /BIC/],
    ['a prefix with small letters', { '/numbers/invoice': 'inv-' }, '/numbers/invoice', /A-Z 0-9/],
    ['a prefix that is too long', { '/numbers/invoice': 'I'.repeat(13) }, '/numbers/invoice', /1 to 12/],
    ['no prefix', { '/numbers/credit_note': '' }, '/numbers/credit_note', /1 to 12/],
    ['one prefix for both', { '/numbers/credit_note': 'INV-' }, '/numbers/credit_note', /another prefix/],
    ['a plan whose name is none', { '/plans': { 'A b': { title: 'A' } } }, '/plans/A b', /a-z 0-9/],
    ['a plan without a title', { '/plans/starter/title': undefined }, '/plans/starter/title', /missing/],
    ['a price below 0', { '/plans/starter/price': -1 }, '/plans/starter/price', /whole number from 0/],
    [
      'a price that is too high',
      { '/plans/starter/price': 10 ** 12 + 1 },
      '/plans/starter/price',
      /1000000000000/,
    ],
    ['half a cent', { '/plans/starter/price': 1.5 }, '/plans/starter/price', /whole number/],
    ['more than a year to pay', { '/terms/days_to_pay': 366 }, '/terms/days_to_pay', /0 to 365/],
    ['days that are a text', { '/terms/past_due_after_days': '7' }, '/terms/past_due_after_days', /0 to 365/],
    ['one reminder', { '/terms/reminder_days': [7] }, '/terms/reminder_days', /two numbers/],
    ['a reminder at once', { '/terms/reminder_days': [0, 7] }, '/terms/reminder_days/0', /1 to 365/],
    ['reminders five days apart', { '/terms/reminder_days': [7, 12] }, '/terms/reminder_days/1', /6 days/],
    ['the second reminder first', { '/terms/reminder_days': [14, 7] }, '/terms/reminder_days/1', /6 days/],
    [
      'a yes that is a text',
      { '/terms/customers_may_cancel': 'yes' },
      '/terms/customers_may_cancel',
      /yes or no/,
    ],
    ['prices of another kind', { '/tax/prices': 'both' }, '/tax/prices', /net .* or gross/],
    ['no rule for others', { '/tax/rules': [taxed] }, '/tax/rules', /all other countries/],
    ['no rule for the own country', { '/tax/rules': [other] }, '/tax/rules', /own country/],
    ['no rules', { '/tax/rules': [] }, '/tax/rules', /Add a rule/],
    ['two rules of a day', rules({ ...taxed, percent: '7' }), '/tax/rules/2/from', /Another rule/],
    // Contract 7.544.
    ...['0', '0.00'].map((percent): [string, Record<string, unknown>, string, RegExp] => [
      'S without a rate',
      rules({ ...taxed, country: 'FR', percent }),
      ...(['/tax/rules/2/percent', /above 0/] as const),
    ]),
    ...['100.01', '-1', '1.001', '', 'x', '1e1', '19 %%', '１９'].map(
      (percent): [string, Record<string, unknown>, string, RegExp] => [
        `the rate “${percent}”`,
        rules({ ...taxed, country: 'FR', percent }),
        ...(['/tax/rules/2/percent', /from 0 to 100 %/] as const),
      ],
    ),
    [
      'a rate that is a number',
      rules({ ...taxed, country: 'FR', percent: 19 }),
      '/tax/rules/2/percent',
      /Write it in quotes/,
    ],
    ['no rate', rules({ ...taxed, country: 'FR', percent: undefined }), '/tax/rules/2/percent', /missing/],
    [
      'E with a rate',
      rules({ ...other, country: 'FR', category: 'E', percent: '0.01' }),
      '/tax/rules/2/percent',
      /rate 0/,
    ],
    ['O without words', rules({ ...other, country: 'FR', words: null }), '/tax/rules/2/words', /Say why/],
    [
      'AE as a rule',
      rules({ ...other, country: 'FR', category: 'AE' }),
      '/tax/rules/2/category',
      /S .*E .*O/,
    ],
    ['a rule of no country', rules({ ...taxed, country: 'EU' }), '/tax/rules/2/country', /two letters/],
    [
      'a day that is none',
      rules({ ...taxed, country: 'FR', from: '2026-02-29' }),
      '/tax/rules/2/from',
      /day/,
    ],
    [
      'a day of another century',
      rules({ ...taxed, country: 'FR', from: '1999-12-31' }),
      '/tax/rules/2/from',
      /2000/,
    ],
    [
      'a day after the century',
      rules({ ...taxed, country: 'FR', from: '2100-01-01' }),
      '/tax/rules/2/from',
      /2099/,
    ],
    [
      'other words of reverse charge',
      { '/tax/reverse_charge_words': 'Steuerschuldnerschaft' },
      '/tax/reverse_charge_words',
      /“Reverse charge”/,
    ],
    ['a link without https', { '/payment/link': 'http://pay.example/{number}' }, '/payment/link', /https/],
    [
      'a link with another placeholder',
      { '/payment/link': 'https://pay.example/{name}' },
      '/payment/link',
      /\{number\}/,
    ],
    [
      'a link with a placeholder as host',
      { '/payment/link': 'https://{number}.example/' },
      '/payment/link',
      /host/,
    ],
    ['a link with a password', { '/payment/link': 'https://a:b@pay.example/' }, '/payment/link', /https/],
    [
      'a link of 501 characters',
      { '/payment/link': `https://pay.example/${'x'.repeat(481)}` },
      '/payment/link',
      /https/,
    ],
    // Contract 7.463.
    [
      'a plan’s link without https',
      { '/plans/starter/link': 'http://a.example' },
      '/plans/starter/link',
      /https/,
    ],
    [
      'a plan’s link with a user',
      { '/plans/starter/link': 'https://a@b.example' },
      '/plans/starter/link',
      /https/,
    ],
    [
      'a plan’s link with a brace',
      { '/plans/starter/link': 'https://a.example/{number}' },
      '/plans/starter/link',
      /https/,
    ],
    [
      'a plan’s link of 501 characters',
      { '/plans/starter/link': `https://a.example/${'x'.repeat(483)}` },
      '/plans/starter/link',
      /https/,
    ],
    [
      'a plan’s link that is a script',
      { '/plans/starter/link': 'javascript:alert(1)' },
      '/plans/starter/link',
      /https/,
    ],
    ['a link that is a script', { '/payment/link': 'javascript:alert(1)' }, '/payment/link', /https/],
  ])('are refused with %s', (_, changes, pointer, says) => {
    const found = faults(change(changes));
    expect(found[pointer]).toMatch(says);
    expect(Object.keys(found)).toEqual([pointer]);
  });

  it.each([null, 1, 'x', [], {}])('are refused as a whole if they are %j', (json) => {
    expect(Object.keys(faults(json)).length).toBeGreaterThan(0);
  });

  it('name everything that is wrong at once', () => {
    const found = faults(
      change({
        '/x': 1,
        '/seller/name': '',
        '/seller/vat_id': 'FR1',
        '/numbers/credit_note': 'INV-',
        '/terms/reminder_days': [1, 2],
        '/tax/rules': [{ ...taxed, percent: '0' }],
      }),
    );
    expect(Object.keys(found).sort()).toEqual([
      '/numbers/credit_note',
      '/seller/name',
      '/seller/vat_id',
      '/tax/rules',
      '/tax/rules/0/percent',
      '/terms/reminder_days/1',
      '/x',
    ]);
  });

  it('have 200 rules and plans at most, and texts of every length up to their bound', () => {
    const many = (length: number) =>
      Array.from({ length }, (_, at) => ({ ...taxed, from: `20${10 + at}-01-01`.slice(0, 10) }));
    expect(faults(change({ '/tax/rules': [other, ...many(80)] }))).toEqual({});
    expect(faults(change({ '/tax/rules': [other, ...many(200)] }))['/tax/rules']).toMatch(/200 rules/);
    const plans = Object.fromEntries(Array.from({ length: 201 }, (_, at) => [`p${at}`, { title: 'P' }]));
    expect(faults(change({ '/plans': plans }))['/plans']).toMatch(/200 plans/);
    expect(faults(change({ '/seller/name': '💐'.repeat(200), '/seller/foot': 'x'.repeat(500) }))).toEqual({});
  });

  it('may be at each of their bounds', () => {
    const france = { ...taxed, country: 'FR' };
    for (const changes of [
      rules(
        { ...france, percent: '0.01', from: '2000-01-01' },
        { ...france, percent: '100', from: '2099-12-31' },
      ),
      { '/terms/reminder_days': [1, 7], '/terms/days_to_pay': 0, '/terms/past_due_after_days': 0 },
      { '/terms/reminder_days': [359, 365], '/terms/days_to_pay': 365, '/terms/past_due_after_days': 365 },
      { '/plans/starter/price': 0, '/payment/link': `https://pay.example/${'x'.repeat(480)}` },
      { '/plans/starter/price': 10 ** 12, '/numbers/invoice': 'A'.repeat(12), '/numbers/credit_note': '0' },
      { '/tax/reverse_charge_words': 'Steuerschuldnerschaft (Reverse charge)' },
    ])
      expect(faults(change(changes))).toEqual({});
  });

  it('of a seller outside the EU take another tax id, and of one without tax none', () => {
    const swiss = { '/seller/address/country': 'CH', '/tax/rules': [{ ...taxed, country: 'CH' }, other] };
    expect(faults(change({ ...swiss, '/seller/vat_id': 'CHE-123.456.789 MWST' }))).toEqual({});
    expect(faults(change({ ...swiss, '/seller/vat_id': 'x'.repeat(31) }))['/seller/vat_id']).toMatch(/30/);
    const small = { ...other, country: 'DE', category: 'E', words: 'Small business, § 19 UStG' };
    expect(
      faults(
        change({
          '/seller/vat_id': undefined,
          '/seller/tax_number': undefined,
          '/tax/rules': [small, other],
        }),
      ),
    ).toEqual({});
  });
});

describe('a VAT ID', () => {
  it.each([
    ['AT', 'ATU13585627'],
    ['BE', 'BE0403019261'],
    ['BE', 'BE1756955951'],
    ['BG', 'BG175074752'],
    ['CY', 'CY10259033P'],
    ['CZ', 'CZ25123891'],
    ['DE', 'DE136695976'],
    ['DK', 'DK13585628'],
    ['EE', 'EE100931558'],
    ['ES', 'ESB58378431'],
    ['ES', 'ESX5253868R'],
    ['ES', 'ES54362315K'],
    ['FI', 'FI20774740'],
    ['FR', 'FR40303265045'],
    ['GR', 'EL094259216'],
    ['HR', 'HR33392005961'],
    ['HU', 'HU12892312'],
    ['IE', 'IE6433435F'],
    ['IE', 'IE6433435OA'],
    ['IE', 'IE8D79739I'],
    ['IT', 'IT00743110157'],
    ['LT', 'LT119511515'],
    ['LT', 'LT100001919017'],
    ['LU', 'LU15027442'],
    ['LV', 'LV40003521600'],
    ['MT', 'MT11679112'],
    ['NL', 'NL004495445B01'],
    ['NL', 'NL123456789B13'],
    ['PL', 'PL8567346215'],
    ['PT', 'PT501964843'],
    ['RO', 'RO18547290'],
    ['SE', 'SE123456789701'],
    ['SI', 'SI50223054'],
    ['SK', 'SK2022749619'],
  ])('of %s is such as %s, and nothing else', (country, id) => {
    expect(isMemberState(country)).toBe(true);
    expect(readVatId(country, id)).toBe(id);
    expect(readVatId(country, ` ${id.slice(0, 4)} ${id.slice(4).toLowerCase()}`)).toBe(id);
    for (const wrong of [id.slice(2), `${id}1234`, id.slice(0, 3), `XX${id.slice(2)}`, ''])
      expect(readVatId(country, wrong), wrong).toBeUndefined();
    expect(readVatId(country === 'DE' ? 'AT' : 'DE', id)).toBeUndefined();
  });

  it('with a wrong digit is refused, if its country has a public rule (contract 7.484)', () => {
    const examples = `
      ATU13585627 BE0403019261 BE1756955951 CY10259033P DE136695976 DK13585628
      EE100931558 ESB58378431 ESX5253868R ES54362315K FI20774740 FR40303265045 EL094259216 HR33392005961
      HU12892312 IE6433435F IE6433435OA IE8D79739I IT00743110157 LT119511515 LT100001919017 LU15027442
      LV40003521600 MT11679112 NL004495445B01 NL123456789B13 PL8567346215 PT501964843 RO18547290 SE123456789701
      SI50223054 SK2022749619`.trim();
    for (const id of examples.split(/\s+/)) {
      const country = id.startsWith('EL') ? 'GR' : id.slice(0, 2);
      const wrong = `${id.slice(0, 5)}${(Number(id[5]) + 1) % 10}${id.slice(6)}`;
      expect([isMistypedVatId(id), isMistypedVatId(wrong)], id).toEqual([false, true]);
      expect(readVatId(country, wrong), wrong).toBeUndefined();
      expect(readVatIdOfAny(wrong), wrong).toBeUndefined();
    }
    // The rules for these VAT ids are not public, or there are several rules.
    for (const id of ['BG175074753', 'CZ25123892', 'FRXX303265045', 'LV01010112345', 'ESK1234567A'])
      expect(readVatIdOfAny(id)).toBe(id);
  });

  it('of Greece has no prefix GR, and of other countries has 1 to 30 characters', () => {
    expect(readVatId('GR', 'GR123456789')).toBeUndefined();
    expect(isMemberState('GB')).toBe(false);
    expect(readVatId('GB', ' GB 123 ')).toBe('GB 123');
    for (const wrong of ['', ' ', 'x'.repeat(31), 'a\nb', 'a\uffff'])
      expect(readVatId('GB', wrong)).toBeUndefined();
  });
});

describe('a tax rule', () => {
  const old = (rate: unknown, category = 'S') =>
    rules({ country: 'FR', rate, category, words: category === 'S' ? null : 'None', from: '2026-01-01' });
  const ruleOf = (settings: BillingSettings) => settings.tax.rules[2];

  it('is kept in hundredths of a percent, as the version before reads it (contract 7.544)', () => {
    for (const [percent, rate] of [
      ['8.1', 810],
      [' 8,10 % ', 810],
      ['0.29', 29],
      ['100', 10_000],
    ] as const) {
      const read = readSettings(change(rules({ ...taxed, country: 'FR', percent })));
      expect(ruleOf(read)).toEqual({ ...taxed, country: 'FR', percent: undefined, rate, words: undefined });
      expect(readSettings(writeSettings(read))).toEqual(read);
    }
  });

  it('may still have a rate in hundredths of a percent, but none below 1 % (contract 7.545)', () => {
    expect(ruleOf(readSettings(change(old(100))))?.rate).toBe(100);
    expect(ruleOf(readSettings(change(old(10_000))))?.rate).toBe(10_000);
    expect(ruleOf(readSettings(change(old(0, 'E'))))?.rate).toBe(0);
    for (const rate of [19, 99, 1, -1, 8.1, 10_001, '1900', null, 1e300])
      expect(faults(change(old(rate))), String(rate)).toEqual({
        '/tax/rules/2/rate': expect.stringContaining('"percent": "19" is 19 %'),
      });
    expect(faults(change(old(0)))).toEqual({ '/tax/rules/2/rate': expect.stringContaining('above 0') });
    expect(faults(change(rules({ ...taxed, country: 'FR', rate: 1900 })))).toEqual({
      '/tax/rules/2/rate': 'There is no such member.',
    });
    // A rate of the version before is still shown, and can be set again as it is shown.
    const kept = readSettings(change({}));
    for (const rule of kept.tax.rules) if (rule.category === 'S') rule.rate = 50;
    expect(writeSettings(kept).tax.rules.map(({ percent }) => percent)).toEqual(['0.5', '0.5', '0']);
    expect(readSettings(writeSettings(kept))).toEqual(kept);
    const terms = { ...kept.terms, invoice_while_past_due: true };
    expect(readSettingsForm(writeSettingsForm(writeSettings(kept)))).toEqual({ ...kept, terms });
  });

  it('is said in words, in the order of the file, and countries of the EU without one are named (contract 7.546 and 7.547)', () => {
    const lines = describeTax(readSettings(change({})));
    expect(lines.slice(0, 3)).toEqual([
      'Germany: 19 %, from 2020-01-01',
      'France: 20 %, from 2020-01-01',
      'All others: no tax (O: Not subject to German VAT), from 2020-01-01',
    ]);
    expect(lines[3]).toMatch(/^EU countries without a rule .* “All others”: Austria, Belgium, .*Slovakia$/);
    expect(lines[3]?.split(': ')[1]?.split(', ')).toHaveLength(25);
    const all = memberStates.map((country) => ({ ...taxed, country }));
    expect(describeTax(readSettings(change({ '/tax/rules': [other, ...all] })))).toHaveLength(28);
  });
});

describe('the form of settings', () => {
  const fields = writeSettingsForm(writeSettings(germanSettings));

  it('gives back the settings that it was made from (contract 11.147)', () => {
    // The form says what settings without a choice mean.
    const terms = { ...germanSettings.terms, invoice_while_past_due: true };
    expect(readSettingsForm(fields)).toEqual({ ...germanSettings, terms });
    const waits = { ...germanSettings, terms: { ...terms, invoice_while_past_due: false } };
    expect(readSettingsForm(writeSettingsForm(writeSettings(waits)))).toEqual(waits);
    expect(fields).toMatchObject({ 'ruleRate-1': '19', 'plan-1': 'starter', customersMayCancel: 'yes' });
    const yen = change({ '/seller/currency': 'JPY', '/plans/starter/price': 2900 }) as BillingSettings;
    expect(writeSettingsForm(writeSettings(yen))['planPrice-1']).toBe('2900');
    expect(readSettingsForm(writeSettingsForm(writeSettings(yen)))).toEqual({ ...yen, terms });
  });

  it('has the names of the countries of its rules, and takes codes too (contract 7.455)', () => {
    const countriesOf = (typed: Record<string, string>) =>
      readSettingsForm({ ...fields, ...typed }).tax.rules.map(({ country }) => country);
    expect(fields).toMatchObject({
      country: 'DE',
      'ruleCountry-1': 'Germany',
      'ruleCountry-2': 'France',
      'ruleCountry-3': 'All others',
    });
    expect(countriesOf({ 'ruleCountry-2': ' austria ', 'ruleCountry-3': 'all others' })).toEqual([
      ...['DE', 'AT', '*'],
    ]);
    expect(countriesOf({ 'ruleCountry-2': 'at', 'ruleCountry-3': '*' })).toEqual(['DE', 'AT', '*']);
    expect(faultsOf(() => readSettingsForm({ ...fields, 'ruleCountry-2': 'Atlantis' }))).toEqual({
      '/ruleCountry-2': 'Choose a country from the list, or “All others”.',
    });
    expect(
      faultsOf(() => readSettingsForm({ ...fields, country: '', vatId: '', timeZone: '' })),
    ).toMatchObject({
      '/country': 'Choose a country.',
      '/timeZone': 'Choose a time zone.',
    });
  });

  it('lists every country and time zone that it takes (contract 7.455)', () => {
    const lists = Object.values(describeSettingsForm()).flat();
    const optionsOf = (name: string) =>
      Object.keys(lists.flatMap((part) => part.fields).find((field) => field.name === name)?.options ?? {});
    const names = lists.flatMap(
      ({ table }) => table?.columns.flatMap(({ countries = [] }) => countries) ?? [],
    );
    expect([optionsOf('country').length, names.length]).toEqual([250, 250]);
    const [empty, ...zones] = optionsOf('timeZone');
    expect([empty, zones.length > 300]).toEqual(['', true]);
    for (const timeZone of zones)
      expect(readSettingsForm({ ...fields, timeZone }).seller.time_zone).toBe(timeZone);
    expect(zones).toEqual(expect.arrayContaining(['UTC', 'Europe/Berlin', 'America/New_York']));
  });

  it('takes decimals with a comma, leaves empty rows out, and numbers rows as they are', () => {
    const { tax, plans } = readSettingsForm({
      ...fields,
      'ruleCountry-3': '',
      'ruleRate-3': '',
      'ruleWords-3': ' ',
      'ruleFrom-3': '',
      'ruleCountry-7': '*',
      'ruleRate-7': '7,5 %',
      'ruleCategory-7': 'S',
      'ruleFrom-7': '2026-01-01',
      'plan-2': 'pro',
      'planTitle-2': 'Pro',
      'planPrice-2': '49.9',
      'planLink-2': ' https://crm.example/buy?plan=pro ',
    });
    expect(tax.rules.map(({ country, rate }) => [country, rate])).toEqual([
      ['DE', 1900],
      ['FR', 2000],
      ['*', 750],
    ]);
    expect(plans.pro).toEqual({
      ...{ title: 'Pro', description: undefined, price: 4990 },
      link: 'https://crm.example/buy?plan=pro',
    });
  });

  it.each<[what: string, changed: Record<string, string>, field: string]>([
    ['a seller without a name', { sellerName: '' }, 'sellerName'],
    ['days that are none', { daysToPay: 'two' }, 'daysToPay'],
    ['no choice', { customersMayCancel: '' }, 'customersMayCancel'],
    ['a rate with three decimals', { 'ruleRate-2': '20.001' }, 'ruleRate-2'],
    ['a rule without a day', { 'ruleFrom-3': '' }, 'ruleFrom-3'],
    [
      'a rule below an empty one',
      { 'ruleCountry-9': 'AT', 'ruleRate-9': '20', 'ruleFrom-9': 'x', 'ruleCategory-9': 'S' },
      'ruleFrom-9',
    ],
    ['no rule for others', { 'ruleCountry-3': 'AT' }, 'rules'],
    ['a rate above all', { 'ruleRate-2': '100.01' }, 'ruleRate-2'],
    ['a price that is none', { 'planPrice-1': '1.234' }, 'planPrice-1'],
    ['a plan without a name', { 'planTitle-2': 'X' }, 'plan-2'],
    ['a plan with a slash', { 'plan-1': 'a/b~c' }, 'plan-1'],
    ['a plan twice', { 'plan-4': 'starter', 'planTitle-4': 'X' }, 'plan-4'],
    ['reminders too close', { secondReminder: '8' }, 'secondReminder'],
  ])('says at the field what is wrong with %s', (_, changed, field) => {
    expect(Object.keys(faultsOf(() => readSettingsForm({ ...fields, ...changed })))).toEqual([`/${field}`]);
  });

  it('says in plain words what is missing if nothing was typed', () => {
    const found = faultsOf(() => readSettingsForm({}));
    expect(found['/sellerName']).toBe('Enter a text.');
    expect(found['/daysToPay']).toBe('Enter a whole number from 0 to 365.');
    expect(found['/rules']).toMatch(/Add a rule/);
    expect(Object.keys(found).every((pointer) => /^\/\w+$/.test(pointer))).toBe(true);
  });
});
