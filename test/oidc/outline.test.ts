// A product that behaves as Outline does. It sends the secret in the form, and a challenge if discovery offers one. It reads
// userinfo five minutes after it last did so for this person. If that fails, it ends all sessions of the person.
import { expect, it } from 'vitest';
import { shared } from '../support/run/shared.ts';
import { expectNobody, findPerson, logInAt, logOutHere, openPair, type Place, person } from './pair.ts';
import * as product from './small-product.ts';

let aheadMs = 0;
const now = () => new Date(Date.now() + aheadMs);
const minute = 60_000;

const pair = shared(() =>
  openPair({
    options: (origin) => ['--redirect-uri', `${origin}/auth/oidc.callback`, '--roles', 'merchant'],
    open,
    now,
  }),
);

async function open(place: Place) {
  const { client, secret, origin } = place;
  const service = await product.discover(place);
  const redirect_uri = `${origin}/auth/oidc.callback`;
  const sessions: product.Sessions = new Map();

  async function startLogin({ session }: product.Call) {
    Object.assign(session, { state: product.random(), verifier: product.random() });
    const asked = {
      response_type: 'code',
      client_id: client,
      redirect_uri,
      scope: 'openid profile email groups',
    };
    const isOffered = service.code_challenge_methods_supported?.includes('S256');
    const challenge = isOffered ? product.challengeOf(String(session.verifier)) : {};
    return product.goTo(service.authorization_endpoint, {
      ...asked,
      ...challenge,
      state: String(session.state),
    });
  }

  async function endLogin({ url, session }: product.Call) {
    if (url.searchParams.get('state') !== session.state) return product.refuse('state');
    const tokens = await product.exchange(service, {
      code: url.searchParams.get('code') ?? '',
      redirect_uri,
      client_id: client,
      client_secret: secret,
      code_verifier: String(session.verifier),
    });
    session.token = tokens.access_token;
    session.expiresAt = now().getTime() + tokens.expires_in * 1000;
    session.who = await product.askUserinfo(service, tokens.access_token);
    session.seenAt = now().getTime();
    return product.goTo('/');
  }

  async function showHome({ session }: product.Call) {
    if (session.who && Number(session.seenAt) < now().getTime() - 5 * minute) {
      // Without a refresh token, an access token that has expired ends the session as well.
      const isLate = Number(session.expiresAt) < now().getTime();
      const found =
        !isLate && (await product.askUserinfo(service, String(session.token)).catch(() => undefined));
      if (found) Object.assign(session, { who: found, seenAt: now().getTime() });
      else for (const each of sessions.values()) each.who = undefined;
    }
    return product.showHome(session.who);
  }

  return product.openSmallProduct(
    place,
    { 'GET /': showHome, 'GET /login': startLogin, 'GET /auth/oidc.callback': endLogin },
    sessions,
  );
}

it('keeps people in whose session here goes on, 70 minutes and more after their login (contract 14.55 and 14.56)', async () => {
  const { page, context } = await pair.site.visit();
  expect(await logInAt(page, pair)).toMatchObject(person);
  for (const later of [70 * minute, 10 * 60 * minute]) {
    aheadMs += later;
    await page.goto(`${pair.origin}/`);
    expect(await findPerson(page, pair)).toMatchObject(person);
  }
  await context.close();
});

it('lets nobody in whose session here has ended, at its next look (contract 14.57)', async () => {
  const { page, context } = await pair.site.visit();
  await logInAt(page, pair);
  await logOutHere(await context.newPage(), pair);
  await page.goto(`${pair.origin}/`);
  expect(await findPerson(page, pair)).toMatchObject(person);
  aheadMs += 6 * minute;
  await expectNobody(page, pair);
  await context.close();
});
