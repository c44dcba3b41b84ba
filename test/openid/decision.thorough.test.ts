// Who may enter, by the hand-off and by OpenID Connect, at each step. The outcomes are written from the contract and share no
// code with the service. `npm run test:thorough` runs so many cases that each two values meet, `npm run test:faults` runs all
// cases.
import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { describe, expect, it, vi } from 'vitest';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { type ClientFacts, findClientRow, lockClients } from '../../db/tables/clients.ts';
import { addClient, changeClient, turnOff, turnOn } from '../../server/clients/rows.ts';
import { type Answer, codeOf, locationOf, openApp, type TestInstance } from '../support/app/app.ts';
import { byForm } from '../support/faults/faults.ts';
import {
  addOpenIdClient,
  authorizePath,
  exchange,
  type OpenIdClient,
  readUserinfo,
} from '../support/openid/client.ts';
import { makeDue, runErasure } from '../support/people/leaving.ts';
import { addFactor, addPerson, addSession, type Person } from '../support/people/staff.ts';
import { shared } from '../support/run/shared.ts';

// The time stands still, so that no code expires on a busy machine.
const now = new Date();
const app = shared(() => openApp({ now: () => now }));
const strict = shared(() => app.startInstance({ env: { IDENTITY_ADMIN_SECOND_FACTOR: 'required' } }));

const settings = ['optional', 'required'] as const;
type Setting = (typeof settings)[number];
const at = (setting: Setting): TestInstance => (setting === 'required' ? strict : app);

/** How the session began, and which factor its person has. */
type Login = {
  by: 'a hand-off' | 'a password' | 'a password and a code' | 'a passkey';
  has: 'no factor' | 'an app' | 'a passkey';
};
const logins: Login[] = [
  { by: 'a hand-off', has: 'no factor' },
  { by: 'a hand-off', has: 'an app' },
  { by: 'a hand-off', has: 'a passkey' },
  { by: 'a password', has: 'no factor' },
  { by: 'a password', has: 'an app' },
  { by: 'a password', has: 'a passkey' },
  { by: 'a password and a code', has: 'an app' },
  { by: 'a passkey', has: 'a passkey' },
];
const amrOf: Record<Login['by'], string[]> = {
  'a hand-off': ['ext'],
  'a password': ['pwd'],
  'a password and a code': ['pwd', 'otp', 'mfa'],
  'a passkey': ['pop', 'mfa'],
};

const conditions = ['nothing special', 'suspended', 'frozen', 'leaving', 'unproved'] as const;
const roles = ['customer', 'merchant', 'manager', 'admin'] as const;
type Role = (typeof roles)[number];
const admitted = [['admin'], ['merchant'], ['customer'], ['admin', 'merchant', 'customer']];
const factors = ['optional', 'required'] as const;

/** What the decision looks at. */
type Facts = {
  /** Undefined if nobody is logged in. */
  login: Login | undefined;
  condition: (typeof conditions)[number];
  role: Role;
  admits: string[];
  factor: (typeof factors)[number];
  setting: Setting;
};

type Door = 'launch' | 'authorize';
type Refusal = { page: string | 403; error: string };

/** Returns the first check of rule 4.29 that fails. The errors are those of rule 4.5. Undefined for somebody who may enter. */
function refusalOf(
  { login, condition, role, admits, factor, setting }: Facts,
  door: Door,
): Refusal | undefined {
  // Rule 4.16.
  if (!login) return { page: '/login', error: 'login_required' };
  // Rule 4.20: a suspended person has no session.
  if (condition === 'suspended' || condition === 'frozen') return { page: '/login', error: 'access_denied' };
  // Rule 14.35. The hand-off has no such rule.
  if (door === 'authorize' && login.by === 'a hand-off')
    return { page: '/login?prompt=login', error: 'login_required' };
  // Rules 4.19 and 4.17.
  if (condition === 'leaving') return { page: '/profile/delete', error: 'interaction_required' };
  if (condition === 'unproved') return { page: '/verify-email', error: 'interaction_required' };
  // Rules 13.50 to 13.52: a manager counts as `admin`.
  if (!admits.includes(role === 'manager' ? 'admin' : role)) return { page: 403, error: 'access_denied' };
  // If the client requires a factor, this session must have `mfa` (rule 13.54). If the setting requires one, staff must have a
  // second factor and must have given it in this session (rule 9.80).
  const gave = login.by === 'a password and a code' || login.by === 'a passkey';
  const isStaff = role === 'manager' || role === 'admin';
  const isMissing =
    (factor === 'required' && !gave) ||
    (setting === 'required' && isStaff && !(gave && login.has !== 'no factor'));
  // Rule 13.55.
  const page = login.has === 'an app' ? '/login/code' : '/profile/authenticator';
  return isMissing ? { page, error: 'interaction_required' } : undefined;
}

const rolesOf: Record<Role, { role: Person['role']; capabilities: string[] }> = {
  customer: { role: 'user', capabilities: [] },
  merchant: { role: 'user', capabilities: ['sell_products'] },
  manager: { role: 'manager', capabilities: [] },
  admin: { role: 'admin', capabilities: [] },
};

async function setRole({ id, accountId }: Person, role: Role): Promise<void> {
  const { role: internal, capabilities } = rolesOf[role];
  await sql`update users set role = ${internal} where id = ${id}`.execute(app.db);
  await sql`update accounts set capabilities = ${capabilities}::text[] where id = ${accountId}`.execute(
    app.db,
  );
}

const conditionColumns = {
  'nothing special': sql`suspended_at = null, frozen_at = null, deletion_due_at = null, email_verified_at = now()`,
  suspended: sql`suspended_at = now()`,
  frozen: sql`suspended_at = now(), frozen_at = now()`,
  leaving: sql`deletion_due_at = now() + interval '7 days'`,
  unproved: sql`email_verified_at = null`,
};

async function setCondition({ id }: Person, condition: Facts['condition']): Promise<void> {
  await sql`update users set ${conditionColumns[condition]} where id = ${id}`.execute(app.db);
}

const addPasskey = ({ id }: Person) =>
  sql`insert into passkeys (id, user_id, credential_id, public_key, counter, transports, backed_up, name, created_at)
    values (gen_random_uuid(), ${id}, ${randomBytes(16).toString('base64url')}, '\\x00', 0, '{}', false, 'Test', now())`.execute(
    app.db,
  );

async function arrange({ by, has }: Login, role: Role) {
  const person = await addPerson(app);
  await setRole(person, role);
  if (has === 'an app') await addFactor(app.db, person);
  if (has === 'a passkey') await addPasskey(person);
  const authTime = by === 'a hand-off' ? null : now;
  return { person, ...(await addSession(app, person.id, { amr: amrOf[by], authTime })) };
}

let serial = 0;

async function addHandOffClient(facts: Partial<ClientFacts>): Promise<OpenIdClient> {
  const name = `shop_${++serial}`;
  const callbackUrl = `http://localhost:4000/${name}`;
  const secret = await inTransaction(app.db, { by: 'service', cause: 'test' }, async (trx) => {
    await lockClients(trx);
    const given = { title: name, callbackUrl, loginUrl: null, eventsUrl: null, listed: [] };
    const all = { ...given, roles: [], needsFactor: false, ...facts };
    return addClient(trx, { config: app.config, now: () => now }, { name, kind: 'hand-off', facts: all });
  });
  return { name, secret, redirectUri: callbackUrl };
}

const follows = (check: () => Promise<void>) => vi.waitFor(check, { timeout: 20_000, interval: 100 });

const pathOf: Record<Door, (client: OpenIdClient, prompt?: 'none') => string> = {
  launch: ({ name }, prompt) => `/sso/launch/${name}?state=s1${prompt ? `&prompt=${prompt}` : ''}`,
  authorize: (client, prompt) => authorizePath(client, { prompt }),
};

/** Returns what an answer of either door means, in the words of `refusalOf`. */
function readAnswer(door: Door, { redirectUri }: OpenIdClient, answer: Answer): string {
  if (answer.status !== 303) return `${answer.status} ${codeOf(answer)}`;
  const to = locationOf(answer);
  const { searchParams } = to;
  if (to.href.startsWith(redirectUri)) {
    const success = door === 'launch' ? 'payload' : 'code';
    return searchParams.has(success) ? 'enters' : `error ${searchParams.get('error')}`;
  }
  const next = new URL(searchParams.get('next') ?? '', to).pathname;
  const leadsBack = next.startsWith(door === 'launch' ? '/sso/launch/' : '/oauth/authorize');
  const asksAgain = searchParams.get('prompt') === 'login' ? '?prompt=login' : '';
  return `page ${to.pathname}${asksAgain}${leadsBack ? '' : ` that leads to ${next}`}`;
}

function expectedAnswer(refusal: Refusal | undefined, prompt: 'none' | undefined): string {
  if (!refusal) return 'enters';
  if (prompt === 'none') return `error ${refusal.error}`;
  return refusal.page === 403 ? '403 client_not_allowed' : `page ${refusal.page}`;
}

/** Expects that the chosen cases stand for all cases: each two values that can meet do so in one of the chosen cases. */
function expectPairs(all: readonly object[], chosen: readonly object[]): void {
  const pairsOf = (cases: readonly object[]) =>
    new Set(
      cases.flatMap((given) => {
        const values = Object.entries(given).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
        return values.flatMap((one, n) => values.slice(n + 1).map((other) => `${one}, ${other}`));
      }),
    );
  const met = pairsOf(chosen);
  expect([...pairsOf(all)].filter((pair) => !met.has(pair))).toEqual([]);
}

const nameOf = (given: object) => JSON.stringify(Object.values(given)).replaceAll('"', '');

describe('the doors (contract 4.5, 4.29, 14.34 and 14.35)', () => {
  const people = [
    { login: undefined, condition: 'nothing special', role: 'customer' } as const,
    ...logins.flatMap((login) =>
      conditions.flatMap((condition) => roles.map((role) => ({ login, condition, role }))),
    ),
  ];
  const cases = people.flatMap((person) =>
    admitted.flatMap((admits) =>
      factors.flatMap((factor) =>
        settings.flatMap((setting) =>
          ([undefined, 'none'] as const).map((prompt) => ({ ...person, admits, factor, setting, prompt })),
        ),
      ),
    ),
  );
  const every = byForm({ short: 7, long: 1 });
  const chosen = cases.filter((_, n) => n % every === 0 || cases[n]?.login === undefined);

  it('are asked with values such that each two meet', () => {
    expectPairs(cases, chosen);
  });

  it('let in the same people', async () => {
    const clients = new Map<string, Record<Door, OpenIdClient>>();
    for (const admits of admitted)
      for (const factor of factors) {
        const facts = { roles: admits, needsFactor: factor === 'required' };
        clients.set(nameOf({ admits, factor }), {
          launch: await addHandOffClient(facts),
          authorize: await addOpenIdClient(app, { ...facts, pkce: 'optional' }),
        });
      }
    const last = [...clients.values()].at(-1)?.authorize as OpenIdClient;
    await follows(async () => expect((await strict.send(authorizePath(last))).status).toBe(303));

    const wrong: string[] = [];
    const arranged = new Map<unknown, string>();
    for (const given of chosen) {
      const { login, condition, role, admits, factor, setting, prompt } = given;
      const key = nameOf({ login, condition, role });
      if (login && !arranged.has(key)) {
        const { person, cookie } = await arrange(login, role);
        await setCondition(person, condition);
        arranged.set(key, cookie);
      }
      const pair = clients.get(nameOf({ admits, factor })) as Record<Door, OpenIdClient>;
      for (const door of ['launch', 'authorize'] as const) {
        const expected = expectedAnswer(refusalOf(given, door), prompt);
        const answer = await at(setting).send(pathOf[door](pair[door], prompt), {
          cookie: arranged.get(key),
        });
        const got = readAnswer(door, pair[door], answer);
        if (got !== expected) wrong.push(`${door} ${nameOf(given)}: ${got}, not ${expected}`);
      }
    }
    expect(wrong).toEqual([]);
  });
});

describe('after the door', () => {
  /**
   * What happens to the person. The first four changes end codes and tokens for good (rule 14.58). The other changes block them
   * until the change is undone.
   */
  const changes = [
    ...(['suspended', 'frozen', 'logged out', 'erased'] as const),
    ...(['leaving', 'unproved', 'another role', 'made a manager', 'without factor', 'as before'] as const),
  ];
  type Change = (typeof changes)[number];
  const forGood: readonly Change[] = ['suspended', 'frozen', 'logged out', 'erased'];
  const steps = ['token', 'userinfo'] as const;

  const otherRole = (role: Role): Role => (role === 'customer' ? 'merchant' : 'customer');

  function changed(facts: Facts, change: Change): Facts {
    if (change === 'leaving' || change === 'unproved') return { ...facts, condition: change };
    if (change === 'another role') return { ...facts, role: otherRole(facts.role) };
    if (change === 'made a manager') return { ...facts, role: 'manager' };
    if (change === 'without factor' && facts.login)
      return { ...facts, login: { ...facts.login, has: 'no factor' } };
    return facts;
  }

  const cases = logins
    .filter(({ by }) => by !== 'a hand-off')
    .flatMap((login) =>
      roles.flatMap((role) =>
        factors.flatMap((factor) =>
          settings.flatMap((setting) => changes.map((change) => ({ login, role, factor, setting, change }))),
        ),
      ),
    )
    .flatMap((given) => steps.map((step) => ({ ...given, step })))
    .filter(
      (given) =>
        refusalOf(
          { ...given, condition: 'nothing special', admits: [payloadRole(given.role)] },
          'authorize',
        ) === undefined,
    );
  const every = byForm({ short: 3, long: 1 });
  const chosen = cases.filter((_, n) => n % every === 0);

  it('the values are such that each two meet', () => {
    expectPairs(cases, chosen);
  });

  async function doChange(
    { person, sessionId }: Awaited<ReturnType<typeof arrange>>,
    change: Change,
    role: Role,
  ) {
    if (change === 'another role') await setRole(person, otherRole(role));
    else if (change === 'made a manager') await setRole(person, 'manager');
    else if (change === 'without factor')
      for (const table of ['authenticators', 'passkeys'])
        await sql`delete from ${sql.table(table)} where user_id = ${person.id}`.execute(app.db);
    else if (change === 'logged out')
      await sql`update sessions set ended_at = now() where id = ${sessionId}`.execute(app.db);
    else if (change === 'erased') {
      await makeDue(app.db, person.email);
      await runErasure(app.db);
    } else if (change !== 'as before') await setCondition(person, change);
  }

  async function undo(
    { person }: Awaited<ReturnType<typeof arrange>>,
    change: Change,
    { login, role }: Pick<Facts, 'login' | 'role'>,
  ) {
    if (change === 'erased' || change === 'logged out') return;
    await setCondition(person, 'nothing special');
    await setRole(person, role);
    if (change !== 'without factor') return;
    if (login?.has === 'an app') await addFactor(app.db, person);
    if (login?.has === 'a passkey') await addPasskey(person);
  }

  it('a code and a token are worth what the person is then (contract 14.47, 14.57 and 14.58)', async () => {
    const clients = new Map<string, OpenIdClient>();
    for (const admits of ['admin', 'merchant', 'customer'])
      for (const factor of factors)
        clients.set(
          nameOf({ admits, factor }),
          await addOpenIdClient(app, { roles: [admits], needsFactor: factor === 'required' }),
        );
    const last = [...clients.values()].at(-1) as OpenIdClient;
    await follows(async () => expect((await strict.send(authorizePath(last))).status).toBe(303));

    const wrong: string[] = [];
    for (const given of chosen) {
      const { login, role, factor, setting, change, step } = given;
      const admits = payloadRole(role);
      const client = clients.get(nameOf({ admits, factor })) as OpenIdClient;
      const instance = at(setting);
      const arranged = await arrange(login, role);
      const answer = await instance.send(authorizePath(client), { cookie: arranged.cookie });
      const code = locationOf(answer).searchParams.get('code') ?? '';
      const token = step === 'userinfo' ? readToken(await exchange(instance, client, code)) : '';
      const ask = async () =>
        step === 'token'
          ? meaningOf(await exchange(instance, client, code))
          : meaningOf(await readUserinfo(instance, token));
      const check = async (when: string, isOpen: boolean) => {
        const closed = step === 'token' ? '400 invalid_grant' : '401 invalid_token';
        const expected = isOpen ? '200' : closed;
        const got = await ask();
        if (got !== expected) wrong.push(`${nameOf(given)} ${when}: ${got}, not ${expected}`);
      };
      const facts: Facts = { ...given, condition: 'nothing special', admits: [admits] };
      const isOpen =
        !forGood.includes(change) && refusalOf(changed(facts, change), 'authorize') === undefined;
      await doChange(arranged, change, role);
      await check('then', isOpen);
      await undo(arranged, change, facts);
      // A code that has been exchanged works no more.
      if (!(step === 'token' && isOpen)) await check('afterwards', !forGood.includes(change));
    }
    expect(wrong).toEqual([]);
  });

  it('what a late instance makes while the row is off is worth nothing later (contract 14.58)', async () => {
    const { cookie } = await arrange({ by: 'a password', has: 'no factor' }, 'customer');
    const client = await addOpenIdClient(app);
    await follows(async () => expect((await strict.send(authorizePath(client))).status).toBe(303));
    const switchTo = (turn: typeof turnOff) =>
      inTransaction(app.db, { by: 'service', cause: 'test' }, async (trx) => {
        await lockClients(trx);
        const row = await findClientRow(trx, { issuer: app.config.issuer, name: client.name });
        if (row) await turn(trx, { config: app.config, now: () => new Date() }, row);
      });
    const settled = (status: number) =>
      follows(async () => {
        for (const instance of [app, strict])
          expect((await instance.send(authorizePath(client))).status).toBe(status);
      });
    const made: { code: string | null; token?: string }[] = [];
    for (let times = 0; times < 20 && made.length === 0; times++) {
      await switchTo(turnOff);
      // An instance has two seconds to follow.
      for (const instance of [app, strict]) {
        const answer = await instance.send(authorizePath(client), { cookie });
        const other = await instance.send(authorizePath(client), { cookie });
        if (answer.status !== 303 || other.status !== 303) continue;
        const [code, unused] = [answer, other].map((each) => locationOf(each).searchParams.get('code'));
        const exchanged = await exchange(instance, client, code ?? '');
        made.push({ code: unused ?? null, ...(exchanged.status === 200 && { token: readToken(exchanged) }) });
      }
      await settled(400);
      await switchTo(turnOn);
      await settled(303);
    }
    expect(made.length).toBeGreaterThan(0);
    for (const { code, token } of made) {
      expect(meaningOf(await exchange(app, client, code ?? ''))).toBe('400 invalid_grant');
      if (token) expect(meaningOf(await readUserinfo(app, token))).toBe('401 invalid_token');
    }
  });

  const rowChanges = ['other roles', 'a factor', 'off'] as const;

  it('and what the row asks for then (contract 14.47, 14.57 and 14.58)', async () => {
    const admin = await arrange({ by: 'a password and a code', has: 'an app' }, 'admin');
    const merchant = await arrange({ by: 'a password', has: 'no factor' }, 'merchant');
    const subjects = [admin, merchant].flatMap((who) => rowChanges.map((change) => ({ who, change })));
    const clients = new Map<string, OpenIdClient>();
    for (const change of rowChanges)
      clients.set(change, await addOpenIdClient(app, { roles: ['admin', 'merchant'] }));
    await follows(async () =>
      expect((await strict.send(authorizePath(clients.get('off') as OpenIdClient))).status).toBe(303),
    );
    const opened: ((typeof subjects)[number] & { client: OpenIdClient; code: string; token: string })[] = [];
    for (const { who, change } of subjects) {
      const client = clients.get(change) as OpenIdClient;
      const getCode = async () =>
        locationOf(await app.send(authorizePath(client), { cookie: who.cookie })).searchParams.get('code') ??
        '';
      const token = readToken(await exchange(app, client, await getCode()));
      opened.push({ who, change, client, code: await getCode(), token });
    }
    const change = async (
      facts: Record<(typeof rowChanges)[number], Partial<ClientFacts> | 'off' | 'on'>,
    ) => {
      for (const [which, stated] of Object.entries(facts)) {
        const { name } = clients.get(which) as OpenIdClient;
        await inTransaction(app.db, { by: 'service', cause: 'test' }, async (trx) => {
          await lockClients(trx);
          const row = await findClientRow(trx, { issuer: app.config.issuer, name });
          if (!row) throw new Error(`no ${name}`);
          const deps = { config: app.config, now: () => new Date() };
          if (stated === 'off') await turnOff(trx, deps, row);
          else if (stated === 'on') await turnOn(trx, deps, row);
          else await changeClient(trx, deps, row, stated);
        });
      }
    };
    /** Each instance follows the change, and forgets what it knew before. */
    const settled = (status: number) =>
      follows(async () => {
        for (const instance of [app, strict])
          expect((await instance.send(authorizePath(clients.get('off') as OpenIdClient))).status).toBe(
            status,
          );
      });
    const isOpen = {
      'other roles': { admin: true, merchant: false },
      'a factor': { admin: true, merchant: false },
      off: { admin: false, merchant: false },
    };
    const ask = async (use: 'then' | 'afterwards') => {
      const got: string[] = [];
      const expected: string[] = [];
      for (const { who, change, client, code, token } of opened) {
        const name = who === admin ? 'admin' : 'merchant';
        const open = use === 'then' ? isOpen[change][name] : change !== 'off';
        for (const instance of [app, strict]) {
          got.push(`${change} ${name}: ${meaningOf(await readUserinfo(instance, token))}`);
          expected.push(`${change} ${name}: ${open ? '200' : '401 invalid_token'}`);
        }
        // If the person may enter in spite of the change, their code is not used now but kept for later.
        if (use === 'then' && open) continue;
        const closed = change === 'off' && use === 'then' ? '401 invalid_client' : '400 invalid_grant';
        got.push(`${change} ${name}: ${meaningOf(await exchange(app, client, code))}`);
        expected.push(`${change} ${name}: ${open ? '200' : closed}`);
      }
      expect(got).toEqual(expected);
    };
    await change({ 'other roles': { roles: ['admin'] }, 'a factor': { needsFactor: true }, off: 'off' });
    await settled(400);
    await ask('then');
    await change({
      'other roles': { roles: ['merchant', 'admin'] },
      'a factor': { needsFactor: false },
      off: 'on',
    });
    await settled(303);
    await ask('afterwards');
  });
});

function payloadRole(role: Role): string {
  return role === 'manager' ? 'admin' : role;
}

function meaningOf({ status, text }: Answer): string {
  return status === 200 ? '200' : `${status} ${JSON.parse(text).error}`;
}

function readToken(answer: Answer): string {
  if (answer.status !== 200) throw new Error(`no token: ${answer.status} ${answer.text}`);
  return JSON.parse(answer.text).access_token;
}
