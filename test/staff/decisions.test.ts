// What happens if staff and operators decide something about an account that the marketplace has already said (contract
// 12.180).
import { sql } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Answer, locationOf, openApp } from '../support/app/app.ts';
import { runCli } from '../support/app/cli.ts';
import { openBrowser } from '../support/app/visitor.ts';
import { handOver } from '../support/marketplace/marketplace.ts';
import { addPerson, addSession, addStaff, call, formsOf, readData, why } from '../support/people/staff.ts';
import { shared } from '../support/run/shared.ts';

let cookie: string;
const app = shared(() =>
  openApp({ env: { SSO_MARKETPLACE_LOGIN_URL: 'http://market.localhost:4000/login' } }),
);
beforeAll(async () => {
  ({ cookie } = await addSession(app, (await addPerson(app, { role: 'admin' })).id));
});

type Decision = 'yes' | 'no' | 'undecided';
type Merchant = { id: string; externalId: string; email: string };
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000);
const verification = 'verification';
const openPage = (id: string) =>
  app.send(`/admin/people/${id}/rights`, { cookie, headers: { accept: 'text/html' } });

/** Adds somebody who, as the marketplace says, sells products and services, and so is verified. */
async function addMerchant(capabilities = ['sell_products', 'sell_services']): Promise<Merchant> {
  const externalId = uuidv7();
  await handOver(app, { id: externalId, capabilities, profileUpdatedAt: minutesAgo(9) });
  const { rows } = await sql<{ id: string; email: string }>`select u.id, u.email from users u
    join external_links l on l.user_id = u.id where l.external_id = ${externalId}`.execute(app.db);
  const [{ id = '', email = '' } = {}] = rows;
  return { id, externalId, email };
}

/** Returns the capabilities of this merchant that each client would get now. */
async function readGets({ id }: Merchant): Promise<string[]> {
  const gets = readData(await call(app, 'people.wouldGet', cookie, { id }, true)) as {
    payload: { profile: { account: { capabilities: string[] } } };
  }[];
  const said = new Set(gets.map(({ payload }) => payload.profile.account.capabilities.join(' ')));
  expect(gets.length).toBeGreaterThan(2);
  return [...said];
}

/** Returns what a change tells clients and the person. */
async function readTold({ id }: Merchant) {
  const { rows } = await sql`select profile_updated_at,
      (select count(*)::int from events e where e.user_id = u.id) as events,
      (select count(*)::int from mails m where m.user_id = u.id) as mails
    from users u where id = ${id}`.execute(app.db);
  return rows[0];
}

const readSources = async ({ id }: Merchant) =>
  (
    await sql`select granted_here, revoked_here, verified_here from accounts
      where id = (select account_id from users where id = ${id})`.execute(app.db)
  ).rows[0];

const intents = {
  yes: ['verify', 'grant'],
  no: ['unverify', 'revoke'],
  undecided: ['undecide', 'undecide'],
} as const;

type Door = (merchant: Merchant, what: string, decision: Decision) => Promise<void>;
const doors: Record<string, Door> = {
  async page({ id }, what, decision) {
    const form = formsOf(await openPage(id)).get('decide');
    expect(form).toBeDefined();
    const path = `/admin/people/${id}/rights`;
    const answer = await app.send(path, { cookie, form: { ...form, [what]: decision, why } });
    expect(answer.headers.get('location')).toBe(`${path}?saved=decide`);
    const checked = new RegExp(`<input(?=[^>]* name="${what}")(?=[^>]* checked="")[^>]* value="${decision}"`);
    expect((await openPage(id)).text).toMatch(checked);
  },
  // Contract 11.113.
  async tRPC({ id }, what, decision) {
    const { seen } = readData(await call(app, 'people.get', cookie, { id }, true));
    const intent = intents[decision][what === verification ? 0 : 1];
    const asked = { id, why, what, decision, seen: seen[intent] };
    expect(readData(await call(app, 'people.decide', cookie, asked))).toBe('done');
  },
  async command({ email }, what, decision) {
    const intent = intents[decision][what === verification ? 0 : 1];
    const isNamed = what !== verification || decision === 'undecided';
    const args = [`account:${intent}`, email, ...(isNamed ? [what] : []), '--why', why];
    const { code, out, err } = await runCli(app.databaseUrl, args);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/^Done\. /);
  },
};

const removeLink = ({ externalId }: Merchant) =>
  sql`delete from external_links where external_id = ${externalId}`.execute(app.db);

describe.each(Object.keys(doors))('by %s', (name) => {
  const decide = doors[name] as Door;

  it('a right that the marketplace says already is kept, tells nobody, and stays when the marketplace takes its own back', async () => {
    const merchant = await addMerchant();
    expect(await readGets(merchant)).toEqual(['sell_products sell_services']);
    const before = await readTold(merchant);
    await decide(merchant, 'sell_services', 'yes');
    await decide(merchant, 'sell_products', 'yes');
    await decide(merchant, verification, 'yes');
    expect(await readTold(merchant)).toEqual(before);
    expect(await readSources(merchant)).toEqual({
      granted_here: ['sell_services', 'sell_products'],
      revoked_here: null,
      verified_here: true,
    });
    const { rows } = await sql`select type, reason, details ->> 'what' as what, why from audit_events
      where user_id = ${merchant.id} and type like '%.decided' order by at, id`.execute(app.db);
    expect(rows).toEqual([
      { type: 'capability.decided', reason: 'yes', what: 'sell_services', why },
      { type: 'capability.decided', reason: 'yes', what: 'sell_products', why },
      { type: 'verification.decided', reason: 'yes', what: verification, why },
    ]);
    await handOver(app, { id: merchant.externalId, capabilities: [], profileUpdatedAt: minutesAgo(5) });
    expect(await readGets(merchant)).toEqual(['sell_products sell_services']);
    await removeLink(merchant);
    expect(await readGets(merchant)).toEqual(['sell_products sell_services']);
  });

  it('a right that is left to the marketplace again follows the marketplace', async () => {
    const merchant = await addMerchant();
    await decide(merchant, 'sell_services', 'yes');
    await decide(merchant, verification, 'yes');
    const before = await readTold(merchant);
    await decide(merchant, 'sell_services', 'undecided');
    await decide(merchant, verification, 'undecided');
    expect(await readTold(merchant)).toEqual(before);
    await removeLink(merchant);
    expect(await readGets(merchant)).toEqual(['']);
  });

  it('a right that the account lacks is refused for later, too', async () => {
    const merchant = await addMerchant([]);
    const before = await readTold(merchant);
    await decide(merchant, 'sell_products', 'no');
    await decide(merchant, verification, 'no');
    expect(await readTold(merchant)).toEqual(before);
    const all = ['sell_products', 'sell_services'];
    await handOver(app, { id: merchant.externalId, capabilities: all, profileUpdatedAt: minutesAgo(5) });
    expect(await readGets(merchant)).toEqual(['sell_services']);
    const { events: eventsBefore, mails } = (await readTold(merchant)) as { events: number; mails: number };
    await decide(merchant, verification, 'yes');
    expect(await readTold(merchant)).toMatchObject({ events: eventsBefore, mails: mails + 1 });
  });
});

it('a form is made from what was decided: what the marketplace says meanwhile does not refuse it, another decision does', async () => {
  const merchant = await addMerchant([]);
  const forms = formsOf(await openPage(merchant.id));
  await handOver(app, {
    id: merchant.externalId,
    capabilities: ['sell_services'],
    profileUpdatedAt: minutesAgo(5),
  });
  const send = (decision: Decision) => {
    const form = { ...forms.get('decide'), sell_services: decision, why };
    return app.send(`/admin/people/${merchant.id}/rights`, { cookie, form });
  };
  expect((await send('yes')).status).toBe(303);
  expect((await readSources(merchant)) as object).toMatchObject({ granted_here: ['sell_services'] });
  expect((await send('no')).status).toBe(409);
});

/** What the form of a page would send if nobody touched it. */
function standing(page: Answer): Record<string, string> {
  const radios = [...page.text.matchAll(/<input [^>]*type="radio"[^>]*>/g)].filter(([tag]) =>
    tag.includes('checked=""'),
  );
  const readTag = (tag: string, name: string) => new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1] ?? '';
  const chosen = radios.map(([tag]) => [readTag(tag, 'name'), readTag(tag, 'value')]);
  return { ...formsOf(page).get('decide'), ...Object.fromEntries(chosen) };
}

it.each([
  ['is refused', 409, 0],
  ['waited for a credential until a new login', 200, 11],
])(
  'a form that %s shows what a colleague has decided meanwhile, and does not undo it (contract 12.19)',
  async (_, status, minutes) => {
    const staff = await addStaff(app, 'admin', { authTime: minutesAgo(minutes) });
    const merchant = await addMerchant();
    const path = `/admin/people/${merchant.id}/rights`;
    const headers = { accept: 'text/html' };
    const browser = openBrowser(app.send, staff.cookie);
    const form = { ...standing(await browser.send(path, { headers })), verification: 'yes', why };
    expect(form).toMatchObject({ sell_products: 'undecided' });
    await doors.page?.(merchant, 'sell_products', 'no');
    const { pathname, search } = locationOf(await browser.send(path, { form, headers }));
    const [name = '', token = ''] = (await addSession(app, staff.id)).cookie.split('=');
    browser.jar.set(name, token);
    const shown = await browser.send(pathname + search, { headers });
    expect([shown.status, shown.text.includes(`value="${why}"`)]).toEqual([status, true]);
    expect(standing(shown)).toMatchObject({ sell_products: 'no', verification: 'undecided' });
    const again = { ...standing(shown), verification: 'yes', why };
    const sent = await browser.send(path, { form: again, headers });
    expect(sent.headers.get('location')).toBe(`${path}?saved=decide`);
    expect(await readSources(merchant)).toMatchObject({
      ...{ revoked_here: ['sell_products'], verified_here: true },
    });
  },
);

it('a form that is refused for another reason keeps what was chosen', async () => {
  const [staff, { id }] = [await addStaff(app), await addMerchant()];
  const path = `/admin/people/${id}/rights`;
  const headers = { accept: 'text/html' };
  const browser = openBrowser(app.send, staff.cookie);
  const form = { ...standing(await browser.send(path, { headers })), verification: 'yes', why: 'x' };
  const { pathname, search } = locationOf(await browser.send(path, { form, headers }));
  const shown = await browser.send(pathname + search, { headers });
  expect([shown.status, standing(shown)]).toEqual([422, expect.objectContaining({ verification: 'yes' })]);
});

it('one of 16 decisions at once is recorded', async () => {
  const merchant = await addMerchant();
  const { seen } = readData(await call(app, 'people.get', cookie, { id: merchant.id }, true));
  const asked = { id: merchant.id, why, what: 'sell_services', decision: 'yes', seen: seen.grant };
  await Promise.all(Array.from({ length: 16 }, () => call(app, 'people.decide', cookie, asked)));
  const { rows } = await sql`select 1 from audit_events
    where user_id = ${merchant.id} and type = 'capability.decided'`.execute(app.db);
  expect(rows).toHaveLength(1);
});

describe('several decisions at once (contract 12.232)', () => {
  const read = async ({ id }: Merchant) => {
    const { rows } = await sql<{ type: string; what: string }>`select type, details ->> 'what' as what
      from audit_events where user_id = ${id} and type like 'staff.%' and type <> 'staff.looked'
      order by at, id`.execute(app.db);
    return rows.map(({ type, what }) => `${type} ${what}`).sort();
  };
  const ask = async ({ id }: Merchant, fields: Record<string, string>) => {
    const { seen } = readData(await call(app, 'people.get', cookie, { id }, true));
    return readData(
      await call(app, 'people.decideRights', cookie, { id, why, seen: seen.decide, ...fields }),
    );
  };

  it('are one change with one mail, and each is in the audit', async () => {
    const merchant = await addMerchant(['sell_services']);
    const { mails } = (await readTold(merchant)) as { mails: number };
    const fields = { verification: 'yes', sell_products: 'yes', sell_services: 'no', manage_storefront: '' };
    expect(await ask(merchant, fields)).toBe('done');
    expect(await readGets(merchant)).toEqual(['sell_products']);
    expect(await readTold(merchant)).toMatchObject({ mails: mails + 1 });
    expect(await read(merchant)).toEqual([
      'staff.grant sell_products',
      'staff.revoke sell_services',
      'staff.verify verification',
    ]);
    expect(await ask(merchant, fields)).toBe('nothing');
    expect(await ask(merchant, {})).toBe('nothing');
    expect(await read(merchant)).toHaveLength(3);
  });

  it('are all refused if one is wrong', async () => {
    const merchant = await addMerchant([]);
    const before = await readSources(merchant);
    const { seen } = readData(await call(app, 'people.get', cookie, { id: merchant.id }, true));
    const asked = { id: merchant.id, why, seen: seen.decide, verification: 'yes', sell_products: 'maybe' };
    expect((await call(app, 'people.decideRights', cookie, asked)).status).toBe(422);
    expect(await readSources(merchant)).toEqual(before);
  });

  it('that change only who decides tell nobody', async () => {
    const merchant = await addMerchant();
    const before = await readTold(merchant);
    expect(await ask(merchant, { verification: 'yes', sell_products: 'yes', sell_services: 'yes' })).toBe(
      'done',
    );
    expect(await readTold(merchant)).toEqual(before);
  });
});
