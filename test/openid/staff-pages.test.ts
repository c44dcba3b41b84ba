// The pages on which administrators add and change clients of OpenID Connect (contract 14.7, 14.94 and 14.97).
import { sql } from 'kysely';
import { beforeEach, expect, it } from 'vitest';
import { type Answer, openApp } from '../support/app/app.ts';
import { fieldOf, textOf } from '../support/app/visitor.ts';
import { addPerson, addStaff, call, formsOf, readData, why } from '../support/people/staff.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(openApp);
let cookie: string;
beforeEach(async () => {
  ({ cookie } = await addStaff(app));
});

const site = 'http://localhost:4000';
let serial = 0;

const open = (path: string) => app.send(path, { cookie });
const show = (answer: Answer) =>
  answer.status === 303 ? open(answer.headers.get('location') ?? '') : answer;

/** A browser sends the text with a carriage return at each line end. */
const typed = {
  ...{ title: '', redirectUris: `${site}/cb\r\n${site}/cb2\r\n`, postLogoutUris: '', backChannelUri: '' },
  ...{ pkce: 'required', auth: 'secret', loginUrl: '', listed: 'everybody', roles: 'admin' },
  ...{ factor: 'optional', why },
};

async function send(path: string, key: string, fields: Record<string, string>) {
  const [, form] = [...formsOf(await open(path))].find(([each]) => each.startsWith(key)) ?? [];
  expect(form, key).toBeDefined();
  return app.send(path, { cookie, form: { ...form, ...fields } });
}

async function add(more: Record<string, string> = {}) {
  const client = `tool_${++serial}`;
  const answer = await send('/admin/clients', 'add-client openid', { ...typed, client, ...more });
  expect(answer.status, textOf(answer)).toBe(200);
  return { client, path: `/admin/clients/${client}`, answer };
}

const checksOf = ({ text }: Answer) => [...text.matchAll(/data-check="(\w+)"/g)].map(([, what]) => what);

it('the form of this kind adds a client, and shows its secret once (contract 14.7 and 13.111)', async () => {
  const { client, path, answer } = await add();
  expect(answer.text.match(/idsec_[A-Za-z0-9_-]{49}/)).not.toBeNull();
  expect(answer.text).not.toContain('IDENTITY_URL');
  const page = await open(path);
  expect(page.text).not.toMatch(/idsec_[A-Za-z0-9_-]{49}/);
  for (const shown of [`${site}/cb`, `${site}/cb2`, client]) expect(textOf(page)).toContain(shown);
  expect(textOf(await open('/admin/clients'))).toContain(`Tool ${serial}`);
});

it('comes back with what is wrong, and what was typed in several lines (contract 14.5 and 14.6)', async () => {
  const wrong = {
    client: 'wrong',
    redirectUris: `${site}/cb\r\n${site}/?code=1`,
    auth: 'none',
    pkce: 'optional',
  };
  const page = await show(await send('/admin/clients', 'add-client openid', { ...typed, ...wrong }));
  expect(page.status).toBe(422);
  expect(textOf(page)).toContain('must not have code, state, iss');
  expect(textOf(page)).toContain('A client that shows no secret must use PKCE');
  expect(page.text).toMatch(/<textarea[^>]*name="redirectUris"[^>]*>\n?http:\/\/localhost:4000\/cb\r?\nhttp/);
  const all = Array.from({ length: 20 }, (_, at) => `${site}/${at}/${'a'.repeat(100)}`).join('\r\n');
  const long = { ...typed, client: 'wrong', redirectUris: all, pkce: 'none' };
  const again = await show(await send('/admin/clients', 'add-client openid', long));
  expect(again.text).toContain(`${site}/19/aaa`);
  // The form of the other kind is as it was.
  expect(fieldOf(page, 'callback').value ?? '').toBe('');
});

it('changes a client, and keeps what the form shows (contract 14.7)', async () => {
  const { path } = await add({ postLogoutUris: `${site}/bye`, backChannelUri: `${site}/back` });
  const { text } = await open(path);
  expect(text).toMatch(
    /<textarea[^>]*name="redirectUris"[^>]*>\n?http:\/\/localhost:4000\/cb\nhttp:\/\/localhost:4000\/cb2</,
  );
  const set = await send(path, 'set-client', { ...typed, title: 'Tool', backChannelUri: `${site}/other` });
  expect(set.headers.get('location')).toBe(`${path}?saved=set-client`);
  const { rows } = await sql`select title, post_logout_uris, back_channel_uri from clients
    where name = ${`tool_${serial}`}`.execute(app.db);
  expect(rows).toEqual([{ title: 'Tool', post_logout_uris: [], back_channel_uri: `${site}/other` }]);
});

it('says what to try, and nothing about events and webhooks (contract 14.97)', async () => {
  const whole = await add({ backChannelUri: `${site}/back`, loginUrl: `${site}/login` });
  const page = await open(whole.path);
  expect(checksOf(page)).toEqual(['launch', 'call', 'logOut']);
  expect(page.text).toContain(`href="${site}/login"`);
  for (const words of ['Webhook URL', 'Unread events', 'doctor']) expect(textOf(page)).not.toContain(words);
  const bare = await open((await add({ auth: 'none' })).path);
  expect(checksOf(bare)).toEqual(['launch']);
  expect(bare.text).not.toContain('/sso/launch/');
});

it('says before it is turned off what the product then no longer hears (contract 13.117)', async () => {
  const { path } = await add();
  const form = textOf(await open(path));
  expect(form).toContain(
    'its codes and access tokens end. It no longer hears of log-outs, suspensions and deletions',
  );
  expect(form).not.toContain('gets no webhooks');
});

it('shows what the product would learn of a person, or why nothing (contract 14.94)', async () => {
  const { client } = await add();
  const find = async (id: string) =>
    readData(await call(app, 'people.wouldGet', cookie, { id }, true)).find(
      (each: { client: string }) => each.client === client,
    );
  const staff = await addStaff(app);
  expect(await find(staff.id)).toEqual({
    ...{ client, title: expect.any(String) },
    claims: {
      ...{ sub: staff.id, name: 'Test Person', updated_at: expect.any(Number), groups: ['admin'] },
      ...{ email: staff.email, email_verified: true, preferred_username: staff.email },
    },
  });
  expect((await open(`/admin/people/${staff.id}/products`)).text).toContain('preferred_username');
  const customer = await addPerson(app);
  expect((await find(customer.id)).stop).toEqual({ rule: '13.52', why: 'not_let_in' });
});

it('says when it took a log-out, and which were given up (contract 14.74, 14.97 and 14.129)', async () => {
  const { client, path } = await add({ backChannelUri: `${site}/back` });
  const end = (failure: string | null) =>
    sql`insert into log_outs (client_id, user_id, next_try_at, ended_at, failure)
      select id, gen_random_uuid(), null, now(), ${failure} from clients where name = ${client}`.execute(
      app.db,
    );
  await end('HTTP 404');
  await end('timed out');
  expect(textOf(await open(path))).toMatch(/HTTP 404.*timed out|timed out.*HTTP 404/);
  expect(textOf(await open(path))).toMatch(/It accepted a log-out\s*Not yet/);
  await end(null);
  expect(textOf(await open(path))).toMatch(/It accepted a log-out, .*Works/);
});
