// The pages of clients (contract 13.110 to 13.117).
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Answer, openApp } from '../support/app/app.ts';
import { production } from '../support/app/settings.ts';
import { fieldOf, textOf } from '../support/app/visitor.ts';
import { answers, type NudgeTarget, openTarget, takes } from '../support/events/nudge-target.ts';
import { addPerson, addSession, addStaff, call, formsOf, readData, why } from '../support/people/staff.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(() => openApp());
const strict = shared(() => openApp({ env: production }));

let cookie: string;
let target: NudgeTarget;
beforeAll(async () => {
  target = await openTarget(takes);
  return () => target.close();
});
beforeEach(async () => {
  ({ cookie } = await addStaff(app));
});

let serial = 0;
const newName = () => `page_${++serial}`;
const origin = 'http://localhost:4000';
const open = (path: string, by = cookie) => app.send(path, { cookie: by });
const post = (path: string, form: Record<string, string>, by = cookie) =>
  app.send(path, { cookie: by, form });
/** Returns the page that a browser shows after a refusal. */
const show = (answer: Answer, by = cookie) =>
  answer.status === 303 ? open(answer.headers.get('location') ?? '', by) : answer;
const secretsIn = ({ text }: Answer) => [...new Set(text.match(/idsec_[A-Za-z0-9_-]{49}/g))];

/** The fields of the form that adds a client, as a browser sends them. */
async function fillNew(client: string, more: Record<string, string> = {}) {
  const form = formsOf(await open('/admin/clients')).get('add-client hand-off');
  const fields = { client, title: '', callback: `${origin}/sso/callback`, loginUrl: '', eventsUrl: '' };
  return {
    ...form,
    ...fields,
    listed: 'everybody',
    roles: 'admin, merchant',
    factor: 'optional',
    why,
    ...more,
  };
}

async function add(client = newName(), more: Record<string, string> = {}) {
  const answer = await post('/admin/clients', await fillNew(client, more));
  expect(answer.status, textOf(answer)).toBe(200);
  return { client, path: `/admin/clients/${client}`, answer };
}

async function send(path: string, intent: string, fields: Record<string, string> = {}) {
  const [, form] = [...formsOf(await open(path))].find(([key]) => key.split(' ')[0] === intent) ?? [];
  expect(form, intent).toBeDefined();
  return post(path, { ...form, why, ...fields });
}

describe('the form that adds a client', () => {
  it('shows the secret once, with what its engineer needs (contract 13.110, 13.111 and 13.112)', async () => {
    const { client, path, answer } = await add();
    const [secret = '', ...others] = secretsIn(answer);
    expect(others).toEqual([]);
    expect(secret).not.toBe('');
    expect(answer.headers.get('cache-control')).toContain('no-store');
    const url = `${app.config.baseUrl.replace('://', `://${client}:${secret}@`)}`;
    expect(fieldsOf(answer)).toEqual([
      secret,
      url,
      ...['typescript', 'php', 'python'].map((kit) => expect.stringContaining(`identity-client-${kit}.zip`)),
      `define('IDENTITY_URL', '${url}');`,
    ]);
    for (const run of fieldsOf(answer).slice(2, 5))
      expect(run).toContain(`IDENTITY_URL='${url}' ORIGIN='${origin}' `);
    const later = await open(path);
    expect(secretsIn(later)).toEqual([]);
    expect(fieldsOf(later)[0]).toContain(`://${client}:SECRET@`);
    expect(textOf(await open('/admin/clients'))).toContain(`Page ${serial}`);
    expect(JSON.stringify(await readRow(client))).not.toContain(secret);
  });

  it('gives lines that no shell reads as commands, whatever the host is called (contract 13.112)', async () => {
    const { cookie: strictAdmin } = await addStaff(strict);
    const form = formsOf(await strict.send('/admin/clients', { cookie: strictAdmin })).get(
      'add-client hand-off',
    );
    const callback = "https://a$(id)'b;c.example.test/cb";
    const fields = {
      client: newName(),
      title: '',
      callback,
      loginUrl: '',
      eventsUrl: '',
      factor: 'optional',
      why,
    };
    const answer = await strict.send('/admin/clients', {
      cookie: strictAdmin,
      form: { ...form, ...fields, listed: 'everybody', roles: 'admin' },
    });
    expect(fieldsOf(answer)[2]).toContain(`ORIGIN='https://a$(id)'\\''b;c.example.test' PORT`);
  });

  it('makes one client of 16 at once, and shows its secret in one answer (contract 13.111)', async () => {
    const form = await fillNew(newName());
    const sent = await Promise.all(Array.from({ length: 16 }, () => post('/admin/clients', form)));
    const made = sent.filter(({ status }) => status === 200);
    expect(made.map(secretsIn).map(({ length }) => length)).toEqual([1]);
    for (const refused of sent.filter((each) => !made.includes(each))) {
      expect([303, 409, 503]).toContain(refused.status);
      expect(secretsIn(refused)).toEqual([]);
    }
    const again = await post('/admin/clients', form);
    expect(secretsIn(again)).toEqual([]);
    expect(textOf(await show(again))).toContain('This has changed since');
  });

  it('comes back with what is wrong, and adds nothing (contract 13.7 and 13.13)', async () => {
    const form = await fillNew('Shop!', { callback: 'ftp://localhost/x' });
    const page = await show(await post('/admin/clients', form));
    expect(page.status).toBe(422);
    expect(fieldOf(page, 'callback').value).toBe('ftp://localhost/x');
    expect(secretsIn(page)).toEqual([]);
  });

  it('asks for a credential first, and then shows the secret (contract 13.28)', async () => {
    const { cookie: old } = await addStaff(app, 'admin', { authTime: new Date(Date.now() - 3_600_000) });
    const client = newName();
    const form = {
      ...(await fillNew(client)),
      ...formsOf(await open('/admin/clients', old)).get('add-client hand-off'),
    };
    const page = await show(await post('/admin/clients', form, old), old);
    expect(textOf(page)).toContain('Confirm it’s you');
    expect(secretsIn(page)).toEqual([]);
    expect(await readRow(client)).toBeUndefined();
  });
});

const fieldsOf = ({ text }: Answer) =>
  [...text.matchAll(/<pre><code>(.*?)<\/code><\/pre>/gs)].map(([, code = '']) =>
    code.replaceAll('&#x27;', "'").replaceAll('&amp;', '&'),
  );

const readRow = async (client: string) =>
  readData(await call(app, 'clients.list', cookie, undefined, true)).find(
    ({ name }: { name: string }) => name === client,
  );

describe('the page of a client', () => {
  it('shows a second secret once, and none to a form sent again (contract 13.111)', async () => {
    const { path } = await add();
    const [, form] = [...formsOf(await open(path))].find(([key]) => key.startsWith('rotate-client')) ?? [];
    const sent = await Promise.all(Array.from({ length: 16 }, () => post(path, { ...form, why })));
    expect(sent.flatMap(secretsIn)).toHaveLength(1);
    expect(secretsIn(await post(path, { ...form, why }))).toEqual([]);
    expect(textOf(await open(path))).toContain('Second secret Made');
  });

  it('does the other acts, and says so (contract 13.110 and 13.113)', async () => {
    const { path, client } = await add();
    const changed = await send(path, 'set-client', {
      ...{ title: 'A new title', callback: `${origin}/cb`, loginUrl: `${origin}/in`, eventsUrl: '' },
      ...{ listed: 'merchants', roles: 'merchant', factor: 'required' },
    });
    expect(changed.headers.get('location')).toBe(`${path}?saved=set-client`);
    expect(await readRow(client)).toMatchObject({
      title: 'A new title',
      roles: ['merchant'],
      needsFactor: true,
    });
    const page = await open(`${path}?saved=set-client`);
    expect(textOf(page)).toContain('The client is changed.');
    // Contract 13.113.
    expect(textOf(page)).toContain(
      `does not answer these addresses of the client: ${origin}/cb, ${origin}/in.`,
    );
    expect((await send(path, 'turn-client-off')).headers.get('location')).toBe(
      `${path}?saved=turn-client-off`,
    );
    expect(textOf(await open(path))).not.toContain('Open its login');
    expect((await send(path, 'turn-client-on')).status).toBe(303);
    expect(textOf(await open(path))).toContain('Open its login');
  });

  it('says before it is turned off what the product then no longer hears (contract 13.117)', async () => {
    const { path } = await add();
    const { cookie: old } = await addStaff(app, 'admin', { authTime: new Date(Date.now() - 3_600_000) });
    const [, form] =
      [...formsOf(await open(path, old))].find(([key]) => key.startsWith('turn-client-off')) ?? [];
    const page = await show(await post(path, { ...form, why }, old), old);
    expect(textOf(page)).toContain('no longer hears of log-outs, suspensions and deletions');
  });

  it('says whether the webhook was taken, and what has worked (contract 13.114 and 13.116)', async () => {
    const { path, client } = await add(newName(), { eventsUrl: target.url });
    const checks = async () =>
      [...(await open(path)).text.matchAll(/data-check="(\w+)".*?<span class="badge (\w+)/gs)].map(
        ([, what, state]) => `${what} ${state}`,
      );
    expect(await checks()).toEqual(['launch waiting', 'call waiting', 'pull waiting', 'webhook waiting']);
    const tried = await send(path, 'test-webhook');
    expect([tried.status, textOf(tried).includes('The client took the webhook.')]).toEqual([200, true]);
    expect((await readRow(client)).takenAt).toEqual(expect.any(String));
    expect((await checks()).at(-1)).toBe('webhook good');
    expect(textOf(await open(path))).toContain('within the last minute');

    const failing = await add(newName(), { eventsUrl: target.url });
    target.answering = answers(500);
    expect(textOf(await send(failing.path, 'test-webhook'))).toContain('did not take the webhook: HTTP 500.');
    target.answering = takes;
    expect(await readRow(failing.client)).toMatchObject({ failure: 'HTTP 500', takenAt: null });
  });

  it('of the settings has no forms, and an unknown one is 404 (contract 13.110)', async () => {
    const page = await open('/admin/clients/marketplace');
    expect([page.status, formsOf(page).size]).toEqual([200, 0]);
    expect((await open('/admin/clients/nobody')).status).toBe(404);
    const { cookie: manager } = await addStaff(app, 'manager');
    const { cookie: person } = await addSession(app, (await addPerson(app)).id);
    for (const other of [manager, person]) {
      expect((await open('/admin/clients/marketplace', other)).status).toBe(404);
      expect((await post('/admin/clients', { intent: 'add-client' }, other)).status).toBe(404);
    }
  });
});
