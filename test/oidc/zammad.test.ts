// A product that behaves as Zammad does: it sends a nonce and a challenge, but no secret, so its Basic header has an empty one.
import { expect, it } from 'vitest';
import { shared } from '../support/run/shared.ts';
import { askForLogin, expectBackChannelLogout, logInAt, openPair, type Place, person } from './pair.ts';
import * as product from './small-product.ts';

const path = '/auth/openid_connect';

const pair = shared(() =>
  openPair({
    options: (origin) => [
      ...['--redirect-uri', `${origin}${path}/callback`, '--post-logout-uri', `${origin}/`],
      ...['--back-channel-uri', `${origin}${path}/backchannel_logout`],
      ...['--auth', 'none', '--roles', 'merchant'],
    ],
    open,
  }),
);

async function open(place: Place) {
  const { client, origin } = place;
  const service = await product.discover(place);
  const redirect_uri = `${origin}${path}/callback`;
  const sessions: product.Sessions = new Map();

  async function startLogin({ session }: product.Call) {
    const [state, nonce, verifier] = [product.random(), product.random(), product.random()];
    Object.assign(session, { state, nonce, verifier });
    return product.goTo(service.authorization_endpoint, {
      ...{ response_type: 'code', client_id: client, redirect_uri, scope: 'openid email profile groups' },
      ...{ state, nonce, ...product.challengeOf(verifier) },
    });
  }

  async function endLogin({ url, session }: product.Call) {
    if (url.searchParams.get('state') !== session.state) return product.refuse('state');
    const tokens = await product.exchange(
      service,
      {
        code: url.searchParams.get('code') ?? '',
        redirect_uri,
        code_verifier: String(session.verifier),
        scope: 'openid email profile groups',
      },
      product.basic(client, ''),
    );
    const claims = await product.verify(service, place, tokens.id_token);
    if (claims.nonce !== session.nonce) return product.refuse('nonce');
    const who = { ...(await product.askUserinfo(service, tokens.access_token)), ...claims };
    Object.assign(session, { who, sid: claims.sid, hint: tokens.id_token });
    return product.goTo('/');
  }

  async function logOut({ session }: product.Call) {
    session.who = undefined;
    return product.goTo(service.end_session_endpoint, {
      id_token_hint: String(session.hint),
      post_logout_redirect_uri: `${origin}/`,
    });
  }

  async function takeLogout({ form }: product.Call) {
    const { sid } = await product.verify(service, place, form.get('logout_token') ?? '');
    if (!sid) return product.refuse('sid', 422);
    for (const session of sessions.values()) if (session.sid === sid) session.who = undefined;
    return new Response(null, { status: 204 });
  }

  const routes = {
    'GET /login': startLogin,
    [`GET ${path}/callback`]: endLogin,
    'GET /logout': logOut,
    [`POST ${path}/backchannel_logout`]: takeLogout,
  };
  return product.openSmallProduct(place, routes, sessions);
}

it('logs in without a secret, and out without a question (contract 14.41 and 14.61)', async () => {
  const { page, context } = await pair.site.visit();
  expect(await logInAt(page, pair)).toMatchObject(person);
  await page.getByText('Log out').click();
  await page.waitForURL(`${pair.origin}/`);
  await askForLogin(page, pair);
  await page.getByLabel('Email address').waitFor();
  await context.close();
});

it('lets nobody in whose session here has ended (contract 14.70 and 14.73)', () =>
  expectBackChannelLogout(pair));
