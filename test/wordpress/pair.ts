// A WordPress and the real service, which know each other, and visitors who go from one to the other.
import { createHmac, randomBytes } from 'node:crypto';
import { expect, inject, vi } from 'vitest';
import { locationOf } from '../support/app/app.ts';
import { openSite, type TestSite } from '../support/app/browser.ts';
import { addPerson, openSession } from '../support/events/events.ts';
import { openWordPress, phpText, type WordPress } from './site.ts';

export const secret = 'the secret of the network site of a test';

export type Pair = { site: TestSite; wordpress: WordPress; close: () => Promise<void> };

export async function openPair(): Promise<Pair> {
  const wordpress = await openWordPress(inject('wordpress'));
  const base = `${wordpress.url}/sso/identity`;
  const site = await openSite({
    SSO_WEBSITE_CALLBACK_URL: `${base}/callback`,
    SSO_WEBSITE_LOGIN_URL: `${base}/login`,
    SSO_WEBSITE_EVENTS_URL: `${base}/events`,
    SSO_WEBSITE_SECRET: secret,
  });
  return {
    site,
    wordpress,
    async close() {
      await site.close();
      const log = await wordpress.readLog();
      // Other lines are ignored, because this WordPress is older than this PHP. Only lines about our own files and WordPress'
      // rights matter.
      expect(log.split('\n').filter((line) => /PHP .*(identity-login|map_meta_cap)/.test(line))).toEqual([]);
      expect(log).not.toMatch(/payload=|signature=|@example\.test/);
    },
  };
}

export async function setUp({ site, wordpress }: Pair): Promise<void> {
  await wordpress.php(`
    activate_plugin('identity-login/identity-login.php');
    update_option('permalink_structure', '/%postname%/');
    update_option('identity_login', ['issuer' => ${phpText(site.baseUrl)}, 'secrets' => [${phpText(secret)}]]);`);
}

export const choose = ({ wordpress }: Pair, setting: string, php: string) =>
  wordpress.php(`
    $settings = get_option('identity_login');
    $settings[${phpText(setting)}] = ${php};
    update_option('identity_login', $settings);`);

export type Page = { status: number; headers: Headers; text: string; location: string };

/** A browser without script at the WordPress, with its cookies. It does not follow redirects. */
export function openVisitor({ site, wordpress }: Pair) {
  const jar = new Map<string, string>();
  async function go(path: string, options: RequestInit = {}): Promise<Page> {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { cookie, ...(options.headers as Record<string, string>) };
    const response = await fetch(new URL(path, wordpress.url), { redirect: 'manual', ...options, headers });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/max-age=0\b/i.test(line)) jar.delete(name);
      else jar.set(name, value);
    }
    const { status } = response;
    return {
      status,
      headers: response.headers,
      text: await response.text(),
      location: response.headers.get('location') ?? '',
    };
  }
  /** Begins a login. Returns the URL to which the service's launch redirects the person. */
  async function launch(cookie: string, returnTo = ''): Promise<string> {
    const start = await go(`/sso/identity/login${returnTo && `?return_to=${encodeURIComponent(returnTo)}`}`);
    expect(start.status).toBe(303);
    const { pathname, search } = new URL(start.location);
    return locationOf(await site.app.send(pathname + search, { cookie })).href;
  }
  return {
    jar,
    go,
    launch,
    /** Logs in. Returns the answer of the callback. `cookie` belongs to a session at the service. */
    login: async (cookie: string, returnTo = '') => go(await launch(cookie, returnTo)),
    /** Starts an attempt, and returns the state with which this browser asked. */
    async startAttempt(): Promise<string> {
      const start = await go('/sso/identity/login');
      return new URL(start.location).searchParams.get('state') ?? '';
    },
    logInLocally: (name: string, password: string) =>
      go('/wp-login.php', {
        method: 'POST',
        body: new URLSearchParams({ log: name, pwd: password }),
        headers: { cookie: 'wordpress_test_cookie=WP%20Cookie%20check' },
      }),
    async whoAmI(): Promise<string> {
      return /<p id="who">(.*?)<\/p>/.exec((await go('/')).text)?.[1] ?? '';
    },
  };
}

export const refusalOf = ({ status, headers }: Page) => [status, headers.get('identity-refusal')];

/** Returns a hand-off with the service's signature, for a person whom the service does not know. */
export function signHandOff(
  { site }: Pair,
  state: string,
  profile: Record<string, unknown>,
  key = secret,
): string {
  const iat = Math.floor(Date.now() / 1000);
  const claims = {
    iss: site.baseUrl,
    aud: 'network_site',
    iat,
    exp: iat + 300,
    nonce: randomBytes(16).toString('base64url'),
    client: 'network_site',
    sid: randomBytes(16).toString('base64url'),
    auth_time: iat,
    amr: ['pwd'],
    profile: {
      id: '0190f5a0-0000-7000-8000-000000000001',
      email: 'zoe@example.test',
      name: 'Zoë O’Neil',
      role: 'customer',
      account: { capabilities: [] },
      profile_updated_at: '2026-01-01T00:00:00.000Z',
      ...profile,
    },
    state,
  };
  const payload = Buffer.from(JSON.stringify(claims)).toString('base64url');
  const signature = createHmac('sha256', key).update(payload).digest('hex');
  return `/sso/identity/callback?${new URLSearchParams({ payload, signature })}`;
}

export type LocalUser = {
  id: number;
  login: string;
  email: string;
  name: string;
  roles: string[];
  identityEmail: string;
};

const fieldsOfUser = `[
  'id' => $user->ID, 'login' => $user->user_login, 'email' => $user->user_email, 'name' => $user->display_name,
  'roles' => array_values($user->roles), 'identityEmail' => get_user_meta($user->ID, 'identity_email', true),
]`;

export const usersOf = ({ wordpress }: Pair, profileId: string): Promise<LocalUser[]> =>
  wordpress.php(`return array_map(fn($user) => ${fieldsOfUser},
    get_users(['meta_key' => 'identity_profile_id', 'meta_value' => ${phpText(profileId)}]));`);

export async function userOf(pair: Pair, profileId: string): Promise<LocalUser> {
  const [user, ...more] = await usersOf(pair, profileId);
  if (!user || more.length > 0)
    throw new Error(`one local user expected, and there are ${more.length + (user ? 1 : 0)}`);
  return user;
}

/** Adds a person of the service who has logged in to WordPress. */
export async function addArrived(pair: Pair, name?: string) {
  const person = await addPerson(pair.site.app.db, name);
  const cookie = await openSession(pair.site.app.db, person);
  const visitor = openVisitor(pair);
  expect(refusalOf(await visitor.login(cookie))).toEqual([303, null]);
  const user = await userOf(pair, person.id);
  expect(await visitor.whoAmI()).toBe(user.login);
  return { person, cookie, visitor, user, id: user.id };
}

/** Adds a local user as any site has them. Returns the user's id. */
export const addLocalUser = (
  { wordpress }: Pair,
  name: string,
  email: string,
  role = 'author',
): Promise<number> =>
  wordpress.php(`return wp_insert_user(['user_login' => ${phpText(name)}, 'user_email' => ${phpText(email)},
    'user_pass' => 'a local password', 'role' => ${phpText(role)}]);`);

/** Waits for the effect of an event, which arrives within seconds. */
export const soon = <T>(check: () => T | Promise<T>) => vi.waitFor(check, { timeout: 15_000, interval: 200 });
