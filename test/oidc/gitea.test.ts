// A product that behaves as Gitea 1.25 does: it sends a state, but no nonce or challenge, and does not check the ID token's
// signature.
import { decodeJwt } from 'jose';
import { expect, it } from 'vitest';
import { shared } from '../support/run/shared.ts';
import { askForLogin, expectNobody, findPerson, logInAt, openPair, type Place, person } from './pair.ts';
import * as product from './small-product.ts';

const pair = shared(() =>
  openPair({
    options: (origin) => [
      ...['--redirect-uri', `${origin}/user/oauth2/identity/callback`],
      ...['--pkce', 'state-only', '--roles', 'merchant'],
    ],
    open,
  }),
);

async function open(place: Place) {
  const { client, secret, origin } = place;
  const service = await product.discover(place);
  const redirect_uri = `${origin}/user/oauth2/identity/callback`;
  return product.openSmallProduct(place, {
    'GET /login': async ({ session }) => {
      session.state = product.random();
      const asked = {
        client_id: client,
        redirect_uri,
        response_type: 'code',
        scope: 'openid email profile groups',
      };
      return product.goTo(service.authorization_endpoint, { ...asked, state: String(session.state) });
    },
    'GET /user/oauth2/identity/callback': async ({ url, session }) => {
      if (url.searchParams.get('state') !== session.state) return product.refuse('state');
      const code = url.searchParams.get('code') ?? '';
      const tokens = await product.exchange(service, { code, redirect_uri }, product.basic(client, secret));
      const claims = decodeJwt(tokens.id_token);
      const found = await product.askUserinfo(service, tokens.access_token);
      if (claims.sub !== found.sub || claims.aud !== client) return product.refuse('sub');
      session.who = { ...claims, ...found };
      return product.goTo('/');
    },
    'GET /logout': async ({ session }) => {
      session.who = undefined;
      return product.goTo('/');
    },
  });
}

it('logs in with a state alone, out there alone, and in again without a password (contract 14.32)', async () => {
  const { page, context } = await pair.site.visit();
  expect(await logInAt(page, pair)).toMatchObject(person);
  await page.getByText('Log out').click();
  await expectNobody(page, pair);
  await askForLogin(page, pair);
  expect(await findPerson(page, pair)).toMatchObject(person);
  await context.close();
});
