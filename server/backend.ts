// Everything behind the routes, made once and handed to them as Remix's load context: no module-level
// singletons, so that development, tests and production run the same thing.
import { TRPCError } from '@trpc/server';
import { listKeptMails } from '../db/mails.ts';
import type { DatabaseClient } from '../db/postgres/client.ts';
import { createAside } from './aside.ts';
import { createDemoClients } from './demo/demo-clients.ts';
import { demoPassword, demoUsers } from './demo/demo-users.ts';
import { buildHandOffUrl, type LegacyUser } from './demo/legacy-marketplace.ts';
import { crmContracts } from './endpoints/crm-contracts.ts';
import { crmSignups } from './endpoints/crm-signups.ts';
import { launch } from './endpoints/launch.ts';
import { marketplaceCallback } from './endpoints/marketplace-callback.ts';
import { securityTxt } from './endpoints/security-txt.ts';
import { ssoProfile } from './endpoints/sso-profile.ts';
import { AppError, isProblemCode, problems } from './errors.ts';
import { toAppError } from './http/answers.ts';
import { invalidParameter, loginPath, readBody, readForm, readOwnPath, type Visit } from './http/requests.ts';
import { capabilities } from './identity/capabilities.ts';
import { login, logout, requirePlaceToLogIn } from './identity/login.ts';
import { readLogoutTarget } from './identity/logout-target.ts';
import { findPasswordMail, requestPasswordMail, setPasswordByMail } from './identity/password-by-mail.ts';
import { countHashing } from './identity/passwords.ts';
import { createRateLimits } from './identity/rate-limits.ts';
import { findLiveSession } from './identity/sessions.ts';
import { expired } from './jobs/sweep.ts';
import type { Log } from './log.ts';
import { confirmPending, describePending } from './marketplace/pending-hand-off.ts';
import { createMetrics } from './metrics/metrics.ts';
import type { Services } from './services.ts';
import type { Config } from './settings/config.ts';
import { toRefusal } from './trpc/init.ts';
import { createCaller, handleTrpc } from './trpc/router.ts';

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
    ...createRateLimits(database.db),
    log: options.log,
    metrics: createMetrics({ config, database, expired, log: options.log }),
    aside: createAside(options.log),
  };
  const demoClients = config.production ? undefined : createDemoClients(services);
  return {
    config,
    services,
    /** Undefined in production. */
    demoLogins: config.production
      ? undefined
      : { password: demoPassword, users: demoUsers.map(({ email, about }) => ({ email, about })) },

    launch: (request: Request, visit: Visit, client: string) => launch(services, request, visit, client),
    securityTxt: () => securityTxt(services),
    ssoProfile: (request: Request, visit: Visit) => ssoProfile(services, request, visit),
    marketplaceCallback: (request: Request, visit: Visit) => marketplaceCallback(services, request, visit),
    crmSignups: (request: Request, visit: Visit) => crmSignups(services, request, visit),
    crmContracts: (request: Request, visit: Visit) => crmContracts(services, request, visit),
    trpc: (request: Request, visit: Visit) => handleTrpc(services, request, visit),
    notFound(): never {
      throw new AppError('not_found');
    },

    /** Throws 503 `unavailable` where a login would: too many passwords are being hashed. */
    requirePlace() {
      requirePlaceToLogIn(services);
    },
    countHashing,
    login: (request: Request, visit: Visit, credentials: { email: string; password: string }) =>
      login(services, request, visit, credentials),
    logout: (request: Request, visit: Visit) => logout(services, request, visit),
    /** Where a logout that a client started goes on. */
    readLogoutTarget: (request: Request) => readLogoutTarget(config, request),
    requestPasswordMail: (visit: Visit, wish: { email: string; next?: string }, request?: Request) =>
      requestPasswordMail(services, visit, wish, request),
    findPasswordMail: (token: string) => findPasswordMail(services, token),
    setPasswordByMail: (request: Request, visit: Visit, fields: { token: string; newPassword: string }) =>
      setPasswordByMail(services, request, visit, fields),
    describePending: (request: Request, visit: Visit) => describePending(services, request, visit),
    confirmPending: (request: Request, visit: Visit) => confirmPending(services, request, visit),
    /** Typed procedures for the pages; `headers` carries what they set. */
    createCaller: (request: Request, visit: Visit) => createCaller(services, request, visit),
    /** The live session of a browser. */
    findSession: (request: Request, visit: Visit) => findLiveSession(services, request, visit),

    /** Throws 404 `not_found` in production, and where a real callback is configured. */
    requireDemoClient(name: string) {
      const client = demoClients?.find(name);
      if (!demoClients || !client) throw new AppError('not_found');
      return { client, title: client.title, clients: demoClients };
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
    buildHandOffUrl: (user: LegacyUser, issuedAt: Date) => buildHandOffUrl(config, user, issuedAt),
    capabilities,

    // What pages need of the rules; they import none of it themselves.
    readBody,
    readForm,
    invalidParameter,
    readOwnPath,
    loginPath,
    /** What a page's loader or action caught, as the refusal that it is. */
    readRefusal(error: unknown, visit: Visit): AppError {
      const refusal = error instanceof TRPCError ? toRefusal(error) : toAppError(error);
      visit.code = refusal.code;
      return refusal;
    },
    /** The title of the product that a path launches, or undefined. */
    findLaunchTitle(path: string | undefined): string | undefined {
      const name = /^\/sso\/launch\/([^/?#]+)/.exec(path ?? '')?.[1];
      return config.clients.get(name ?? '')?.title;
    },
    /** The words for a problem code; throws 404 `not_found` for one that there is not. */
    explainProblem(code: string) {
      if (!isProblemCode(code)) throw new AppError('not_found');
      const [status, title, explanation] = problems[code];
      return { status, title, explanation };
    },
  };
}
