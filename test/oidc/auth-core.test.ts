// A product on Auth.js. One test uses the claims of the ID token, the other those of userinfo.
import { Auth, type AuthConfig } from '@auth/core';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { listen } from '../../server/runtime/listen.ts';
import { logIn } from '../support/app/browser.ts';
import { shared } from '../support/run/shared.ts';
import { askForLogin, expectNobody, findPerson, openPair, type Place, person } from './pair.ts';
import { showHome, toPage } from './small-product.ts';

const pair = shared(() =>
  openPair({
    options: (origin) => [
      ...['token', 'userinfo'].flatMap((id) => ['--redirect-uri', `${origin}/auth/callback/${id}`]),
      ...['--roles', 'merchant'],
    ],
    open,
  }),
);

function configure({ issuer, client, secret }: Place): AuthConfig {
  const common = {
    type: 'oidc',
    issuer,
    clientId: client,
    clientSecret: secret,
    authorization: { params: { scope: 'openid profile email groups' } },
    // Auth.js would fetch its own logo from the internet.
    style: { logo: '' },
  } as const;
  return {
    basePath: '/auth',
    trustHost: true,
    secret: 'a secret of this test',
    providers: [
      { ...common, id: 'token', name: 'ID token', checks: ['pkce', 'state', 'nonce'] },
      { ...common, id: 'userinfo', name: 'userinfo', idToken: false },
    ],
    callbacks: {
      jwt: ({ token, profile }) => (profile ? { ...token, groups: profile.groups } : token),
      session: ({ session, token }) => ({ ...session, user: { ...session.user, groups: token.groups } }),
      redirect: ({ baseUrl }) => baseUrl,
    },
  };
}

async function open(place: Place) {
  const config = configure(place);
  const paths = { login: '/auth/signin', logout: '/auth/signout' };
  async function answer(request: Request) {
    if (new URL(request.url).pathname.startsWith('/auth/')) return Auth(request, config);
    const asked = new Request(`${place.origin}/auth/session`, { headers: request.headers });
    const session = await (await Auth(asked, config)).json();
    return toPage(showHome(session?.user, paths));
  }
  const listener = await listen(answer, { host: '127.0.0.1', port: place.port });
  return { close: () => listener.close(0) };
}

async function choose(page: Page, name: string): Promise<void> {
  await askForLogin(page, pair);
  await page.getByRole('button', { name: `Sign in with ${name}` }).click();
}

it('logs in with the claims of the ID token, out there alone, and in again with those of userinfo (contract 14.49 and 14.56)', async () => {
  const { page, context } = await pair.site.visit();
  await choose(page, 'ID token');
  await logIn(page, person.email);
  expect(await findPerson(page, pair)).toMatchObject(person);
  await page.getByText('Log out').click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await expectNobody(page, pair);
  await choose(page, 'userinfo');
  expect(await findPerson(page, pair)).toMatchObject(person);
  await context.close();
});
