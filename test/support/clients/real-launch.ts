// Compares what a launch of the real service gives with what the fake service of a kit gives for the same launch.
import { expect } from 'vitest';
import { verifyEnvelope } from '../../../server/sso/envelope.ts';
import { payloadSchema } from '../../../server/sso/payload.ts';
import { openApp } from '../app/app.ts';

type Launch = { issuer: string; origin: string; secret: string; launch: string };

/**
 * `mint` returns the callback's URL with a hand-off of the fake service. It must have the path, the members and the types of
 * the real service's hand-off.
 */
export async function expectAsAtRealService(mint: (launch: Launch) => Promise<string>): Promise<void> {
  const secret = 'a-secret-that-nobody-else-has-0123456789';
  const origin = 'http://localhost:4000';
  const env = {
    SSO_CLIENTS: 'shop',
    SSO_SHOP_SECRET: secret,
    SSO_SHOP_CALLBACK_URL: `${origin}/sso/callback`,
  };
  const app = await openApp({ env });
  try {
    const path = '/sso/launch/shop?state=Zk3v0Qm1bX9sT7eW2aLr5g&return_to=%2Forders%3Fx%3D1';
    const { headers } = await app.send(path, { cookie: await app.login('customer@example.test') });
    const { issuer, baseUrl } = app.config;
    const real = await read(headers.get('location') ?? '', issuer, secret);
    const made = await read(await mint({ issuer, origin, secret, launch: baseUrl + path }), issuer, secret);
    expect([made.address, made.names, shapeOf(made.claims)]).toEqual([
      real.address,
      real.names,
      shapeOf(real.claims),
    ]);
    const { iss, aud, client, amr, state, return_to } = real.claims;
    expect(made.claims).toMatchObject({ iss, aud, client, amr, state, return_to });
    expect(made.claims.exp - made.claims.iat).toBe(real.claims.exp - real.claims.iat);
  } finally {
    await app.close();
  }
}

/** Reads a callback as the service itself would verify it. */
async function read(address: string, issuer: string, secret: string) {
  const { origin, pathname, searchParams } = new URL(address);
  const { claims } = await verifyEnvelope(searchParams, {
    secrets: [secret],
    schema: payloadSchema,
    iss: issuer,
    aud: 'shop',
    ttlSeconds: 300,
    now: new Date(),
  });
  return { address: origin + pathname, names: [...searchParams.keys()], claims };
}

/** Returns the names and types of all members, in order. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return 'list';
  if (typeof value !== 'object' || value === null) return typeof value;
  return Object.entries(value).map(([name, member]) => [name, shapeOf(member)]);
}
