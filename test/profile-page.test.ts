import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Answer, openApp, type TestApp } from './support/app.ts';
import { openClient } from './support/trpc.ts';
import { fieldOf, submitProfile, textOf } from './support/visitor.ts';

const password = 'local demo password';
const newPassword = 'quite another long password';

let app: TestApp;
let cookie: string;
beforeAll(async () => {
  app = await openApp({ env: { SSO_CLIENTS: 'loyalty_cards' } });
});
beforeEach(async () => {
  cookie = await app.login('merchant@example.test');
});
afterAll(() => app.close());

const view = async (email: string) => textOf(await app.send('/profile', { cookie: await app.login(email) }));
const post = (form: Record<string, string>) => app.send('/profile', { cookie, form });
const saveNames = (name: string, accountName = 'Maya’s account') =>
  post({ intent: 'names', name, accountName });
const readNames = async () => {
  const { name, accountName } = await openClient(app.send, cookie).profile.get.query();
  return { name, accountName };
};

/** Refused at this field: 422, the field marked, and the message among the texts that describe it. */
function expectRefusedAt(answer: Answer, field: string, message: RegExp): void {
  expect(answer.status).toBe(422);
  const { isInvalid, descriptions } = fieldOf(answer, field);
  expect(isInvalid).toBe(true);
  expect(descriptions.some((description) => message.test(description))).toBe(true);
}

describe('without a session', () => {
  it.each(['/profile', '/profile?saved=names&x=%26'])(
    '%s asks for the login, which comes back',
    async (path) => {
      const answer = await app.send(path, { headers: { accept: 'text/html' } });
      expect(answer.status).toBe(303);
      expect(answer.headers.get('location')).toBe(`/login?next=${encodeURIComponent(path)}`);
    },
  );

  it('a form changes nothing and asks for the login', async () => {
    const names = await readNames();
    await app.send('/logout', { method: 'POST', cookie });
    const answer = await saveNames('Lost');
    expect(answer.status).toBe(303);
    expect(answer.headers.get('location')).toBe('/login?next=%2Fprofile');
    cookie = await app.login('merchant@example.test');
    expect(await readNames()).toEqual(names);
  });

  it('a form never leads to a page that claims to have saved what was lost', async () => {
    await app.send('/logout', { method: 'POST', cookie });
    const form = { intent: 'names', name: 'Lost', accountName: 'Lost' };
    // Where the page says so of an earlier edit, its form posts to the same URL.
    const answer = await app.send('/profile?saved=names', { cookie, form });
    expect(answer.status).toBe(303);
    expect(decodeURIComponent(answer.headers.get('location') ?? '')).not.toContain('saved');
  });
});

describe('the page', () => {
  it('explains role and capabilities', async () => {
    const merchant = await view('merchant@example.test');
    expect(merchant).toMatch(/Merchant . Your account sells/);
    expect(merchant).toMatch(/Manage a storefront Your account has a shop of its own\. On Sell products/);
    expect(merchant).not.toContain('Waiting for verification');
    expect(await view('new-merchant@example.test')).toMatch(
      /Sell products [^.]*\. This begins once your account is verified\. Waiting for verification/,
    );
    expect(await view('customer@example.test')).toMatch(/Customer . You use and buy/);
    for (const email of ['manager@example.test', 'admin@example.test'])
      expect(await view(email)).toMatch(/Administrator . You run/);
  });

  it('lists the products, each with the link that opens it', async () => {
    const { text } = await app.send('/profile', { cookie });
    const links = [...text.matchAll(/href="(\/sso\/launch\/[^"]+)"/g)].map(([, path]) => path);
    expect(links).toEqual(
      ['marketplace', 'network_site', 'crm_app', 'loyalty_cards'].map((c) => `/sso/launch/${c}`),
    );
  });

  it('tells who has an unverified address', async () => {
    expect(await view('unverified@example.test')).toContain('not verified yet');
    expect(await view('customer@example.test')).not.toContain('not verified yet');
  });

  it('is kept by no cache', async () => {
    expect((await app.send('/profile', { cookie })).headers.get('cache-control')).toBe('no-store');
  });
});

describe('the names', () => {
  it('are saved and shown, trimmed', async () => {
    const answer = await saveNames('  Zoë O’Neil\u00a0', '\tZoë’s <Flowers> & "more"\n');
    expect(answer.status).toBe(303);
    expect(answer.headers.get('location')).toBe('/profile?saved=names');
    const page = await app.send('/profile?saved=names', { cookie });
    expect(textOf(page)).toContain('Saved.');
    expect(fieldOf(page, 'name')).toEqual({ value: 'Zoë O’Neil', isInvalid: false, descriptions: [] });
    expect(fieldOf(page, 'accountName').value).toBe('Zoë’s <Flowers> & "more"');
    expect(await readNames()).toEqual({ name: 'Zoë O’Neil', accountName: 'Zoë’s <Flowers> & "more"' });
  });

  it.each(['X', '李', '👩‍👩‍👧‍👦', 'عائشة', 'N'.repeat(200), '😀'.repeat(200)])('may be %s', async (name) => {
    expect((await saveNames(name, name)).status).toBe(303);
    expect(await readNames()).toEqual({ name, accountName: name });
  });

  it.each([
    ['', /Please enter a name/],
    [' \t\u00a0\n', /Please enter a name/],
    ['N'.repeat(201), /200 characters/],
    ['😀'.repeat(201), /200 characters/],
    ['a\u0000b', /cannot be shown/],
    ['a\u0007b', /cannot be shown/],
    ['a\nb', /cannot be shown/],
    ['a\u007fb', /cannot be shown/],
    ['a\u0085b', /cannot be shown/],
    ['a\u202eb', /cannot be shown/],
    ['a\u202ab', /cannot be shown/],
    ['a\u2066b', /cannot be shown/],
  ])('may not be %j', async (value, message) => {
    const names = await readNames();
    const answer = await saveNames(value, value);
    expectRefusedAt(answer, 'name', message);
    expectRefusedAt(answer, 'accountName', message);
    expect(await readNames()).toEqual(names);
  });

  it('stay in the form as typed where the other is refused, and neither is saved', async () => {
    const names = await readNames();
    const answer = await saveNames('Typed "in" <full>', '');
    expectRefusedAt(answer, 'accountName', /Please enter a name/);
    expect(fieldOf(answer, 'name')).toEqual({
      value: 'Typed "in" <full>',
      isInvalid: false,
      descriptions: [],
    });
    expect(fieldOf(answer, 'accountName').value).toBe('');
    expect(await readNames()).toEqual(names);
  });

  it('are text on every page, whatever they look like', async () => {
    const name = `</script><script>alert(1)</script>"'><img src=x onerror=alert(1)>&amp;{{7*7}}\u2028<!--`;
    await saveNames(name, name);
    const saved = await app.send('/profile', { cookie });
    const refused = await post({ intent: 'names', name, accountName: '' });
    for (const page of [saved, refused]) {
      expect(page.text).not.toMatch(/<script>alert|<img|<\/script><script>alert/);
      expect(fieldOf(page, 'name').value).toBe(name);
    }
  });
});

describe('the password', () => {
  const change = (currentPassword: string, chosen: string) =>
    post({ intent: 'password', currentPassword, newPassword: chosen });

  it.each([
    ['wrong', newPassword, 'currentPassword', /not your present password/],
    ['', newPassword, 'currentPassword', /not your present password/],
    [password, 'eleven char', 'newPassword', /at least 12 characters/],
    [password, '', 'newPassword', /at least 12 characters/],
    // Eleven characters, though 22 of the units that JavaScript counts, or 22 before NFKC.
    [password, '🦊🐢🐙🦉🐝🐳🦔🐌🐘🐪🦋', 'newPassword', /at least 12 characters/],
    [password, 'éüöäïÿñõçàè'.normalize('NFD'), 'newPassword', /at least 12 characters/],
    [password, 'x1Y-'.repeat(33), 'newPassword', /128 characters/],
    [password, 'password1234', 'newPassword', /guessed first/],
    [password, 'qwertyuiop12', 'newPassword', /guessed first/],
  ])('%j to %j is refused at the field %s', async (current, chosen, field, message) => {
    const answer = await change(current, chosen);
    expectRefusedAt(answer, field, message);
    expect(answer.headers.getSetCookie()).toEqual([]);
    for (const name of ['currentPassword', 'newPassword'])
      expect(fieldOf(answer, name).value).toBeUndefined();
    if (chosen !== '') expect(answer.text).not.toContain(chosen);
    await app.login('merchant@example.test', password);
  });

  it('is changed, and said to be, to any twelve characters in any script', async () => {
    const chosen = 'пароль подлиннее 密码';
    const form = { intent: 'password', currentPassword: password, newPassword: chosen };
    expect(textOf(await submitProfile(app.send, cookie, form))).toContain('Your password is changed');
    cookie = await app.login('merchant@example.test', chosen);
    expect((await change(chosen, password)).status).toBe(303);
  });

  it('is in no log and no audit event, whether changed or refused', async () => {
    await change('a wrong present one', newPassword);
    const changed = await change(password, newPassword);
    cookie = changed.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    await change(newPassword, password);
    const { rows } = await sql<{ trail: string }>`
      select string_agg(row_to_json(e)::text, '') as trail from audit_events e`.execute(app.db);
    const everything = rows[0]?.trail + JSON.stringify(app.logged);
    for (const secret of ['a wrong present one', newPassword, password])
      expect(everything).not.toContain(secret);
    expect(rows[0]?.trail).toMatch(/password\.refused.*wrong_password.*password\.changed/);
  });
});

it.each(['', 'delete', 'constructor', 'toString'])(
  'the intent %j is none of this page: 400',
  async (intent) => {
    const answer = await post({ intent, name: 'X', accountName: 'X' });
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.text)).toMatchObject({
      code: 'invalid_request',
      errors: [{ pointer: '/intent' }],
    });
  },
);
