// Builds everything behind the routes, without singletons in modules. Pages get only what `app/load-context.ts` names.
import { TRPCError } from '@trpc/server';
import { type DatabaseClient, onOneConnection } from '../../db/postgres/client.ts';
import { createAside } from '../basics/aside.ts';
import { AppError } from '../basics/errors.ts';
import type { Log } from '../basics/log.ts';
import { findInitial } from '../basics/names.ts';
import { isProblemCode, type ProblemCode, problems } from '../basics/problems.ts';
import { endsWithPerson } from '../billing/customers/ends-with-person.ts';
import { openBook } from '../clients/book.ts';
import { createDemoClients } from '../doors/demo/demo-clients.ts';
import { demoPassword, demoUsers } from '../doors/demo/demo-users.ts';
import { buildHandOffUrl, type LegacyUser } from '../doors/demo/legacy-marketplace.ts';
import { expired } from '../doors/jobs/sweep.ts';
import { createPublished } from '../doors/openapi/document.ts';
import { toRefusal } from '../doors/trpc/init.ts';
import { createProcedures } from '../doors/trpc/router.ts';
import { createHeldRequests } from '../events/hold-requests.ts';
import type { Dependencies } from '../ground/dependencies.ts';
import { createRateLimits } from '../ground/rate-limits.ts';
import { capabilities } from '../identity/ground/capabilities.ts';
import { readEmailAddress, spellEmailAddress } from '../identity/ground/email-address.ts';
import { answerOnce, nameBrowser, sendsCookies } from '../identity/ground/form-answers.ts';
import { findClientOfWay, findWayOn } from '../identity/login/way-on.ts';
import { openPasswordCheck } from '../identity/password/password-check.ts';
import { countHashing, readHashing } from '../identity/password/passwords.ts';
import { findSessionAfter, isSessionLive } from '../identity/session/sessions.ts';
import { provider } from '../marketplace/accept-profile.ts';
import { createMetrics } from '../metrics/metrics.ts';
import { prefixOf } from '../settings/clients.ts';
import type { Config } from '../settings/config.ts';
import { toAppError } from '../web/answers.ts';
import { pathOf } from '../web/incoming.ts';
import {
  comesFrom,
  invalidParameter,
  isSpeculative,
  isWithoutClick,
  loginPathTo,
  prefersHtml,
  prefersProblem,
  readBody,
  readForm,
  readOwnPath,
  readQuery,
  type Visit,
} from '../web/requests.ts';
import { createEndpoints } from './endpoints.ts';

export type Backend = ReturnType<typeof createBackend>;

export function createBackend(options: {
  config: Config;
  database: DatabaseClient;
  log: Log;
  now?: () => Date;
}) {
  const { config, database } = options;
  const now = options.now ?? (() => new Date());
  const clients = openBook({ config, db: database.db, log: options.log, now });
  const metrics = createMetrics({ config, clients, database, expired, readHashing, log: options.log, now });
  const deps: Dependencies = {
    config,
    clients,
    db: database.db,
    read: database.read,
    now,
    ...createRateLimits(database.db, metrics.countAskedMail),
    log: options.log,
    metrics,
    aside: createAside(options.log),
    passwordCheck: openPasswordCheck(),
    endsWithPerson,
  };
  const heldRequests = createHeldRequests(deps);
  const publish = createPublished(config);
  const demoClients = config.production ? undefined : createDemoClients(deps);
  return {
    config,
    deps,
    clients,
    heldRequests,
    countHashing,
    /** Ends answers that would never end by themselves, so that the process can stop. */
    endStreams() {
      heldRequests.release();
      demoClients?.endStreams();
    },

    endpoints: createEndpoints(deps, { heldRequests, publish }),
    /** Makes the procedures that the pages call in one request. Procedures put headers for the answer into `headers`. */
    createProcedures: (request: Request, visit: Visit, headers: Headers) =>
      createProcedures({
        // A page makes many reads at the same time. It gets only one connection for them, so that it cannot take up the pool.
        deps: request.method === 'POST' ? deps : { ...deps, db: onOneConnection(deps.db) },
        ...{ request, visit, headers, looked: {} },
      }),
    transport,
    forms: {
      answerOnce: (...args: Tail<typeof answerOnce>) =>
        answerOnce(
          {
            ...deps,
            findSessionAfter: (answered) => findSessionAfter(deps, answered),
            isSessionLive: (tokenHash) => isSessionLive(deps, tokenHash),
          },
          ...args,
        ),
      nameBrowser: () => nameBrowser(deps),
      sendsCookies: (request: Request) => sendsCookies(deps, request),
    },
    site: describeSite(deps, publish),
    demo: {
      /** Throws 404 `not_found` in production. */
      requireLocalMode() {
        if (config.production) throw new AppError('not_found');
      },
      /** Throws 404 `not_found` in production, or if the client has a real callback. */
      requireClient(name: string) {
        const client = demoClients?.find(name);
        if (!demoClients || !client) throw new AppError('not_found');
        const callbackSetting = `${prefixOf(name)}_CALLBACK_URL`;
        return { client, title: client.title, callbackSetting, clients: demoClients };
      },
      buildHandOffUrl: (user: LegacyUser, issuedAt: Date) => buildHandOffUrl(config, user, issuedAt),
      capabilities,
    },
  };
}

type Tail<F extends (...args: never) => unknown> =
  Parameters<F> extends [unknown, ...infer Rest] ? Rest : never;

export type Transport = typeof transport;

const transport = {
  readBody,
  readForm,
  readQuery,
  invalidParameter,
  readOwnPath,
  comesFrom,
  isSpeculative,
  isWithoutClick,
  loginPathTo,
  prefersHtml,
  prefersProblem,
  refuse: (code: ProblemCode, detail?: string) => new AppError(code, { detail }),
  notFound(): never {
    throw new AppError('not_found');
  },
  /** Makes a refusal from an error that the loader or action of a page has caught. */
  readRefusal(error: unknown, visit: Visit): AppError {
    const refusal = error instanceof TRPCError ? toRefusal(error) : toAppError(error);
    visit.code = refusal.code;
    return refusal;
  },
};

export type Site = ReturnType<typeof describeSite>;

function describeSite({ config, clients }: Dependencies, publish: ReturnType<typeof createPublished>) {
  const { name, brand, baseUrl, signUp, mail, production } = config;
  const { supportUrl, privacyUrl, termsUrl, accessibilityUrl } = config;
  const { accent: _, ...shown } = brand;
  const findClientOfLaunch = (path: string | undefined) => findClientOfWay(clients, path);
  const comesByHandOff = (path: string) => /^\/(?:sso\/marketplace\/callback|continue)(?:[?#]|$)/.test(path);
  return {
    baseUrl,
    frame: { name, ...shown, supportUrl, privacyUrl, termsUrl, accessibilityUrl },
    supportUrl,
    signUp,
    /** Whether mails are shown at /dev/mail instead of sent. */
    keepsMails: mail === undefined,
    demoLogins: production
      ? undefined
      : { password: demoPassword, users: demoUsers.map(({ email, about }) => ({ email, about })) },
    findLaunchTitle: (path: string | undefined) => findClientOfLaunch(path)?.title,
    findLaunchLogo(path: string | undefined) {
      const { logoPath, logoDarkPath } = findClientOfLaunch(path) ?? {};
      return { logoPath, logoDarkPath };
    },
    launchNeedsFactor: (path: string | undefined) => findClientOfLaunch(path)?.needsFactor ?? false,
    /** Returns the email address of the person whom a client of OpenID Connect wants to log in (contract 14.31). */
    findLoginHint: (path = ''): string | undefined =>
      findClientOfLaunch(path)?.kind === 'openid'
        ? readEmailAddress(new URLSearchParams(path.split('?')[1]).get('login_hint') ?? '')
        : undefined,
    findWayOn: (path: string | null | undefined) => findWayOn({ config, clients }, path),
    /** Returns the product that the person came from. */
    findSender(request: Request): { title: string; href: string } | undefined {
      const asked = pathOf(request.url) + new URL(request.url).search;
      const client = [asked, readOwnPath(readQuery(request).get('next')) ?? '']
        .map((each) => findClientOfLaunch(each) ?? (comesByHandOff(each) ? clients.get(provider) : undefined))
        .find((each) => each !== undefined);
      if (!client) return undefined;
      const { title, isDemo, callbackUrl } = client;
      return { title, href: isDemo ? `/demo/${client.name}` : new URL('/', callbackUrl).href };
    },
    spellEmailAddress,
    findInitial,
    /** Throws 404 `not_found` for an unknown code. */
    explainProblem(code: string) {
      if (!isProblemCode(code)) throw new AppError('not_found');
      const [status, title, explanation] = problems[code];
      return { status, title, explanation };
    },
    describeApi: async () => (await publish()).document,
  };
}
