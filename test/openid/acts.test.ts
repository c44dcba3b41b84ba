// How administrators add and change clients of OpenID Connect (contract 14.3 to 14.8 and 14.93 to 14.99).
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { openApp } from '../support/app/app.ts';
import { production } from '../support/app/settings.ts';
import {
  addPerson,
  addSession,
  addStaff,
  call,
  type Role,
  readData,
  readOutcome,
  why,
} from '../support/people/staff.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(() => openApp({ env: production }));
let admin: Awaited<ReturnType<typeof addStaff>>;
beforeEach(async () => {
  admin = await addStaff(app);
});

let serial = 0;
const newName = () => `desk_${++serial}_${Math.random().toString(36).slice(2, 8)}`;
const site = 'https://desk.example.test';
const uri = `${site}/oauth/callback`;
const listOf = (count: number) => Array.from({ length: count }, (_, at) => `${site}/${at}`).join('\n');

const act = (name: string, input: Record<string, string>) =>
  call(app, `clients.${name}`, admin.cookie, input);
const list = async () => readData(await call(app, 'clients.list', admin.cookie, undefined, true));
const find = async (name: string) => (await list()).find((each: { name: string }) => each.name === name);
const send = (client: string, more: Record<string, string> = {}) =>
  act('add', { client, kind: 'openid', redirectUris: uri, why, ...more });
const pointersOf = ({ text }: { text: string }) =>
  JSON.parse(text).error.json.data.errors.map(({ pointer }: { pointer: string }) => pointer);

async function add(more: Record<string, string> = {}) {
  const name = newName();
  const answer = await send(name, more);
  expect(readOutcome(answer), answer.text).toBe('200');
  return { name, secret: readData(answer).secret };
}

const change = async (client: string, more: Record<string, string>) =>
  act('set', { client, why, seen: (await find(client)).row.seen, ...more });

async function readDetails(type: string, client: string): Promise<unknown[]> {
  const { rows } = await sql<{
    details: object;
  }>`select details - 'by' - 'client' as details from audit_events
    where type = ${type} and details->>'client' = ${client} order by at, id`.execute(app.db);
  return rows.map(({ details }) => details);
}

describe('a client of OpenID Connect', () => {
  it('is added with the careful defaults, and audited whole (contract 14.3, 14.4 and 14.95)', async () => {
    const { name, secret } = await add();
    expect(secret).toMatch(/^idsec_[A-Za-z0-9_-]{49}$/);
    const facts = { redirectUris: [uri], postLogoutUris: [], backChannelUri: null };
    expect(await find(name)).toMatchObject({
      ...{ name, callbackUrl: uri, eventsUrl: null, loginUrl: null, roles: ['admin'], needsFactor: false },
      ...{ behind: 0, oldestAt: null, pulledAt: null, takenAt: null, isFailing: false, doctor: null },
      row: {
        ...{ state: 'on', kind: 'openid', listed: ['everybody'] },
        ...{ ...facts, pkce: 'required', auth: 'secret', challengeAt: null },
      },
    });
    expect(await readDetails('staff.add_client', name)).toEqual([
      {
        now: {
          ...{ kind: 'openid', title: name.replaceAll('_', ' ').replace('d', 'D'), login_url: null },
          ...{ redirect_uris: [uri], post_logout_uris: [], back_channel_uri: null },
          ...{
            pkce: 'required',
            auth: 'secret',
            listed: ['everybody'],
            roles: ['admin'],
            factor: 'optional',
          },
        },
      },
    ]);
    expect(Object.keys((await find('marketplace')).row ?? {})).toEqual([]);
  });

  it('has what was given, in its order (contract 14.3, 14.5, 14.7 and 14.99)', async () => {
    const { name } = await add({
      ...{
        redirectUris: ` ${site}/b?code_x=1\r\n${site}/a\t${site}/c `,
        postLogoutUris: `${site} ${site}/bye`,
      },
      ...{ backChannelUri: `${site}/back`, pkce: 'state-only', loginUrl: `${site}/login`, callback: '' },
      ...{ eventsUrl: '', roles: 'customer,merchant', factor: 'required' },
    });
    expect(await find(name)).toMatchObject({
      ...{ callbackUrl: `${site}/b?code_x=1`, roles: ['merchant', 'customer'], needsFactor: true },
      row: {
        redirectUris: [`${site}/b?code_x=1`, `${site}/a`, `${site}/c`],
        ...{ postLogoutUris: [site, `${site}/bye`], backChannelUri: `${site}/back`, pkce: 'state-only' },
      },
    });
    await add({ redirectUris: listOf(20), postLogoutUris: listOf(20), auth: 'none' });
  });

  it.each([
    ['a callback', { callback: uri }, ['/callback']],
    ['a webhook', { eventsUrl: uri }, ['/eventsUrl']],
    ['no redirect URI', { redirectUris: ' \n' }, ['/redirectUris']],
    ['21 redirect URIs', { redirectUris: listOf(21) }, ['/redirectUris']],
    ['21 addresses after a log-out', { postLogoutUris: listOf(21) }, ['/postLogoutUris']],
    ['the same redirect URI twice', { redirectUris: `${uri} ${uri}` }, ['/redirectUris']],
    ['a redirect URI in clear', { redirectUris: `${uri} http://desk.example.test/` }, ['/redirectUris']],
    ['a redirect URI on this machine', { redirectUris: 'https://localhost/' }, ['/redirectUris']],
    ['a redirect URI with a fragment', { redirectUris: `${uri}#a` }, ['/redirectUris']],
    ['a redirect URI that is a bare origin', { redirectUris: site }, ['/redirectUris']],
    ['a redirect URI with ..', { redirectUris: `${site}/a/../b` }, ['/redirectUris']],
    ['a long redirect URI', { redirectUris: `${site}/${'a'.repeat(2_000)}` }, ['/redirectUris']],
    ['a word instead of an address', { postLogoutUris: `${site}/ none` }, ['/postLogoutUris']],
    ['an upper-case address', { postLogoutUris: 'https://Desk.example.test' }, ['/postLogoutUris']],
    ['a back channel in clear', { backChannelUri: 'http://desk.example.test/' }, ['/backChannelUri']],
    ['a back channel at an address', { backChannelUri: 'https://192.0.2.1/' }, ['/backChannelUri']],
    ['an unknown pkce', { pkce: 'plain' }, ['/pkce']],
    ['an unknown auth', { auth: 'private_key_jwt' }, ['/auth']],
    ['no secret and optional PKCE', { auth: 'none', pkce: 'optional' }, ['/pkce']],
    ['no secret and state alone', { auth: 'none', pkce: 'state-only' }, ['/pkce']],
    [
      'several faults',
      { callback: uri, pkce: 'x', redirectUris: '' },
      ['/callback', '/redirectUris', '/pkce'],
    ],
    ...['code', 'state', 'iss', 'error', 'error_description', 'error_uri', 'response'].map(
      (name): [string, Record<string, string>, string[]] => [
        `${name} in the query of a redirect URI`,
        { redirectUris: `${site}/?a=1&${name}=` },
        ['/redirectUris'],
      ],
    ),
  ] as [string, Record<string, string>, string[]][])(
    'is refused with %s, and nothing is done (contract 14.3, 14.5, 14.6 and 14.7)',
    async (_, wrong, pointers) => {
      const name = newName();
      const answer = await send(name, wrong);
      expect(readOutcome(answer), answer.text).toBe('422 validation_failed');
      expect(pointersOf(answer)).toEqual(pointers);
      expect(await find(name)).toBeUndefined();
    },
  );

  it.each([
    ['redirectUris', uri],
    ['postLogoutUris', uri],
    ['backChannelUri', uri],
    ['pkce', 'required'],
    ['auth', 'secret'],
  ])('only has %s: a client of hand-offs is refused with it (contract 14.7)', async (field, value) => {
    const name = newName();
    const given = { client: name, callback: uri, why };
    const refused = await act('add', { ...given, [field]: value });
    expect(pointersOf(refused)).toEqual([`/${field}`]);
    expect(refused.text).toContain('Only clients of the kind openid have this.');
    expect(readOutcome(await act('add', { ...given, [field]: '' }))).toBe('200');
    expect(pointersOf(await change(name, { [field]: value }))).toEqual([`/${field}`]);
  });

  it('is changed, and its callback stays its first redirect URI (contract 14.4, 14.7 and 13.30)', async () => {
    const { name } = await add({ postLogoutUris: `${site}/bye`, backChannelUri: `${site}/back` });
    const redirectUris = [`${site}/new`, uri];
    expect(readData(await change(name, { redirectUris: redirectUris.join(' ') }))).toEqual({ done: true });
    expect(await find(name)).toMatchObject({ callbackUrl: `${site}/new`, row: { redirectUris } });
    const removed = await change(name, { postLogoutUris: 'none', backChannelUri: 'none' });
    expect(readOutcome(removed)).toBe('200');
    expect((await find(name)).row).toMatchObject({ postLogoutUris: [], backChannelUri: null, redirectUris });
    expect(readData(await change(name, { postLogoutUris: '', pkce: 'required' }))).toEqual({ done: false });
    expect(await readDetails('staff.set_client', name)).toEqual([
      { was: { redirect_uris: [uri] }, now: { redirect_uris: redirectUris } },
      {
        was: { post_logout_uris: [`${site}/bye`], back_channel_uri: `${site}/back` },
        now: { post_logout_uris: [], back_channel_uri: null },
      },
    ]);
    for (const field of ['callback', 'eventsUrl'])
      expect(pointersOf(await change(name, { [field]: uri }))).toEqual([`/${field}`]);
    expect(pointersOf(await change(name, { redirectUris: '' }))).toEqual(['/redirectUris']);
  });

  it('never has neither secret nor PKCE, whichever changes first (contract 14.6)', async () => {
    const { name } = await add({ pkce: 'optional' });
    expect(pointersOf(await change(name, { auth: 'none' }))).toEqual(['/pkce']);
    expect(readOutcome(await change(name, { auth: 'none', pkce: 'required' }))).toBe('200');
    expect(pointersOf(await change(name, { pkce: 'state-only' }))).toEqual(['/pkce']);
    expect(readOutcome(await change(name, { auth: 'secret', pkce: 'state-only' }))).toBe('200');
  });

  it('never has neither, if 16 change it at once (contract 14.6)', async () => {
    const { name } = await add();
    const { seen } = (await find(name)).row;
    const facts: Record<string, string>[] = [{ auth: 'none' }, { pkce: 'optional' }];
    const sent = await Promise.all(
      Array.from({ length: 16 }, (_, n) => act('set', { client: name, why, seen, ...facts[n % 2] })),
    );
    const [done, ...refused] = sent.map(readOutcome).sort();
    expect(done).toBe('200');
    // After the first change, half of the other changes would leave the client with neither a secret nor PKCE.
    for (const each of refused) expect(['409 edited_meanwhile', '422 validation_failed']).toContain(each);
  });

  it('keeps its kind and name, and its forms stay right if it sends its first challenge (contract 13.3)', async () => {
    const { name } = await add();
    expect(readOutcome(await act('add', { client: name, callback: uri, why }))).toBe('409 edited_meanwhile');
    const { seen } = (await find(name)).row;
    await sql`update clients set challenge_at = now() where name = ${name}`.execute(app.db);
    expect((await find(name)).row).toMatchObject({ seen, challengeAt: expect.any(String) });
    expect((await find(name)).row.kind).toBe('openid');
  });

  it('has no webhook to try (contract 14.98)', async () => {
    const { name } = await add();
    const { seen } = (await find(name)).row;
    expect(readOutcome(await act('testWebhook', { client: name, why, seen }))).toBe('403 not_allowed');
  });
});

describe('a person', () => {
  async function open(role: Role) {
    const person = await addPerson(app, { role });
    const { cookie } = await addSession(app, person.id);
    const answer = await app.send('/trpc/products.list', { cookie });
    return { person, products: readData(answer) as { name: string; href: string; mayEnter: boolean }[] };
  }

  it('sees a product that has a login URL, as the others (contract 14.93)', async () => {
    const [closed, opened] = [await add(), await add({ loginUrl: `${site}/login` })];
    const { products } = await open('user');
    expect(products.find(({ name }) => name === closed.name)).toBeUndefined();
    expect(products.find(({ name }) => name === opened.name)).toMatchObject({
      href: `${site}/login`,
      mayEnter: false,
    });
  });

  it('of staff downloads a table without events of such a client (contract 14.96)', async () => {
    const { name } = await add();
    const file = await app.send('/admin/files/clients.csv', {
      cookie: admin.cookie,
      headers: { 'sec-fetch-site': 'same-origin' },
    });
    const line = file.text.split('\r\n').find((each) => each.startsWith(`${name},`));
    expect(line).toMatch(/,1,0,,,,,,,$/);
  });
});
