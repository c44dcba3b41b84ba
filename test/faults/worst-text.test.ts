// The worst text that somebody can send, in each field of each form, procedure and endpoint: nothing keeps others waiting.
// `/healthz` is asked all the while.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { headerBounds, textBounds } from '../../server/http/text.ts';
import { findPasswordFault } from '../../server/identity/passwords.ts';
import { appRouter } from '../../server/trpc/router.ts';
import { type Answer, openApp, type SendOptions, type TestApp } from '../support/app.ts';
import { buildSignup, sendSignup } from '../support/crm.ts';
import { byForm, noteFigures } from '../support/faults.ts';
import { listTextInputs } from '../support/text-inputs.ts';
import { measureLeastWait, measureWait } from '../support/waits.ts';

/** At once. */
const connections = byForm({ short: 1, long: 3 });
const limitMs = 100;
/** A body may have 64 KiB. */
const bytes = 63 * 1024;

const fill = (text: string) => text.repeat(Math.ceil(bytes / new TextEncoder().encode(text).length));
const han = Array.from({ length: 20_900 }, (_, at) => String.fromCharCode(0x4e00 + at)).join('');
const texts: Record<string, string> = {
  'a domain of different letters': `a@${han}`,
  'combining marks': `a${fill('\u0315\u0300\u05b0\u0321')}`,
  dots: `a@${fill('a.')}`,
  'at signs': fill('@'),
  'percent escapes': fill('%25%F0'),
  'deep JSON': fill('['),
  'deep JSON to its end': `{"id":${'['.repeat(8_000)}${']'.repeat(8_000)}}`,
  'a long number': fill('9'),
  surrogates: fill('\u{1f468}\u200d'),
};

let app: TestApp;
let cookie: string;
beforeAll(async () => {
  app = await openApp({ env: { IDENTITY_PLACE_HEADER: 'x-place', TRUSTED_PROXIES: '10.0.0.0/8' } });
  cookie = await app.login('customer@example.test');
});
afterAll(() => app.close());

let serial = 0;
/** So that no limit by address answers before any work is done. */
const from = () => `10.${(serial >> 16) & 255}.${(serial++ >> 8) & 255}.${serial & 255}`;

let worst = 0;
async function expectQuick(name: string, work: () => Promise<Answer>): Promise<Answer> {
  let answer: Answer | undefined;
  const attempt = () =>
    measureWait(app, async () => {
      [answer] = await Promise.all(Array.from({ length: connections }, work));
    });
  let took = await attempt();
  // What is compiled or loaded for the first time takes a while once.
  if (took > limitMs) took = Math.min(took, await attempt(), await attempt());
  worst = Math.max(worst, took);
  expect(took, name).toBeLessThan(limitMs);
  if (!answer) throw new Error('no answer');
  expect(answer.status, name).toBeLessThan(600);
  expect(answer.status, name).not.toBe(500);
  return answer;
}

const token = 'A'.repeat(43);
type Door = { path: string; fields: Record<string, string> };
const forms: Door[] = [
  { path: '/login', fields: { email: 'customer@example.test', password: 'wrong' } },
  { path: '/login', fields: { passkey: '{}' } },
  { path: '/login/code', fields: { code: '123456' } },
  { path: '/signup', fields: { name: 'Nia', email: 'nia@example.test' } },
  { path: `/signup/confirm?token=${token}`, fields: { name: 'Nia', newPassword: 'x', passkey: '{}' } },
  { path: '/forgot-password', fields: { email: 'nia@example.test' } },
  { path: `/set-password?token=${token}`, fields: { newPassword: 'seven quiet lanterns', passkey: '{}' } },
  { path: `/take-back?token=${token}`, fields: { newPassword: 'x', code: '1', passkey: '{}', intent: 'x' } },
  { path: '/profile', fields: { intent: 'names', name: 'Ada', accountName: 'Ada', profile_updated_at: 'x' } },
  {
    path: '/profile/security',
    fields: { intent: 'password', currentPassword: 'x', newPassword: 'seven quiet lanterns' },
  },
  {
    path: '/profile/security',
    fields: { intent: 'remove-link', externalId: 'x', currentPassword: 'x' },
  },
  { path: '/profile/security', fields: { intent: 'end-session', id: 'x' } },
  { path: '/profile/email', fields: { email: 'new@example.test' } },
  { path: '/profile/data', fields: { confirmPassword: 'x' } },
  { path: '/profile/data', fields: { confirmPasskey: '{}' } },
  { path: '/profile/passkeys', fields: { intent: 'rename', id: 'x', name: 'Key' } },
  { path: '/profile/passkeys/add', fields: { name: 'Key', passkey: '{}' } },
  { path: '/profile/authenticator', fields: { intent: 'add', sealed: 'x', code: '1' } },
  { path: '/profile/delete', fields: { intent: 'x' } },
  { path: '/passkeys/options', fields: { purpose: 'take-back', token } },
];
const queries: Door[] = [
  ...['/login', '/signup', '/forgot-password', '/verify-email'].map((path) => ({
    path,
    fields: { next: '/profile', prompt: 'login', sent: '1', logged_out: '1' },
  })),
  { path: '/login/code', fields: { next: '/profile', use: 'recovery', new_password: '1' } },
  { path: '/continue', fields: { id: 'x' } },
  { path: '/take-back', fields: { token } },
  { path: '/profile', fields: { saved: 'names' } },
  { path: '/profile/activity', fields: { before: 'x' } },
  { path: '/profile/authenticator', fields: { off: '1', recovered: '1' } },
  {
    path: '/sso/launch/marketplace',
    fields: { state: 'x', return_to: '/x', prompt: 'none', max_age: '1', auth_after: '1' },
  },
  { path: '/logout', fields: { client: 'marketplace', return_to: '/x' } },
  {
    path: '/sso/callback/marketplace',
    fields: { payload: 'e30', signature: 'a'.repeat(64), signature_next: 'a'.repeat(64) },
  },
  { path: '/sso/events', fields: { after: '0', limit: '1', wait: '0' } },
  { path: '/integrations/crm/contracts', fields: { after: 'x', limit: '1' } },
];

/** As short as a body can spell it. */
const spell = (fields: Record<string, string>) =>
  Object.entries(fields)
    .map(
      ([name, text]) => `${name}=${/%25%F0/.test(text) ? text : text.replace(/[%&+]/g, encodeURIComponent)}`,
    )
    .join('&');

const fitTo = (text: string, room: number) => {
  const cut = new TextDecoder().decode(new TextEncoder().encode(text).slice(0, room));
  return cut.replace(/\ufffd$/, '');
};

function sendForm(path: string, fields: Record<string, string>): Promise<Answer> {
  const body = fitTo(spell(fields), 64 * 1024 - 1);
  const headers = { 'content-type': 'application/x-www-form-urlencoded', origin: app.config.issuer };
  return app.send(path, { method: 'POST', body, headers, cookie, from: from() });
}

const withText = (fields: Record<string, string>, name: string, text: string) => {
  const { [name]: _, ...others } = fields;
  return { ...others, [name]: text };
};

const each = (doors: Door[]) =>
  doors.flatMap(({ path, fields }) => Object.keys(fields).map((name) => [path, name, fields] as const));

const everyText = async (name: string, send: (text: string) => Promise<Answer>) => {
  for (const [kind, text] of Object.entries(texts)) await expectQuick(`${name}: ${kind}`, () => send(text));
};

describe('nobody waits for the worst text', () => {
  it('in any field of text that the service reads: each is attacked here', () => {
    const attacked = new Set([...forms, ...queries].flatMap(({ fields }) => Object.keys(fields)));
    expect(Object.keys(textBounds).filter((name) => !attacked.has(name))).toEqual([]);
  });

  it.each(each(forms))('in the form at %s: %s', async (path, name, fields) => {
    await everyText(name, (text) => sendForm(path, withText(fields, name, text)));
  });

  it.each(each(queries))('in the address of %s: %s', async (path, name, fields) => {
    const others = new URLSearchParams(fields);
    others.delete(name);
    await everyText(name, (text) => {
      const spelt = /%25%F0/.test(text) ? text : encodeURI(text).replace(/[[\]&+#]/g, encodeURIComponent);
      return app.send(`${path}?${others}&${name}=${fitTo(spelt, bytes)}`, { cookie, from: from() });
    });
  });

  it.each(listTextInputs(appRouter))(
    'in the input of the procedure %s: %s',
    async (procedure, member, others) => {
      await everyText(member, (text) => {
        const json = { json: { ...others, [member]: fitTo(text, bytes - 500) } };
        return app.send(`/trpc/${procedure}`, { json, cookie, from: from() });
      });
    },
  );

  it.each([
    ['signup_id'],
    ['occurred_at'],
    ['user', 'email'],
    ['user', 'name'],
    ['account', 'name'],
    ['contract', 'plan'],
    ['contract', 'trial_ends_at'],
    ['contract', 'price', 'currency'],
  ])('in a signup: %s %s %s', async (...path) => {
    await everyText(path.join('.'), (text) => {
      const signup = structuredClone(buildSignup(`worst-${serial++}`)) as Record<string, unknown>;
      const last = path.at(-1) ?? '';
      const parent = path.slice(0, -1).reduce((at, name) => at[name] as Record<string, unknown>, signup);
      parent[last] = fitTo(text, bytes - 1_000);
      return sendSignup(app, JSON.stringify(signup));
    });
  });

  it.each([...Object.keys(headerBounds), 'x-place'])('in a header: %s', async (name) => {
    const long = {
      ...texts,
      'a list of languages': fill('en-GB;q=0.9,'),
      'a list of types': fill('text/html;q=0.9,a/b;a="b;c,d",'),
      'many cookies': fill('a=b; '),
      addresses: fill('1,'),
      spaces: `bearer ${fill(' ')}`,
    };
    for (const [kind, text] of Object.entries(long))
      for (const path of ['/login', '/sso/events', '/integrations/crm/signups'])
        await expectQuick(`${name}: ${kind}`, () => {
          // Bytes, as a socket would bring them.
          const value = Buffer.from(text).toString('latin1').trim();
          const isPost = path.endsWith('signups');
          const options: SendOptions = { headers: { [name]: value }, from: from() };
          return app.send(path, isPost ? { ...options, method: 'POST', body: '{}' } : options);
        });
  });

  it('in a new password, and in the name that it is checked against', async () => {
    const growing = (signs: string) =>
      Array.from({ length: 30 }, (_, at) => signs.repeat(20).slice(0, at + 3)).join(' ');
    const names = ['1', '!1', 'il1', 'a4@', '2n', '\ufdfa', 'İ', '\u{1d7cf}', 'password monkey '].map(
      growing,
    );
    const passwords = [
      ...['1', '12', '!1|7', '4@310$7', '(|)|_|', '2n^^|-|', '\ufdfa', '\u{1d7cf}', 'abcab', '19901'],
      ...['p4$$w0rdm0nk3ydr4g0nl3tm31n', 'qwertyuiopasdfghjkl;', '1'.repeat(58).concat('qwerty')],
    ].map((signs) => Array.from(signs.repeat(128)).slice(0, 128).join(''));
    const cut = (text: string, length: number) => Array.from(text).slice(0, length).join('').trim();
    for (const name of names.map((each) => cut(each, 200)))
      for (const password of passwords.flatMap((each) => [each, cut(each, 32)])) {
        // Of itself: a form with a password that is good could be sent once only.
        const check = () =>
          findPasswordFault(password, { config: app.config, email: `${cut(name, 9)}@x`, name });
        let took = await measureWait(app, check);
        if (took > limitMs / 2) took = await measureLeastWait(app, check);
        worst = Math.max(worst, took);
        expect(took, `the password ${password} of ${name}`).toBeLessThan(limitMs / 2);
      }
  });

  it('in the number of fields, cookies and languages, and the depth of JSON', async () => {
    const many = Array.from({ length: 9_000 }, (_, at) => `f${at}=`).join('&');
    for (const { path } of forms)
      await expectQuick(`many fields at ${path}`, () =>
        app.send(path, {
          method: 'POST',
          body: many,
          headers: { 'content-type': 'application/x-www-form-urlencoded', origin: app.config.issuer },
          cookie,
          from: from(),
        }),
      );
    const deep = `${'['.repeat(32_000)}${']'.repeat(32_000)}`;
    const json = { 'content-type': 'application/json', origin: app.config.issuer };
    const leaves = (count: number) =>
      Array.from({ length: count }, (_, at) => `"${at.toString(36)}":["undefined"]`).join();
    for (const body of [
      deep,
      `{"json":${deep.slice(100, -100)}}`,
      `{"json":{},"meta":{"values":${deep.slice(100, -100)}}}`,
      `{"json":{"name":"x"},"meta":{"values":{${JSON.stringify(fill('name.').slice(0, 60_000))}:["undefined"]}}}`,
      // Each leaf is at the end of the one long path.
      `{"json":${'['.repeat(8_000)}${']'.repeat(8_000)},"meta":{"values":{"${'0.'.repeat(7_998)}0":{${leaves(1_700)}}}}}`,
      `{"json":{},"meta":{"values":{${leaves(3_500)}}}}`,
      `{"json":{},"meta":{"values":${'{"a":'.repeat(9_000)}["undefined"]${'}'.repeat(9_000)}}}`,
      `{${Array.from({ length: 6_000 }, (_, at) => `"f${at}":1`).join()}}`,
      `{"json":${'9'.repeat(60_000)}}`,
    ]) {
      await expectQuick('JSON for a procedure', () =>
        app.send('/trpc/profile.update', { method: 'POST', body, headers: json, cookie, from: from() }),
      );
      await expectQuick('JSON for signups', () => sendSignup(app, body));
    }
    const agent = { 'accept-language': fill('en,').slice(0, bytes), cookie: fill('a=b; ').slice(0, bytes) };
    await expectQuick('languages', () => app.send('/login', { headers: agent, from: from() }));
  });
});

it('a password that is too long is a wrong one, with the same answer', async () => {
  const answer = (password: string) =>
    app.send('/login', { form: { email: 'customer@example.test', password }, from: from() });
  const [wrong, long] = [await answer('wrong'), await answer(`local demo password${'x'.repeat(1_100)}`)];
  const plain = (text: string) => text.replace(/nonce="[^"]*"|nonce-[\w-]+/g, '');
  expect([long.status, plain(long.text)]).toEqual([wrong.status, plain(wrong.text)]);
});

it('the figures', () => noteFigures('the longest wait, in ms', { worst }));
