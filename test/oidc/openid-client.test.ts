// A product on openid-client, the library for Node: with a nonce, a challenge and the form as the way of the answer.
import * as oidc from 'openid-client';
import { expect, it } from 'vitest';
import { logIn } from '../support/app/browser.ts';
import { shared } from '../support/run/shared.ts';
import { askForLogin, findPerson, openPair, type Place, person } from './pair.ts';
import { type Call, goTo, openSmallProduct } from './small-product.ts';

const pair = shared(() =>
  openPair({
    options: (origin) => [
      ...['--redirect-uri', `${origin}/callback`, '--post-logout-uri', `${origin}/left`],
      ...['--roles', 'merchant'],
    ],
    open,
  }),
);

async function open(place: Place) {
  const { issuer, client, secret, origin } = place;
  const config = await oidc.discovery(new URL(issuer), client, secret, undefined, {
    execute: [oidc.allowInsecureRequests],
  });

  async function startLogin({ url, session }: Call) {
    session.verifier = oidc.randomPKCECodeVerifier();
    session.state = oidc.randomState();
    session.nonce = oidc.randomNonce();
    const asked = {
      redirect_uri: `${origin}/callback`,
      scope: 'openid profile email groups',
      code_challenge: await oidc.calculatePKCECodeChallenge(String(session.verifier)),
      code_challenge_method: 'S256',
      state: String(session.state),
      nonce: String(session.nonce),
      ...Object.fromEntries(url.searchParams),
    };
    return goTo(oidc.buildAuthorizationUrl(config, asked));
  }

  async function endLogin({ request, session }: Call) {
    try {
      const tokens = await oidc.authorizationCodeGrant(config, request, {
        pkceCodeVerifier: String(session.verifier),
        expectedState: String(session.state),
        expectedNonce: String(session.nonce),
        idTokenExpected: true,
      });
      const claims = tokens.claims();
      session.hint = tokens.id_token;
      session.who = await oidc.fetchUserInfo(config, tokens.access_token, claims?.sub ?? '');
      return goTo('/');
    } catch (error) {
      if (error instanceof oidc.AuthorizationResponseError) return `<p>${error.error}</p>`;
      throw error;
    }
  }

  return openSmallProduct(place, {
    'GET /login': startLogin,
    'GET /callback': endLogin,
    'POST /callback': endLogin,
    'GET /logout': async ({ session }) => {
      const asked = {
        id_token_hint: String(session.hint),
        post_logout_redirect_uri: `${origin}/left`,
        state: 'as it was: ä+&',
      };
      session.who = undefined;
      return goTo(oidc.buildEndSessionUrl(config, asked));
    },
    'GET /left': async ({ url }) => `<p id="left">${url.searchParams.get('state')}</p>`,
  });
}

it.each(['query', 'form_post'])(
  'logs in by %s, and out without a question (contract 14.36 and 14.62)',
  async (mode) => {
    const { page, context, complaints } = await pair.site.visit();
    if (mode === 'form_post') await page.goto(`${pair.origin}/login?response_mode=form_post`);
    else await askForLogin(page, pair);
    await logIn(page, person.email);
    expect(await findPerson(page, pair)).toMatchObject({ ...person, email_verified: true });
    await page.getByText('Log out').click();
    await page.waitForURL(`${pair.origin}/left**`);
    expect(await page.locator('#left').textContent()).toBe('as it was: ä+&');
    await askForLogin(page, pair);
    await page.getByLabel('Email address').waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  },
);
