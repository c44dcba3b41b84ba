import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Answer, openApp } from '../support/app/app.ts';
import { openClient, refusalOf } from '../support/app/trpc.ts';
import { cookieOf, isLoggedIn } from '../support/app/visitor.ts';
import { quoted } from '../support/run/names.ts';
import { shared } from '../support/run/shared.ts';

const email = 'merchant@example.test';
const password = 'local demo password';
const newPassword = 'quite another long password';

let cookie: string;
let client: ReturnType<typeof openClient>;
const app = shared(openApp);
beforeEach(async () => {
  await sql`delete from sessions`.execute(app.db);
  cookie = await app.login(email);
  client = openClient(app.send, cookie);
});

describe('a tRPC client', () => {
  it('reads the profile that products see, and what only the owner sees', async () => {
    const sent = JSON.parse((await app.send('/sso/profile', { cookie })).text);
    expect(await client.profile.get.query()).toEqual({
      ...sent,
      accountName: 'Maya’s account',
      timeZone: null,
      deletionDueAt: null,
      grantedCapabilities: ['manage_storefront', 'sell_products', 'sell_services'],
      accountVerified: true,
      emailVerified: true,
      hasPassword: true,
      hasPasskey: false,
      hasAuthenticator: false,
    });
    const newcomer = openClient(app.send, await app.login('new-merchant@example.test'));
    expect(await newcomer.profile.get.query()).toMatchObject({
      role: 'merchant',
      account: { capabilities: [] },
      grantedCapabilities: ['sell_products'],
      accountVerified: false,
    });
  });

  it('edits one name and leaves the other alone', async () => {
    const { accountName } = await client.profile.get.query();
    await client.profile.update.mutate({ name: ' Maya M. ' });
    expect(await client.profile.get.query()).toMatchObject({ name: 'Maya M.', accountName });
    // The client sends the member `name` as undefined.
    await client.profile.update.mutate({ name: undefined, accountName: 'Maya’s shop' });
    expect(await client.profile.get.query()).toMatchObject({ name: 'Maya M.', accountName: 'Maya’s shop' });
  });

  it('cannot edit anything else', async () => {
    const before = await client.profile.get.query();
    const input = {
      email: 'x@example.test',
      role: 'admin',
      id: 'x',
      account: { capabilities: ['sell_products'] },
    };
    await client.profile.update.mutate(input as object);
    expect(await client.profile.get.query()).toEqual(before);
  });

  it('lists sessions with real dates, and ends them', async () => {
    const other = await app.login(email);
    const [current, listed, ...more] = await client.sessions.list.query();
    expect(more).toEqual([]);
    const mine = [current, listed].find((session) => session?.current);
    const others = [current, listed].find((session) => !session?.current);
    for (const instant of [mine?.createdAt, mine?.lastSeenAt]) {
      expect(instant).toBeInstanceOf(Date);
      expect(Math.abs(Date.now() - Number(instant))).toBeLessThan(60_000);
    }
    await client.sessions.end.mutate({ id: others?.id ?? '' });
    expect(await isLoggedIn(app.send, other)).toBe(false);
    await app.login(email);
    expect(await client.sessions.endOthers.mutate()).toEqual({ ended: 1 });
    expect(await client.sessions.endOthers.mutate()).toEqual({ ended: 0 });
  });

  it('changes the password and gets a new token', async () => {
    const answers: Answer[] = [];
    const changing = openClient(async (...request) => {
      answers.push(await app.send(...request));
      return answers.at(-1) as Answer;
    }, cookie);
    const refused = changing.profile.changePassword.mutate({ currentPassword: 'wrong', newPassword });
    expect(await refusalOf(refused)).toMatchObject({
      httpStatus: 422,
      problem: 'validation_failed',
      errors: [{ pointer: '/currentPassword' }],
    });
    const same = changing.profile.changePassword.mutate({ currentPassword: password, newPassword: password });
    expect(await refusalOf(same)).toMatchObject({ httpStatus: 422, errors: [{ pointer: '/newPassword' }] });
    await changing.profile.changePassword.mutate({ currentPassword: password, newPassword });
    const fresh = cookieOf(answers[2] as Answer);
    expect(await isLoggedIn(app.send, cookie)).toBe(false);
    expect(await isLoggedIn(app.send, fresh)).toBe(true);
    await openClient(app.send, fresh).profile.changePassword.mutate({
      currentPassword: newPassword,
      newPassword: password,
    });
  });

  it('gets a pointer to everything that is wrong', async () => {
    const wrong = client.profile.update.mutate({ name: '', accountName: 3 as unknown as string });
    expect(await refusalOf(wrong)).toMatchObject({
      code: 'UNPROCESSABLE_CONTENT',
      problem: 'validation_failed',
      errors: [{ pointer: '/name', detail: 'Enter a name.' }, { pointer: '/accountName' }],
    });
  });

  it.each(quoted(['a\ud800b', 'a\u0000b', 'a\u202eb', 'x'.repeat(201)]))(
    'cannot save the name %s',
    async (_, name) => {
      const call = client.profile.update.mutate({ name });
      expect(await refusalOf(call)).toMatchObject({ httpStatus: 422, errors: [{ pointer: '/name' }] });
    },
  );
});

describe('a tRPC client without a session', () => {
  const procedures = {
    'profile.get': (c: typeof client) => c.profile.get.query(),
    'profile.update': (c: typeof client) => c.profile.update.mutate({ name: 'X' }),
    'profile.changePassword': (c: typeof client) =>
      c.profile.changePassword.mutate({ currentPassword: password, newPassword }),
    'sessions.list': (c: typeof client) => c.sessions.list.query(),
    'sessions.end': (c: typeof client) => c.sessions.end.mutate({ id: crypto.randomUUID() }),
    'sessions.endOthers': (c: typeof client) => c.sessions.endOthers.mutate(),
  };

  it.each(Object.entries(procedures))('gets UNAUTHORIZED from %s', async (_name, run) => {
    await app.send('/logout', { method: 'POST', cookie });
    for (const outsider of [openClient(app.send), client])
      expect(await refusalOf(run(outsider))).toMatchObject({
        code: 'UNAUTHORIZED',
        httpStatus: 401,
        problem: 'login_required',
      });
  });
});
