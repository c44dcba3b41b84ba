// What everybody may do to everybody (contract 12.1 to 12.16): each procedure and page of `admin`, by what it answers and by
// what has changed in the database.
import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { appRouter } from '../../server/doors/trpc/router.ts';
import { hashPassword } from '../../server/identity/password/passwords.ts';
import { loadPages } from '../../server/instance/build.ts';
import { type Answer, locationOf, openApp, type SendOptions, type TestApp } from '../support/app/app.ts';
import { production } from '../support/app/settings.ts';
import { logIn, openBrowser } from '../support/app/visitor.ts';
import {
  actCases,
  addPerson,
  addSession,
  askFor,
  call,
  digestAll,
  type Person,
  readOutcome,
  rights,
  why,
} from '../support/people/staff.ts';
import { enterCode, setUp, showCode } from '../support/people/totp-app.ts';
import { shared } from '../support/run/shared.ts';

const password = 'seven quiet lanterns';

/** Each procedure by name, and whether it only reads. */
const procedures = new Map(
  Object.entries(
    appRouter._def.procedures as unknown as Record<string, { _def: { type: 'query' | 'mutation' } }>,
  )
    // The procedures about money are in test/staff/books.test.ts.
    .filter(([name]) => name.startsWith('admin.') && !name.startsWith('admin.billing.'))
    .map(([name, { _def }]) => [name.slice('admin.'.length), _def.type === 'query']),
);
const routes = (await loadPages()).routes.filter(({ path }) => /^\/admin(?:[/.]|$)/.test(path));

let clock = Date.now();
const now = () => new Date(clock);
const app = shared(() => openApp({ env: production, now }));
const optional = shared(() =>
  app.startInstance({ env: { ...production, IDENTITY_ADMIN_SECOND_FACTOR: 'optional' } }),
);
let hash: string;

type Caller = Person & { cookie: string; send?: TestApp['send'] };
const callers = {} as Record<CallerName, Caller>;

const hoursAgo = (hours: number) => new Date(clock - hours * 3_600_000);

/** The answer that a caller gets for every procedure and target. Undefined if it depends on the procedure or the target. */
const outright = {
  anonymous: '401 login_required',
  customer: '404 not_found',
  merchant: '404 not_found',
  'customer in an account with staff': '404 not_found',
  'manager without factor': '403 second_factor_required',
  'manager without factor, where it is optional': '403 second_factor_required',
  'administrator with a passkey who gave the password, where it is optional': '403 second_factor_required',
  'administrator who turned the app off, where it is optional': '403 second_factor_required',
  'administrator whose session a hand-off started': '403 second_factor_required',
  'suspended administrator': '401 login_required',
  'administrator who is leaving': '404 not_found',
  'manager who is leaving': '404 not_found',
  'administrator of half a day ago': '401 login_required',
  'administrator of eleven minutes ago': undefined,
  manager: undefined,
  administrator: undefined,
} as const;
type CallerName = keyof typeof outright;
const callerNames = Object.keys(outright) as CallerName[];

const targetNames = [
  'customer',
  'customer in an account with staff',
  'manager',
  'administrator',
  'self',
  'somebody in one’s own account',
] as const;
type TargetName = (typeof targetNames)[number];

const managerHelps = [
  'people.suspend',
  'people.resume',
  'people.endSession',
  'people.endSessions',
  'people.sendMail',
  'people.removeFactors',
  'people.decide',
  'people.decideRights',
  'people.addNote',
];

/** Returns the answer that the contract gives to a caller who is staff. */
function expectedOf(caller: CallerName, name: string, target: TargetName): string {
  const isManager = caller === 'manager';
  const isStaffTarget = target === 'manager' || target === 'administrator' || target === 'self';
  if (name === 'people.get') return '200';
  if (name === 'people.wouldGet') return isManager && isStaffTarget ? '403 not_allowed' : '200';
  const isOwn = target === 'self' || target === 'somebody in one’s own account';
  const isAboutStaff =
    isStaffTarget || (name.startsWith('people.decide') && target === 'customer in an account with staff');
  const isAllowed =
    !isOwn &&
    (isManager
      ? managerHelps.includes(name) && !isAboutStaff
      : !(name === 'people.changeEmail' && isStaffTarget));
  if (!isAllowed) return '403 not_allowed';
  return caller === 'administrator of eleven minutes ago' ? '401 login_required' : '200';
}

beforeAll(async () => {
  hash = await hashPassword(password);
  const add = (role: Person['role']) => addPerson(app, { role, passwordHash: hash });

  /** A manager or administrator who has set an app up, and logged in with it. */
  async function addStaff(role: 'manager' | 'admin'): Promise<Caller> {
    const person = await add(role);
    const { secret } = await setUp(await logIn(app.send, person.email, password), clock);
    // Each code works once, so the clock moves on to the time of the next code.
    clock += 30_000;
    const browser = openBrowser(app.send);
    await browser.login(person.email, password);
    expect((await enterCode(browser, showCode(secret, clock))).status).toBe(303);
    return { ...person, cookie: browser.cookie() };
  }
  const withCookie = async (person: Person, amr: string[], authTime: Date | null = new Date(clock)) => ({
    ...person,
    cookie: (await addSession(app, person.id, { amr, authTime })).cookie,
  });
  const passkey = (id: string) =>
    sql`insert into passkeys (id, user_id, credential_id, public_key, counter, transports, backed_up, name, created_at)
      values (gen_random_uuid(), ${id}, ${id}, '\\x00', 0, '{}', false, 'Key', now())`.execute(app.db);

  callers.anonymous = { ...(await add('user')), cookie: '' };
  callers.customer = await withCookie(await add('user'), ['pwd', 'otp', 'mfa']);
  callers.merchant = await withCookie(await add('user'), ['pwd', 'otp', 'mfa']);
  await sql`update accounts set capabilities = '{sell_products}', verified_at = now()
    where id = ${callers.merchant.accountId}`.execute(app.db);
  const { accountId } = await add('admin');
  callers['customer in an account with staff'] = await withCookie(await addPerson(app, { accountId }), [
    'pop',
    'mfa',
  ]);
  const lacking = await logIn(app.send, (await add('manager')).email, password);
  callers['manager without factor'] = { ...(await whoIs(lacking.cookie())), cookie: lacking.cookie() };
  callers['manager without factor, where it is optional'] = {
    ...callers['manager without factor'],
    send: optional.send,
  };
  callers['administrator with a passkey who gave the password, where it is optional'] = {
    ...(await withCookie(await add('admin'), ['pwd'])),
    send: optional.send,
  };
  await passkey(callers['administrator with a passkey who gave the password, where it is optional'].id);
  callers['administrator who turned the app off, where it is optional'] = {
    ...(await withCookie(await add('admin'), ['pwd', 'otp', 'mfa'])),
    send: optional.send,
  };
  callers['administrator whose session a hand-off started'] = await withCookie(
    await add('admin'),
    ['ext'],
    null,
  );
  await passkey(callers['administrator whose session a hand-off started'].id);
  callers['suspended administrator'] = await addStaff('admin');
  callers['administrator who is leaving'] = await addStaff('admin');
  callers['manager who is leaving'] = await addStaff('manager');
  callers['administrator of half a day ago'] = await addStaff('admin');
  callers['administrator of eleven minutes ago'] = await addStaff('admin');
  callers.manager = await addStaff('manager');
  callers.administrator = await addStaff('admin');

  const { db } = app;
  await sql`insert into clients (id, issuer, name, title, callback_url, listed, roles, restores, created_at, changed_at)
    values (gen_random_uuid(), ${app.config.issuer}, 'shop', 'Shop', 'https://shop.example.test/', '{everybody}', '{admin}', 0,
      now(), now())`.execute(db);
  const set = (name: CallerName, assignment: ReturnType<typeof sql>) =>
    sql`update users set ${assignment} where id = ${callers[name].id}`.execute(db);
  await set('suspended administrator', sql`suspended_at = now()`);
  await set('administrator who is leaving', sql`deletion_due_at = now() + interval '9 days'`);
  await set('manager who is leaving', sql`deletion_due_at = now() + interval '9 days'`);
  const age = (name: CallerName, at: Date) =>
    sql`update sessions set auth_time = ${at} where user_id = ${callers[name].id}`.execute(db);
  await age('administrator of half a day ago', hoursAgo(12.01));
  await age('administrator of eleven minutes ago', hoursAgo(11 / 60));
  await age('administrator', new Date(clock));
  await age('manager', new Date(clock));
});

async function whoIs(cookie: string): Promise<Person> {
  const { rows } = await sql<Person>`select u.id, u.account_id as "accountId", u.email, u.role
    from sessions s join users u on u.id = s.user_id order by s.created_at desc limit 1`.execute(app.db);
  const [person] = rows;
  if (!person || cookie === '') throw new Error('nobody is logged in');
  return person;
}

const send = (caller: Caller, name: string, input: unknown) =>
  call({ send: caller.send ?? app.send }, name, caller.cookie, input, procedures.get(name));

/** Adds somebody on whom the act can change something. `self` is the caller. */
async function addTarget(name: string, target: TargetName, caller: Caller): Promise<Person> {
  if (target === 'self') return caller;
  const roles = { manager: 'manager', administrator: 'admin' } as const;
  const accountId =
    target === 'somebody in one’s own account'
      ? caller.accountId
      : target === 'customer in an account with staff'
        ? (await addPerson(app, { role: 'manager' })).accountId
        : undefined;
  const person = await addPerson(app, {
    role: roles[target as 'manager'] ?? 'user',
    ...(accountId !== undefined && { accountId }),
  });
  await actCases[name]?.arrange?.(app.db, person);
  return person;
}

/** Procedures that are about no person, for administrators only. */
const books = [...procedures.keys()].filter((name) => /^(?:mails|clients|invitations)\./.test(name));

it('each procedure has a row in the table of rights, and each act of these tests', () => {
  expect([...procedures.keys()].sort()).toEqual(
    Object.keys(rights)
      .filter((name) => !name.startsWith('billing.'))
      .sort(),
  );
  const changes = [...procedures].filter(([, isQuery]) => !isQuery).map(([name]) => name);
  expect(Object.keys(actCases).sort()).toEqual(changes.filter((name) => !books.includes(name)).sort());
});

const aboutPeople = [...procedures.keys()].filter(
  (name) => name.startsWith('people.') && name !== 'people.find',
);
const lists = [...procedures.keys()].filter((name) => ![...aboutPeople, ...books].includes(name));
const inputOf = async (name: string, target: Person) =>
  name in actCases ? askFor(app, name, target) : { id: target.id };

describe.each(callerNames)('%s', (callerName) => {
  it('gets what the contract says of each act on each person, and what is refused changes nothing', async () => {
    const caller = callers[callerName];
    const cells: [name: string, target: TargetName, person: Person, expected: string][] = [];
    for (const name of aboutPeople)
      for (const target of targetNames) {
        const expected = outright[callerName] ?? expectedOf(callerName, name, target);
        cells.push([name, target, await addTarget(name, target, caller), expected]);
      }
    const refused = cells.filter(([name, , , expected]) => expected !== '200' || !(name in actCases));
    const inputs = await Promise.all(refused.map(([name, , person]) => inputOf(name, person)));
    const before = await digestAll(app.db);
    const outcomes = await Promise.all(
      refused.map(async ([name], index) => readOutcome(await send(caller, name, inputs[index]))),
    );
    expect(refused.map(([name, target], index) => `${name} on ${target}: ${outcomes[index]}`)).toEqual(
      refused.map(([name, target, , expected]) => `${name} on ${target}: ${expected}`),
    );
    expect(await digestAll(app.db)).toEqual(before);

    for (const [name, target, person, expected] of cells.filter((cell) => !refused.includes(cell))) {
      const { look } = actCases[name] ?? { look: async () => [] };
      const was = await look(app.db, person);
      const answer = await send(caller, name, await inputOf(name, person));
      expect(`${name} on ${target}: ${readOutcome(answer)}`).toBe(`${name} on ${target}: ${expected}`);
      expect(await look(app.db, person), `${name} on ${target}`).not.toEqual(was);
    }
  });

  it('gets the lists, or what everything else is', async () => {
    const before = await digestAll(app.db);
    for (const name of lists) {
      const answer = await send(callers[callerName], name, { q: 'zzz' });
      const isHidden = ['files.list', 'overview.get'].includes(name) && callerName === 'manager';
      const expected = outright[callerName] ?? (isHidden ? '404 not_found' : '200');
      expect(`${name}: ${readOutcome(answer)}`).toBe(`${name}: ${expected}`);
    }
    const { rate_limits: _, ...others } = await digestAll(app.db);
    expect(before).toMatchObject(others);
  });

  it('gets what is about no person as an administrator, and else what is not there', async () => {
    const before = await digestAll(app.db);
    const none = '01900000-0000-7000-8000-0000000000ff';
    const isOld = callerName === 'administrator of eleven minutes ago';
    for (const name of books) {
      const answer = await send(
        callers[callerName],
        name,
        procedures.get(name) ? {} : { id: none, client: 'shop', why: 'x' },
      );
      const ofAdministrator = procedures.get(name)
        ? '200'
        : isOld
          ? '401 login_required'
          : '422 validation_failed';
      const expected = outright[callerName] ?? (callerName === 'manager' ? '404 not_found' : ofAdministrator);
      expect(`${name}: ${readOutcome(answer)}`).toBe(`${name}: ${expected}`);
    }
    const { rate_limits: _, ...others } = await digestAll(app.db);
    expect(before).toMatchObject(others);
  });
});

describe('if several things are wrong, the first is named', () => {
  const nobody = '01900000-0000-7000-8000-0000000000ff';
  const wrong = { why: 'x', seen: 'x', kind: 'x' };
  const outcome = async (caller: CallerName, input: unknown) =>
    readOutcome(await send(callers[caller], 'people.sendMail', input));

  it('in the order of contract 12.14', async () => {
    const staff = await addPerson(app, { role: 'admin' });
    const customer = await addPerson(app);
    for (const caller of callerNames.filter((name) => outright[name] !== undefined))
      expect([caller, await outcome(caller, { id: nobody, ...wrong })]).toEqual([caller, outright[caller]]);
    expect(await outcome('manager', { id: nobody, ...wrong })).toBe('404 not_found');
    expect(await outcome('manager', { id: staff.id.toUpperCase(), ...wrong })).toBe('404 not_found');
    expect(await outcome('manager', { id: staff.id, ...wrong })).toBe('403 not_allowed');
    const old = 'administrator of eleven minutes ago';
    expect(await outcome(old, { id: callers[old].id, ...wrong })).toBe('403 not_allowed');
    expect(await outcome(old, { id: customer.id, ...wrong })).toBe('401 login_required');
    for (let times = 0; times < 5; times++)
      expect(
        await outcome('manager', await askFor(app, 'people.sendMail', customer)),
        `the mail ${times + 1}`,
      ).toBe('200');
    expect(await outcome('manager', { id: customer.id, ...wrong })).toBe('422 validation_failed');
    expect(await outcome('manager', { id: customer.id, ...wrong, why })).toBe('422 validation_failed');
    expect(await outcome('manager', { id: customer.id, ...wrong, why, kind: 'set-password' })).toBe(
      '429 rate_limited',
    );
    const other = await addPerson(app);
    expect(await outcome('manager', { id: other.id, ...wrong, why, kind: 'set-password' })).toBe(
      '409 edited_meanwhile',
    );
  });
});

/** An answer without the parts that differ from request to request, and without the name that was asked for. */
function strip({ status, headers, text }: Answer) {
  const kept = [...headers].filter(([name]) => name !== 'x-request-id');
  const plain = (value: string) =>
    value
      .replaceAll(headers.get('x-request-id') ?? '-', 'ID')
      .replaceAll(/nonce(?:-|=")[\w+/=-]+/g, 'NONCE')
      .replaceAll(/admin|nopes/g, 'NAME');
  return { status, headers: kept.map(([name, value]) => [name, plain(value)]), text: plain(text) };
}

describe('a caller who is not staff finds nothing', () => {
  const strangers = ['customer', 'administrator who is leaving'] as const;
  const json = { 'content-type': 'application/json' };
  const encoded = (input: unknown) => encodeURIComponent(JSON.stringify({ json: input }));
  const ways: [string, SendOptions][] = [
    ['', {}],
    [`?input=${encoded({ id: 1 })}`, {}],
    ['?input=%7B', {}],
    [`?batch=1&input=${encoded({})}`, {}],
    ['', { method: 'HEAD' }],
    ['', { method: 'OPTIONS' }],
    ['', { method: 'PUT', body: '{}', headers: json }],
    ['', { method: 'DELETE' }],
    ['', { json: { json: { id: 'x', why: [] } } }],
    ['', { method: 'POST', body: '{', headers: json }],
    ['', { method: 'POST', body: 'x=1', headers: { 'content-type': 'text/plain' } }],
    ['', { method: 'POST', body: 'x'.repeat(70_000), headers: json }],
    ['', { json: {}, headers: { origin: 'https://evil.example' } }],
    ['?batch=1', { json: { 0: { json: {} } } }],
  ];

  it.each(strangers)('at procedures, as a %s', async (stranger) => {
    const { cookie } = callers[stranger];
    const names = [
      ...[...procedures.keys()].map((name) => `.${name}`),
      '',
      '.',
      '.anything',
      '.people',
      '.people.get.x',
    ];
    for (const name of names)
      for (const [query, options] of ways) {
        const [asked, unknown] = await Promise.all(
          ['admin', 'nopes'].map((first) =>
            app.send(`/trpc/${first}${name}${query}`, { ...options, cookie }),
          ),
        );
        if (!asked || !unknown) throw new Error('not answered');
        expect(strip(asked), `${options.method ?? ''} admin${name}${query}`).toEqual(strip(unknown));
      }
  });

  const paths = [
    ...new Set([
      ...['', '/', '.data', '/people', '/people/', '/people.data', '/audit', '/files/people.csv', '/nothing'],
      ...[
        '/people/01900000-0000-7000-8000-0000000000ff',
        '/people/01900000-0000-7000-8000-0000000000ff.data',
      ],
      ...routes.map(({ path }) => path.replace('/admin', '').replaceAll(/:\w+/g, 'x')),
    ]),
  ];
  const form = { intent: 'suspend', why, seen: 'x' };
  const doors: SendOptions[] = [
    {},
    { method: 'HEAD' },
    { method: 'OPTIONS' },
    { method: 'PUT', body: 'x' },
    { method: 'DELETE' },
    { form },
    { form, headers: { origin: 'https://evil.example' } },
    { method: 'POST', body: 'x'.repeat(70_000) },
    { method: 'POST', body: 'x', headers: { 'content-encoding': 'gzip' } },
  ];
  const accepts: Record<string, string>[] = [{}, { accept: 'text/html' }];

  it.each(strangers)('at pages, as a %s', async (stranger) => {
    const { cookie } = callers[stranger];
    for (const path of [...paths, `/people/${callers.merchant.id}`])
      for (const door of doors)
        for (const accept of accepts) {
          const [asked, unknown] = await Promise.all(
            ['admin', 'nopes'].map((first) =>
              app.send(`/${first}${path}?q=1`, {
                ...door,
                headers: { ...accept, ...door.headers },
                cookie,
              }),
            ),
          );
          if (!asked || !unknown) throw new Error('not answered');
          const where = `${door.method ?? (door.form ? 'POST' : 'GET')} /admin${path} ${JSON.stringify(accept)}`;
          expect(strip(asked), where).toEqual(strip(unknown));
          if (!door.headers && !door.body) expect(asked.status, where).toBe(404);
        }
  });

  it('a caller without a session is led to the login from any path, real or not, and back', async () => {
    for (const cookie of ['', callers['suspended administrator'].cookie])
      for (const path of [...paths, '/people?q=a%20b&role=user'])
        for (const door of doors.filter(({ headers, body }) => !headers && !body)) {
          const answer = await app.send(`/admin${path}`, { ...door, cookie });
          const where = `${door.method ?? ''} /admin${path}`;
          expect([answer.status, answer.text], where).toEqual([303, '']);
          const { pathname, searchParams } = locationOf(answer);
          expect([pathname, searchParams.get('next')], where).toEqual(['/login', `/admin${path}`]);
        }
  });

  it.each(['/%61dmin/people', '/admi%6e/nothing'])('in another spelling, such as %s', async (path) => {
    const asked = await app.send(path, { cookie: callers.customer.cookie });
    const unknown = await app.send('/nopes/people', { cookie: callers.customer.cookie });
    expect(strip(asked)).toEqual(strip(unknown));
    expect((await app.send(path)).status).toBe(303);
  });

  it.each(['/Admin', '//id.example.test//admin', '/admin%2fpeople', '/administrators', '/admin%00'])(
    'at %s, and neither does anybody else',
    async (path) => {
      for (const cookie of ['', callers.administrator.cookie])
        expect((await app.send(path, { cookie })).status).toBe(404);
    },
  );
});

describe('the pages', () => {
  const pages = routes.filter(({ path, isPage }) => isPage && !path.includes(':'));
  const html = { accept: 'text/html' };

  it('lead staff to what they lack, and let the others in (contract 7.151)', async () => {
    for (const { path } of pages) {
      const open = (name: CallerName) => {
        const { cookie, send: sendTo = app.send } = callers[name];
        return sendTo(path, { cookie, headers: html });
      };
      for (const name of callerNames.filter((each) => outright[each] === '403 second_factor_required')) {
        const answer = await open(name);
        expect([name, answer.status], path).toEqual([name, 303]);
        expect(locationOf(answer).searchParams.get('next'), `${path} for ${name}`).toBe(path);
        expect(locationOf(answer).pathname, `${path} for ${name}`).not.toMatch(/^\/admin/);
      }
      const old = await open('administrator of half a day ago');
      expect([old.status, locationOf(old).pathname], path).toEqual([303, '/login']);
      expect(locationOf(old).searchParams.get('next')).toBe(path);
      for (const name of ['manager', 'administrator', 'administrator of eleven minutes ago'] as const) {
        const answer = await open(name);
        expect([name, answer.status === 303 ? locationOf(answer).pathname : answer.status], path).toEqual([
          name,
          path === '/admin' && name === 'manager'
            ? '/admin/people'
            : // Without a contract there is no preview.
              path === '/admin/billing/preview' ||
                (/^\/admin\/(billing|clients|contracts|files|invitations|invoices|mails)/.test(path) &&
                  name === 'manager')
              ? 404
              : 200,
        ]);
      }
    }
  });
});
