// Everything behind the routes, made once and handed to them as Remix's load context: no module-level
// singletons, so that development, tests and production run the same thing.
import { TRPCError } from '@trpc/server';
import type { DatabaseClient } from '../db/client.ts';
import { listKeptMails } from '../db/mails.ts';
import { demoPassword, demoUsers } from '../db/seed.ts';
import type { Config } from './config.ts';
import { createDemoClients } from './demo/demo-clients.ts';
import { buildMarketplaceLink, type LegacyUser } from './demo/legacy-marketplace.ts';
import { crmSignups } from './endpoints/crm-signups.ts';
import { launch } from './endpoints/launch.ts';
import { marketplaceCallback, openHandOff } from './endpoints/marketplace-callback.ts';
import { ssoProfile } from './endpoints/sso-profile.ts';
import { AppError, isProblemCode, problems } from './errors.ts';
import { invalidParameter, loginPath, readForm, readOwnPath, toAppError, type Visit } from './http.ts';
import { capabilities } from './identity/hand-off.ts';
import { login, logout } from './identity/login.ts';
import { findPendingLink } from './identity/pending-link.ts';
import { createRateLimits, type RateLimit } from './identity/rate-limits.ts';
import { findSession, type Session } from './identity/sessions.ts';
import { describePasswordLink, requestPasswordLink, setPassword } from './identity/set-password.ts';
import type { Log } from './shell.ts';
import { clientTitle } from './sso/clients.ts';
import { toRefusal } from './trpc/init.ts';
import { createCaller, handleTrpc } from './trpc/router.ts';

/** What the rules work with. `now` is the only clock. */
export type Services = {
  config: Config;
  db: DatabaseClient['db'];
  read: DatabaseClient['read'];
  now: () => Date;
  guessLimits: RateLimit;
  mailLimits: RateLimit;
  log: Log;
};

export type Backend = ReturnType<typeof createBackend>;

export function createBackend(options: {
  config: Config;
  database: DatabaseClient;
  log: Log;
  now?: () => Date;
}) {
  const { config, database } = options;
  const services: Services = {
    config,
    db: database.db,
    read: database.read,
    now: options.now ?? (() => new Date()),
    ...createRateLimits(database),
    log: options.log,
  };
  const demoClients = config.production ? undefined : createDemoClients(services);
  return {
    config,
    services,
    /** Undefined in production. */
    demoLogins: config.production
      ? undefined
      : { password: demoPassword, users: demoUsers.map(({ email, about }) => ({ email, about })) },
    products: [...config.clients.keys()].map((name) => ({ name, title: clientTitle(name) })),

    launch: (request: Request, client: string) => launch(services, request, client),
    ssoProfile: (request: Request) => ssoProfile(services, request),
    marketplaceCallback: (request: Request, visit: Visit) => marketplaceCallback(services, request, visit),
    crmSignups: (request: Request, visit: Visit) => crmSignups(services, request, visit),
    trpc: (request: Request, visit: Visit) => handleTrpc(services, request, visit),
    notFound(): never {
      throw new AppError('not_found');
    },

    login: (request: Request, visit: Visit, credentials: { email: string; password: string }) =>
      login(services, request, visit, credentials),
    logout: (request: Request, visit: Visit) => logout(services, request, visit),
    requestPasswordLink: (visit: Visit, wish: { email: string; next?: string }) =>
      requestPasswordLink(services, visit, wish),
    describePasswordLink: (token: string) => describePasswordLink(services, token),
    setPassword: (request: Request, visit: Visit, fields: { token: string; newPassword: string }) =>
      setPassword(services, request, visit, fields),
    /** Whom a genuine inbound hand-off is about; nothing is used up. */
    async describeHandOff(params: URLSearchParams): Promise<{ name: string; email: string }> {
      const { payload } = await openHandOff(services, params);
      return { name: payload.profile.name, email: payload.profile.email };
    },
    /** The address whose password this browser is asked for, so that its hand-off can be linked. */
    findPendingLink: (request: Request) => findPendingLink(services, request),
    /** Typed procedures for the pages; `headers` carries what they set. */
    createCaller: (request: Request, visit: Visit) => createCaller(services, request, visit),
    /** The live session of a browser. */
    async findSession(request: Request): Promise<Session | undefined> {
      const session = await findSession(services, request);
      return session === 'suspended' ? undefined : session;
    },

    /** Throws 404 `not_found` in production, and where a real callback is configured. */
    requireDemoClient(name: string) {
      const client = demoClients?.find(name);
      if (!demoClients || !client) throw new AppError('not_found');
      return { client, title: clientTitle(name), clients: demoClients };
    },

    /** Mails are not sent but kept, and shown at /dev/mail. */
    keepsMails: config.mail === undefined,
    /** The newest first. Throws 404 `not_found` where mails go out. */
    listKeptMails() {
      if (config.mail) throw new AppError('not_found');
      return listKeptMails(services.db);
    },

    /** Throws 404 `not_found` in production. */
    requireDemo() {
      if (config.production) throw new AppError('not_found');
    },
    buildMarketplaceLink: (user: LegacyUser, issuedAt: Date) => buildMarketplaceLink(config, user, issuedAt),
    capabilities,

    // What pages need of the rules; they import none of it themselves.
    readForm,
    invalidParameter,
    readOwnPath,
    loginPath,
    /** What a page's loader or action caught, as the refusal that it is. */
    readRefusal: (error: unknown) => (error instanceof TRPCError ? toRefusal(error) : toAppError(error)),
    /** The title of the product that a path launches, or undefined. */
    findLaunchTitle(path: string | undefined): string | undefined {
      const name = /^\/sso\/launch\/([^/?#]+)/.exec(path ?? '')?.[1];
      return name && config.clients.has(name) ? clientTitle(name) : undefined;
    },
    /** The words for a problem code; throws 404 `not_found` for one that there is not. */
    explainProblem(code: string) {
      if (!isProblemCode(code)) throw new AppError('not_found');
      const [status, title, explanation] = problems[code];
      return { status, title, explanation };
    },
  };
}
