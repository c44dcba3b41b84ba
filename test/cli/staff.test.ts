// What staff do for people, by command (contract 12.37 to 12.46 and 11.52 to 11.54).
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { openApp } from '../support/app/app.ts';
import { expectMisused, expectRefused, runCli } from '../support/app/cli.ts';
import { logIn } from '../support/app/visitor.ts';
import { digestRows, idOf } from '../support/database/database.ts';
import { listNotices } from '../support/people/kept-mail.ts';
import { setUp } from '../support/people/totp-app.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(openApp);

const why = ['--why', 'A call, ticket 4711'];
const said = 'A call, ticket 4711';
const by = ['--by', 'Olga Operator'];
const cli = (...args: string[]) => runCli(app.databaseUrl, args);
// Leaves out `mails`, because the service may be sending one.
const tables = ['users', 'accounts', 'sessions', 'audit_events', 'changes'];

async function read(...args: string[]): Promise<string> {
  const { code, out, err } = await cli(...args);
  expect({ code, err }, args.join(' ')).toEqual({ code: 0, err: '' });
  return out;
}
const readJson = async (...args: string[]) =>
  (await read(...args, '--json'))
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));

const eventsOf = async (type: string) =>
  (
    await sql<{ userId: string | null; why: string | null; details: Record<string, unknown> }>`
      select user_id as "userId", why, details from audit_events where type = ${type} order by at, id`.execute(
      app.db,
    )
  ).rows;

const hostile = 'Hana\u001b[2J\u009b1m\u202egnp\u2028<b>=1+1';
const escaped = 'Hana\\u{1b}[2J\\u{9b}1m\\u{202e}gnp\\u{2028}<b>=1+1';
const moves = /[^\P{C}\n]|\p{Zl}/u;

/** Gives somebody a name that no form accepts. */
const rename = (email: string, name: string) =>
  sql`update users set name = ${name} where email = ${email}`.execute(app.db);

describe('find', () => {
  it('prints who they are, a line each, and leaves how many there were and not what was looked for (contract 12.35 and 12.45)', async () => {
    const email = 'new-merchant@example.test';
    const id = await idOf(app.db, email);
    await rename(email, hostile);
    const line = await read('find', email, ...by);
    expect(line).toContain(`${id}  ${email}  ${escaped}  `);
    expect(line).not.toMatch(moves);
    const [found, ...more] = await readJson('find', email);
    expect(more).toEqual([]);
    expect(Object.keys(found)).toEqual(['id', 'email', 'name', 'account', 'role', 'state']);
    expect(found).toMatchObject({ id, email, name: hostile, role: 'user', state: 'active' });
    const searched = await eventsOf('staff.searched');
    expect(searched).toMatchObject([
      { userId: null, details: { by: 'cli', operator: 'Olga Operator', hits: 1 } },
      { userId: null, details: { by: 'cli', hits: 1 } },
    ]);
    expect(JSON.stringify(searched)).not.toContain('new-merchant');
  });

  it('says that nobody was found, and exits with 0', async () => {
    expect(await read('find', 'zzz-nobody')).toBe('Nobody was found.\n');
    expect(await read('find', 'zzz-nobody', '--json')).toBe('');
    expectMisused(await cli('find', 'x', '--state', 'happy'), /Allowed choices are suspended/);
  });

  it('prints the newest if nothing is asked for', async () => {
    expect((await read('find', '--json')).trim().split('\n').length).toBeGreaterThan(5);
  });
});

describe('user:show', () => {
  it('prints all there is of a person, by address or id, and leaves that somebody looked (contract 12.32 and 12.45)', async () => {
    const email = 'merchant@example.test';
    const id = await idOf(app.db, email);
    await rename(email, hostile);
    await logIn(app.send, email);
    const text = await read('user:show', email, ...by);
    for (const line of [`id: ${id}`, `name: ${escaped}`, 'state: active', 'obstacles: none', 'sessions:'])
      expect(text.split('\n')).toContain(line);
    expect(text).toMatch(/\nwould get:\n {2}client marketplace, title .+, payload \{"iss":/);
    expect(text).toMatch(/\nactivity:\n(?: {2}.+\n)*? {2}\S+Z {2}login\.succeeded {2}of /);
    expect(text).not.toMatch(moves);
    const [person] = await readJson('user:show', id);
    expect(person).toMatchObject({ id, email, name: hostile, account: { others: [] }, state: 'active' });
    expect(person.sessions[0].address).toBeTypeOf('string');
    expect(person.wouldGet[0].payload.profile.id).toBe(id);
    expect(Object.keys(person.wouldGet[0].payload).sort()).toEqual(['aud', 'client', 'iss', 'profile']);
    expect(JSON.stringify(person)).not.toMatch(/argon2|token_?hash/i);
    expect(await eventsOf('staff.looked')).toMatchObject([
      { userId: id, details: { by: 'cli', operator: 'Olga Operator' } },
      { userId: id, details: { by: 'cli' } },
    ]);
  });

  it('finds somebody by an address that they can have back, as all commands about a person do (contract 12.41)', async () => {
    const id = await idOf(app.db, 'merchant@example.test');
    const before = 'merchant-before@example.test';
    await sql`insert into reserved_addresses (email, user_id, expires_at)
      values (${before}, ${id}, now() + interval '1 day')`.execute(app.db);
    expect(await readJson('user:show', before)).toMatchObject([{ id, email: 'merchant@example.test' }]);
    expectRefused(await cli('user:resume', before), /^This user is not suspended\.\n$/);
    await sql`update reserved_addresses set expires_at = now() where email = ${before}`.execute(app.db);
    expectRefused(await cli('user:show', before), /^No user has this email address or id\.\n$/);
  });

  it('refuses somebody whom nobody knows', async () => {
    expectRefused(
      await cli('user:show', 'nobody@example.test'),
      /^No user has this email address or id\.\n$/,
    );
    expectMisused(await cli('user:show', 'nobody'), /Enter a valid email address, or the id of a user/);
  });
});

describe('an act', () => {
  const email = 'customer@example.test';

  /** Some commands cannot be given two times. Each of them, with its refusal. */
  const refusedAgain = new Map([
    ['user:resume', /^This user is not suspended\.\n$/],
    ['user:thaw', /^This account is neither frozen nor suspended\.\n$/],
  ]);

  it.each<{ args: string[]; type: string; first: object; again?: object }>([
    { args: ['user:suspend'], type: 'staff.suspend', first: { intent: 'suspend' } },
    { args: ['user:resume'], type: 'staff.resume', first: { intent: 'resume' } },
    { args: ['user:freeze'], type: 'staff.freeze', first: { intent: 'freeze' } },
    { args: ['user:thaw', '--keep', email], type: 'staff.thaw', first: { intent: 'thaw' } },
    { args: ['user:delete'], type: 'staff.plan_deletion', first: { intent: 'plan-deletion', toCancel: 0 } },
    { args: ['user:keep'], type: 'staff.keep', first: { intent: 'keep' } },
    {
      args: ['user:role', 'manager'],
      type: 'staff.change_role',
      first: { intent: 'change-role', role: 'manager' },
    },
    {
      args: ['user:send-mail', '--kind', 'set-password'],
      type: 'staff.send_mail',
      first: { intent: 'send-mail' },
      again: { done: true },
    },
    {
      args: ['account:grant', 'sell_services'],
      type: 'staff.grant',
      first: { intent: 'grant', capabilities: ['sell_services'], verified: false },
    },
  ])('$args says what it did, to whom, and leaves who and why', async ({ args, type, first, again }) => {
    const id = await idOf(app.db, email);
    const [command = '', ...more] = args;
    expect(await readJson(command, id, ...more, ...why, ...by)).toMatchObject([{ done: true, id, ...first }]);
    expect(await eventsOf(type)).toMatchObject([
      {
        userId: id,
        why: said,
        details: { by: 'cli', operator: 'Olga Operator', systemUser: expect.any(String) },
      },
    ]);
    const refused = refusedAgain.get(command);
    if (refused) return expectRefused(await cli(command, email, ...more, ...why), refused);
    expect(await readJson(command, email, ...more, ...why)).toMatchObject([{ done: false, id, ...again }]);
  });

  it('user:end-sessions logs out everywhere, and says so once', async () => {
    const browser = await logIn(app.send, 'unverified@example.test');
    const ended = await read('user:end-sessions', 'unverified@example.test', ...why);
    expect(ended).toBe('unverified@example.test is logged out everywhere.\n');
    expect(await browser.whoAmI()).toBeUndefined();
    const again = await read('user:end-sessions', 'unverified@example.test', ...why);
    expect(again).toBe('unverified@example.test is not logged in anywhere.\n');
    expect(await listNotices(app.db, 'unverified@example.test')).toContain('sessions_ended');
  });

  it('user:end-session logs out in that browser alone, and says so once (contract 12.190)', async () => {
    const [one, other] = [await logIn(app.send, email), await logIn(app.send, email)];
    const { rows } = await sql<{ id: string }>`select s.id from sessions s join users u on u.id = s.user_id
      where u.email = ${email} and s.ended_at is null order by s.created_at desc limit 2`.execute(app.db);
    const args = ['user:end-session', email, rows[1]?.id ?? '', ...why];
    expect(await read(...args)).toBe(`${email} is logged out there.\n`);
    expect([await one.whoAmI(), await other.whoAmI()]).toEqual([undefined, email]);
    expect(await read(...args)).toBe(`${email} is not logged in there.\n`);
    expectMisused(await cli('user:end-session', email, 'that one', ...why), /^<session>: /);
  });

  it('is refused in one line if the rules say so (contract 12.25)', async () => {
    const refusals: [string[], RegExp][] = [
      [['user:role', 'unverified@example.test', 'admin', ...why], /^A role takes a verified address/],
      [['user:keep', 'nobody@example.test', ...why], /^No user has this email address or id\.\n$/],
    ];
    await read('user:suspend', 'unverified@example.test');
    refusals.push([
      ['user:send-mail', 'unverified@example.test', '--kind', 'prove-email', ...why],
      /^This user is suspended, frozen or leaving, and gets no such email\.\n$/,
    ]);
    const before = await digestRows(app.db, tables);
    for (const [args, sentence] of refusals) expectRefused(await cli(...args), sentence);
    expect(await digestRows(app.db, tables)).toBe(before);
  });

  const misuses: [string[], RegExp][] = [
    [['user:role', email, 'admin'], /--why/],
    [['user:end-sessions', email], /--why/],
    [['user:end-session', email, '0190f5a0-0000-7000-8000-000000000000'], /--why/],
    [['user:freeze', email], /--why/],
    [['user:thaw', email, '--keep', email], /--why/],
    [['user:send-mail', email, '--kind', 'set-password'], /--why/],
    [['user:change-email', email, 'n@example.test', '--yes'], /--why/],
    [['user:keep', email], /--why/],
    [['user:keep', email, '--why', ' no '], /3 to 500 characters/],
    [['user:suspend', email, '--why', 'abc\u202ed'], /on one line/],
    [['user:suspend', email, '--by', ' '], /--by/],
    [['user:role', email, 'owner', ...why], /Allowed choices are user, manager, admin/],
    [['user:send-mail', email, ...why], /--kind/],
    [['user:send-mail', email, '--kind', 'welcome', ...why], /Allowed choices are/],
    // These commands lack `--yes`.
    [['user:delete', email, '--now'], /give --yes/],
    [['user:change-email', email, 'n@example.test', ...why], /give --yes/],
  ];
  it('is not done if its arguments are wrong (contract 12.47)', async () => {
    const before = await digestRows(app.db, tables);
    await Promise.all(misuses.map(async ([args, sentence]) => expectMisused(await cli(...args), sentence)));
    expect(await digestRows(app.db, tables)).toBe(before);
  });
});

describe('audit', () => {
  it('prints the newest last, by kind, person and number, and nothing that moves a cursor', async () => {
    const email = 'merchant@example.test';
    const id = await idOf(app.db, email);
    await read('user:suspend', email, '--why', 'Called at "noon"', '--by', 'Zoë ✓');
    await read('user:resume', id);
    const all = await readJson('audit', '--person', email);
    expect(all.map(({ type }) => type).slice(-4)).toEqual([
      'user.suspended',
      'staff.suspend',
      'user.resumed',
      'staff.resume',
    ]);
    expect(all.at(-3)).toMatchObject({ userId: id, why: 'Called at "noon"', details: { operator: 'Zoë ✓' } });
    const line = await read('audit', '--kind', 'staff.suspend', '--person', id, '--limit', '1');
    expect(line).toMatch(
      /^\S+Z {2}staff\.suspend {2}of merchant@example\.test {2}why "Called at \\"noon\\"" {2}.*operator Zoë ✓/,
    );
    await sql`insert into audit_events (id, type, details)
      values (gen_random_uuid(), 'test.hostile', ${JSON.stringify({ x: hostile })})`.execute(app.db);
    const shown = await read('audit', '--kind', 'test.hostile');
    expect(shown).toContain(escaped);
    expect(shown).not.toMatch(moves);
    expect(await read('audit', '--kind', 'test.hostile', '--client', 'marketplace')).toBe(
      'No such event is kept.\n',
    );
    expectMisused(await cli('audit', '--limit', '0'), /from 1 to 10000/);
    expectRefused(await cli('audit', '--staff', 'nobody@example.test'), /^No user has/);
  });
});

describe('the last administrator', () => {
  const last = 'admin@example.test';
  const onlyOne = /^This is the only administrator\. Make someone else an administrator first/;

  it('is not suspended, demoted or deleted', async () => {
    const before = await digestRows(app.db, tables);
    for (const args of [
      ['user:suspend', last],
      ['user:role', last, 'user', ...why],
      ['user:delete', last],
      ['user:delete', last, '--now', '--yes'],
    ])
      expectRefused(await cli(...args), onlyOne);
    expect(await digestRows(app.db, tables)).toBe(before);
  });

  it('keeps the password where the factors are removed, until the mail is used', async () => {
    const browser = await logIn(app.send, last);
    await setUp(browser, Date.now());
    expect(await read('user:remove-factors', last)).toContain('The old password works until then');
    expect(await browser.whoAmI()).toBeUndefined();
    await browser.login(last);
    expect(await browser.whoAmI()).toBe(last);
  });

  it('can be frozen, and thawed without another one', async () => {
    const freeze = sql`update users set suspended_at = now(), frozen_at = now() where email = ${last}`;
    await freeze.execute(app.db);
    const [mailbox] = await readJson('user:thaw', last);
    expect(mailbox).toMatchObject({ email: last, isPresent: true });
    expectMisused(await cli('user:thaw', last, '--keep', last), /--why/);
    const [thawed] = await readJson('user:thaw', await idOf(app.db, last), '--keep', last, ...why);
    expect(thawed).toMatchObject({ done: true, intent: 'thaw' });
    expectRefused(
      await cli('user:thaw', last, '--keep', last, ...why),
      /^This account is neither frozen nor suspended\.\n$/,
    );
    const browser = await logIn(app.send, last);
    expect(await browser.whoAmI()).toBe(last);
  });

  it('stays if 16 commands at once suspend, demote and delete two of them', async () => {
    const second = 'second-admin@example.test';
    const made = await runCli(
      app.databaseUrl,
      ['user:create', '--email', second, '--name', 'Sam', '--role', 'admin', '--json'],
      'seven quiet lanterns',
    );
    expect(JSON.parse(made.out)).toEqual({ done: true, intent: 'create', id: await idOf(app.db, second) });
    const ways = [
      ['user:suspend'],
      ['user:role', 'user', ...why],
      ['user:delete'],
      ['user:role', 'manager', ...why],
    ];
    const outcomes = await Promise.all(
      Array.from({ length: 16 }, (_, n) => {
        const [command = '', ...more] = ways[Math.floor(n / 2) % ways.length] ?? [];
        return cli(command, n % 2 === 0 ? last : second, ...more);
      }),
    );
    for (const outcome of outcomes) if (outcome.code !== 0) expectRefused(outcome, onlyOne);
    const { rows } = await sql`select email from users where role = 'admin' and suspended_at is null
      and deletion_due_at is null and email_verified_at is not null`.execute(app.db);
    expect(rows).toHaveLength(1);
  });
});
