// The legacy marketplace, as far as tests need one.
import { buildHandOffUrl, type LegacyUser } from '../../../server/doors/demo/legacy-marketplace.ts';
import { type Answer, locationOf, type SendOptions, type TestApp } from '../app/app.ts';
import { openBrowser } from '../app/visitor.ts';

export type HandOff = Partial<LegacyUser> & { id: string };

/** The path and query of a genuine hand-off, with a new nonce in each call. */
export async function buildHandOff(
  app: Pick<TestApp, 'config'>,
  user: HandOff,
  issuedAt = new Date(),
): Promise<string> {
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

/** Opens the URL as a person does, and continues if asked. */
export async function handOver(app: TestApp, user: HandOff, options?: SendOptions): Promise<Answer> {
  return openHandOff(app, await buildHandOff(app, user), options);
}

export async function openHandOff(
  { send }: Pick<TestApp, 'send'>,
  url: string,
  options: SendOptions = {},
): Promise<Answer> {
  const browser = openBrowser(send, options.cookie);
  const opened = await browser.send(url, options);
  if (opened.status !== 303 || locationOf(opened).pathname !== '/continue') return opened;
  const { pathname, search } = locationOf(opened);
  return browser.send(pathname + search, { ...options, form: {} });
}
