// The legacy marketplace, as far as tests need one.
import { buildHandOffUrl, type LegacyUser } from '../../server/demo/legacy-marketplace.ts';
import type { Answer, SendOptions, TestApp } from './app.ts';

export type HandOff = Partial<LegacyUser> & { id: string };

/** The path and query of a genuine hand-off, with a new nonce in each call. */
export async function buildHandOff(app: TestApp, user: HandOff, issuedAt = new Date()): Promise<string> {
  const link = await buildHandOffUrl(
    app.config,
    {
      email: `${user.id}@example.test`,
      name: `User ${user.id}`,
      role: 'customer',
      capabilities: [],
      profileUpdatedAt: new Date('2026-01-01T00:00:00.000Z'),
      ...user,
    },
    issuedAt,
  );
  const { pathname, search } = new URL(link);
  return pathname + search;
}

export async function handOver(app: TestApp, user: HandOff, options?: SendOptions): Promise<Answer> {
  return app.send(await buildHandOff(app, user), options);
}
