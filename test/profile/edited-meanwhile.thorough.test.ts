// An edit of the profile whose form was opened before another edit (contract 9.28 and 9.417).
import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Answer, openApp } from '../support/app/app.ts';
import { openClient, refusalOf } from '../support/app/trpc.ts';
import { fieldOf, submitProfile, textOf } from '../support/app/visitor.ts';
import { shared } from '../support/run/shared.ts';

const email = 'merchant@example.test';
const names = { name: 'Maya Merchant', accountName: 'Maya’s account' };

let cookie: string;
let client: ReturnType<typeof openClient>;
const app = shared(openApp);
const other = shared(() => app.startInstance());
beforeAll(async () => {
  cookie = await app.login(email);
  client = openClient(app.send, cookie);
});
beforeEach(async () => {
  await client.profile.update.mutate(names);
});

const readProfile = () => client.profile.get.query();
const readNames = async () => {
  const { name, accountName } = await readProfile();
  return { name, accountName };
};
const readToken = async () => (await readProfile()).profile_updated_at;

describe('a program’s edit', () => {
  it('is saved once, of 16 made from one state at once', async () => {
    const profile_updated_at = await readToken();
    const clients = [client, openClient(other.send, cookie)];
    const edits = Array.from({ length: 16 }, async (_, at) => {
      const edit = { name: `Maya ${at}`, accountName: `Shop ${at}` };
      await clients[at % 2]?.profile.update.mutate({ ...edit, profile_updated_at });
      return edit;
    });
    const outcomes = await Promise.allSettled(edits);
    const saved = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    expect(saved).toEqual([await readNames()]);
    for (const [at, { status }] of outcomes.entries()) {
      if (status === 'rejected')
        expect(await refusalOf(edits[at] as Promise<object>)).toMatchObject({
          code: 'CONFLICT',
          httpStatus: 409,
          problem: 'edited_meanwhile',
        });
    }
  });

  it.each([
    ['the name', sql`update users set name = 'Elsewhere' where email = ${email}`],
    ['the account’s name', sql`update accounts set name = 'Elsewhere' where name = ${names.accountName}`],
    ['the role', sql`update users set role = 'manager' where email = ${email}`],
  ])('is refused where %s was changed meanwhile, and leaves that as it is', async (_, change) => {
    const profile_updated_at = await readToken();
    await change.execute(app.db);
    const before = await readProfile();
    const edit = client.profile.update.mutate({ name: 'Late', profile_updated_at });
    expect(await refusalOf(edit)).toMatchObject({ problem: 'edited_meanwhile' });
    expect(await readProfile()).toEqual(before);
    await client.profile.update.mutate({ name: 'In time', profile_updated_at: before.profile_updated_at });
    expect((await readProfile()).name).toBe('In time');
    await sql`update users set role = 'user' where email = ${email}`.execute(app.db);
    await sql`update accounts set name = ${names.accountName} where name = 'Elsewhere'`.execute(app.db);
  });

  it('counts as saved if the same is there already, so that it may be sent again', async () => {
    const edit = { name: 'Twice', profile_updated_at: await readToken() };
    await client.profile.update.mutate(edit);
    const before = await readProfile();
    await client.profile.update.mutate(edit);
    expect(await readProfile()).toEqual(before);
  });

  it('is always saved if it does not say what it was made from', async () => {
    await Promise.all(
      Array.from({ length: 16 }, (_, at) => client.profile.update.mutate({ name: `Any ${at}` })),
    );
    expect((await readProfile()).name).toMatch(/^Any \d+$/);
  });
});

describe('the form on the profile page', () => {
  const open = () => app.send('/profile', { cookie });
  /** Sends the form of `page` with what was typed into it. */
  const send = (page: Answer, typed: { name?: string; accountName?: string }) =>
    submitProfile(app.send, cookie, {
      intent: 'names',
      name: fieldOf(page, 'name').value ?? '',
      accountName: fieldOf(page, 'accountName').value ?? '',
      profile_updated_at: fieldOf(page, 'profile_updated_at').value ?? '',
      ...typed,
    });

  it('carries what it was made from', async () => {
    expect(fieldOf(await open(), 'profile_updated_at').value).toBe(await readToken());
  });

  it('shows an edit made meanwhile in another tab, keeps what was typed, and saves it when sent again', async () => {
    const tabs = [await open(), await open()] as [Answer, Answer];
    expect(textOf(await send(tabs[0], { name: 'First <Tab>' }))).toContain('Saved.');

    const refused = await send(tabs[1], { accountName: 'Second tab' });
    expect(refused.status).toBe(409);
    expect(textOf(refused)).toContain(
      'Your details were changed somewhere else after you opened this page. ' +
        'They are now: name First <Tab> , account name Maya’s account .',
    );
    expect(refused.text).not.toContain('<Tab>');
    expect(fieldOf(refused, 'name').value).toBe('Maya Merchant');
    expect(fieldOf(refused, 'accountName').value).toBe('Second tab');
    expect(await readNames()).toEqual({ name: 'First <Tab>', accountName: 'Maya’s account' });

    expect(textOf(await send(refused, {}))).toContain('Saved.');
    expect(await readNames()).toEqual({ name: 'Maya Merchant', accountName: 'Second tab' });
  });

  it('shows an edit made meanwhile even after it was refused for something else', async () => {
    const page = await open();
    await client.profile.update.mutate({ name: 'Elsewhere' });
    const invalid = await send(page, { accountName: '' });
    expect(invalid.status).toBe(422);
    const stale = await send(invalid, { accountName: 'Typed' });
    expect(stale.status).toBe(409);
    expect((await readProfile()).name).toBe('Elsewhere');
  });

  it('shows also an edit made after the notice', async () => {
    const page = await open();
    await client.profile.update.mutate({ name: 'Elsewhere' });
    const refused = await send(page, { name: 'Typed' });
    await client.profile.update.mutate({ name: 'Elsewhere again' });
    const again = await send(refused, {});
    expect(again.status).toBe(409);
    expect(textOf(again)).toContain('They are now: name Elsewhere again ,');
  });
});
