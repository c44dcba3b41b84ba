// Signups just inside the limits of contract 7.1 to 7.12. signup-refusals.test.ts has signups just outside the limits.
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { openApp } from '../support/app/app.ts';
import {
  at,
  buildRawMessage,
  buildRawSignup,
  type Change,
  header,
  sendRaw,
  set,
  text,
} from '../support/crm/raw-signups.ts';
import { nest } from '../support/run/cases.ts';
import { shared } from '../support/run/shared.ts';

const now = Math.floor(Date.now() / 1_000);
const longName = '𝄞'.repeat(200);
const longEmail = `${'e'.repeat(241)}@example.test`;

const app = shared(() => openApp({ now: () => new Date(now * 1_000) }));

type Kept = {
  user: { email: string; name: string };
  account: { name: string };
  contract: {
    plan: string;
    status: string;
    trial_ends_at: Date | null;
    occurred_at: Date;
    price_currency: string | null;
    price_unit_amount: string | null;
    price_interval: string | null;
  };
};

async function readKept(signupId: string): Promise<Kept | undefined> {
  const { rows } = await sql<Kept['contract'] & { email: string; name: string; account: string }>`
    select u.email, u.name, a.name as account, c.plan, c.status, c.trial_ends_at, c.occurred_at,
      c.price_currency, c.price_unit_amount, c.price_interval
    from service_contracts c join users u on u.id = c.user_id join accounts a on a.id = c.account_id
    where c.signup_id = ${signupId}`.execute(app.db);
  return rows[0] && { user: rows[0], account: { name: rows[0].account }, contract: rows[0] };
}

const signedHeader = (spell: (genuine: string) => string): Change => ({
  headers: (headers, mac) => headers.set('webhook-signature', spell(`v1,${mac}`)),
});
const contract = (change: object, kept: object = change) =>
  [{ signup: (signup) => Object.assign(signup.contract, change) }, { contract: kept }] as [Change, object];
const price = (change: object, kept: object): [Change, object] => [
  { signup: (signup) => Object.assign(signup.contract.price, change) },
  { contract: kept },
];
const cases: Record<string, [change: Change, kept: object]> = {
  'a timestamp 300 s old': [{ timestamp: String(now - 300) }, {}],
  'a timestamp 300 s ahead': [{ timestamp: String(now + 300) }, {}],
  'an id of one': [{ id: '-' }, {}],
  'an id of 255': [{ id: 'i'.repeat(255) }, {}],
  'the right signature as the last of several': [
    signedHeader((genuine) => `v1,${'A'.repeat(43)}= v1a,x nonsense ${genuine}`),
    {},
  ],
  'the right signature as the first of several': [signedHeader((genuine) => `${genuine} v1,AAAA`), {}],
  'the right signature amid spaces': [signedHeader((genuine) => `v1,AAAA  ${genuine}  v2,x`), {}],
  'the charset said': [header('content-type', 'application/json; charset=utf-8'), {}],
  'the charset said in other letters': [header('content-type', 'Application/JSON;charset="UTF-8"'), {}],
  '64 KiB': [text((json) => json.padEnd(65_536)), {}],
  '64 KiB in pieces': [{ ...text((json) => json.padEnd(65_536)), isChunked: true }, {}],
  'white space around': [text((json) => ` \r\n\t${json}\n`), {}],
  'unknown members everywhere': [
    {
      signup: (signup) => {
        for (const at of [signup, signup.user, signup.account, signup.contract, signup.contract.price])
          Object.assign(at, { id: 'x', role: 'admin', password: 'x', capabilities: ['sell_products'] });
      },
    },
    {},
  ],
  '16 levels': [text((json) => json.replace('{', `{"x":${nest(15)},`)), {}],
  'member names that differ only in case': [text((json) => json.replace('{', '{"User":1,"USER":2,')), {}],
  'needless escapes': [
    text((json) => json.replace('"canary-plan"', '"\\u0063anary\\u002dplan"')),
    { contract: { plan: 'canary-plan' } },
  ],
  'a signup id of 128 characters of all kinds': [set('signup_id', 'aZ09_.:-'.repeat(16)), {}],
  'a signup id of one character': [set('signup_id', ':'), {}],
  'occurred_at 300 s ahead': [
    set('occurred_at', at(now + 300)),
    { contract: { occurred_at: new Date((now + 300) * 1_000) } },
  ],
  'occurred_at in another zone': [
    set('occurred_at', '2026-01-01T05:44:59.999+05:45'),
    { contract: { occurred_at: new Date('2025-12-31T23:59:59.999Z') } },
  ],
  'occurred_at without fractions': [
    set('occurred_at', '2026-01-01T00:00:00-00:30'),
    { contract: { occurred_at: new Date('2026-01-01T00:30:00.000Z') } },
  ],
  'occurred_at of nanoseconds': [
    set('occurred_at', '2026-01-01T00:00:00.123456789Z'),
    { contract: { occurred_at: new Date('2026-01-01T00:00:00.123Z') } },
  ],
  'occurred_at on 29 February': [
    set('occurred_at', '2024-02-29T12:00:00Z'),
    { contract: { occurred_at: new Date('2024-02-29T12:00:00.000Z') } },
  ],
  'occurred_at in 2000': [
    set('occurred_at', '2000-01-01T00:00:00.000Z'),
    { contract: { occurred_at: new Date('2000-01-01T00:00:00.000Z') } },
  ],
  'trial_ends_at at the end of 9999': contract(
    { trial_ends_at: '9999-12-31T23:59:59.999Z' },
    { trial_ends_at: new Date('9999-12-31T23:59:59.999Z') },
  ),
  'trial_ends_at a millisecond after occurred_at': contract(
    { trial_ends_at: at(now - 59.999) },
    { trial_ends_at: new Date((now - 59.999) * 1_000), status: 'expired' },
  ),
  'trial_ends_at on an active contract': contract(
    { status: 'active', trial_ends_at: at(now) },
    { status: 'active', trial_ends_at: new Date(now * 1_000) },
  ),
  'an old trial_ends_at on an active contract': contract(
    { status: 'active', trial_ends_at: at(now - 90 * 24 * 3_600) },
    { status: 'active', trial_ends_at: new Date((now - 90 * 24 * 3_600) * 1_000) },
  ),
  'the trial_ends_at that some programs write for none, on a canceled contract': contract(
    { status: 'canceled', trial_ends_at: '0001-01-01T00:00:00Z' },
    { status: 'canceled', trial_ends_at: new Date('0001-01-01T00:00:00Z') },
  ),
  'no trial_ends_at on an active contract': contract(
    { status: 'active', trial_ends_at: undefined },
    { status: 'active', trial_ends_at: null },
  ),
  'null for trial_ends_at on an active contract': contract(
    { status: 'active', trial_ends_at: null },
    { status: 'active', trial_ends_at: null },
  ),
  'a plan of one character': contract({ plan: '-' }),
  'a plan of 64 characters of all kinds': contract({ plan: 'az09_-'.repeat(11).slice(0, 64) }),
  'no price': contract(
    { price: undefined },
    { price_currency: null, price_unit_amount: null, price_interval: null },
  ),
  'null for the price': contract(
    { price: null },
    { price_currency: null, price_unit_amount: null, price_interval: null },
  ),
  'a price of 0': price({ unit_amount: 0 }, { price_unit_amount: '0' }),
  'a price of 2^53 - 1': price(
    { unit_amount: Number.MAX_SAFE_INTEGER },
    { price_unit_amount: '9007199254740991' },
  ),
  'a yearly price': price({ interval: 'year' }, { price_interval: 'year' }),
  'a price without minor digits': price({ currency: 'JPY' }, { price_currency: 'JPY' }),
  'a price with three minor digits': price({ currency: 'KWD' }, { price_currency: 'KWD' }),
  'a user name of 200 astral characters': [set('user.name', longName), { user: { name: longName } }],
  'an account name of 200 astral characters': [
    set('account.name', longName),
    { account: { name: longName } },
  ],
  'a name of one character among spaces': [set('user.name', '\u00a0 é\n'), { user: { name: 'é' } }],
  'a name in two directions': [set('account.name', '\u200fזואי\u200e Ltd'), {}],
  'an e-mail address of 254 characters': [set('user.email', longEmail), { user: { email: longEmail } }],
  'an e-mail address in capitals with an international domain': [
    set('user.email', 'Canary@MÜNCHEN.example'),
    { user: { email: 'canary@xn--mnchen-3ya.example' } },
  ],
};

it.each(Object.entries(cases))('a signup is accepted with %s', async (name, [change, kept]) => {
  const signup = buildRawSignup(now, String(Object.keys(cases).indexOf(name)));
  const { request } = buildRawMessage(app.config.crmSignupsSecrets?.[0] ?? '', now, signup, change);
  const { status, text: answer } = await sendRaw(app, request);
  expect([status, status === 201 ? '' : answer]).toEqual([201, '']);
  expect(JSON.parse(answer).user.created).toBe(true);
  expect(await readKept(signup.signup_id)).toMatchObject(kept);
});
