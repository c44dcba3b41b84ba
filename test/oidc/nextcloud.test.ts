// A product that behaves as Nextcloud's user_oidc does: it sends the secret in the form and a challenge if discovery lists
// them, and logs out by its client id without a hint.
import { expect, it } from 'vitest';
import { shared } from '../support/run/shared.ts';
import { askForLogin, expectBackChannelLogout, logInAt, openPair, type Place, person } from './pair.ts';
import * as product from './small-product.ts';

const path = '/apps/user_oidc';

const pair = shared(() =>
  openPair({
    options: (origin) => [
      ...['--redirect-uri', `${origin}${path}/code`, '--post-logout-uri', `${origin}/`],
      ...['--back-channel-uri', `${origin}${path}/backchannel-logout/identity`],
      ...['--roles', 'merchant'],
    ],
    open,
  }),
);

async function open(place: Place) {
  const { client, secret, origin } = place;
  const service = await product.discover(place);
  const redirect_uri = `${origin}${path}/code`;
  const hasChallenge = service.code_challenge_methods_supported?.includes('S256');
  const isByForm = service.token_endpoint_auth_methods_supported?.includes('client_secret_post');
  const sessions: product.Sessions = new Map();

  async function startLogin({ session }: product.Call) {
    const [state, nonce, verifier] = [product.random(), product.random(), product.random()];
    Object.assign(session, { state, nonce, verifier });
    const wanted = { email: null, name: null, quota: null, groups: null };
    return product.goTo(service.authorization_endpoint, {
      ...{ client_id: client, response_type: 'code', scope: 'openid email profile groups', redirect_uri },
      ...{ claims: JSON.stringify({ id_token: wanted, userinfo: wanted }), state, nonce },
      ...(hasChallenge && product.challengeOf(verifier)),
    });
  }

  async function endLogin({ url, session }: product.Call) {
    if (url.searchParams.get('state') !== session.state) return product.refuse('state');
    const form = {
      code: url.searchParams.get('code') ?? '',
      redirect_uri,
      ...(hasChallenge && { code_verifier: String(session.verifier) }),
    };
    const { id_token } = isByForm
      ? await product.exchange(service, { ...form, client_id: client, client_secret: secret })
      : await product.exchange(service, form, product.basic(client, secret));
    const claims = await product.verify(service, place, id_token);
    if (claims.nonce !== session.nonce) return product.refuse('nonce');
    Object.assign(session, { who: claims, sid: claims.sid });
    return product.goTo('/');
  }

  async function logOut({ session }: product.Call) {
    Object.assign(session, { who: undefined, sid: undefined });
    // Nextcloud does not encode these parameters.
    return product.goTo(
      `${service.end_session_endpoint}?post_logout_redirect_uri=${origin}/&client_id=${client}`,
    );
  }

  async function takeLogout({ form }: product.Call) {
    const claims = await product.verify(service, place, form.get('logout_token') ?? '');
    const isOf = (session: product.Session) => (claims.sid ? session.sid === claims.sid : true);
    const ended = [...sessions.values()].filter((session) => session.who && isOf(session));
    for (const session of ended) Object.assign(session, { who: undefined, sid: undefined });
    // Nextcloud gives this answer even if it has ended the session itself.
    return ended.length > 0 ? Response.json({}) : product.refuse('No session was found', 400);
  }

  const routes = {
    'GET /login': startLogin,
    [`GET ${path}/code`]: endLogin,
    'GET /logout': logOut,
    [`POST ${path}/backchannel-logout/identity`]: takeLogout,
  };
  return product.openSmallProduct(place, routes, sessions);
}

it('logs in by the form, and out after a question (contract 14.40 and 14.62)', async () => {
  const { page, context } = await pair.site.visit();
  expect(await logInAt(page, pair)).toMatchObject(person);
  await page.getByText('Log out').click();
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.waitForURL(`${pair.origin}/`);
  await askForLogin(page, pair);
  await page.getByLabel('Email address').waitFor();
  await context.close();
});

it('lets nobody in whose session here has ended (contract 14.70 and 14.73)', () =>
  expectBackChannelLogout(pair));
