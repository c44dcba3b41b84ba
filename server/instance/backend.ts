// Everything behind the routes, made once and handed to them as Remix's load context: no module-level
// singletons, so that development, tests and production run the same thing.
import { TRPCError } from '@trpc/server';
import type { DatabaseClient } from '../../db/postgres/client.ts';
import { listKeptMails } from '../../db/tables/kept-mails.ts';
import { createAside } from '../basics/aside.ts';
import { AppError } from '../basics/errors.ts';
import type { Log } from '../basics/log.ts';
import { isProblemCode, problems } from '../basics/problems.ts';
import { createDemoClients } from '../demo/demo-clients.ts';
import { demoPassword, demoUsers } from '../demo/demo-users.ts';
import { buildHandOffUrl, type LegacyUser } from '../demo/legacy-marketplace.ts';
import { brandFile } from '../endpoints/brand-file.ts';
import { crmContracts } from '../endpoints/crm-contracts.ts';
import { crmSignups } from '../endpoints/crm-signups.ts';
import { downloadData } from '../endpoints/download-data.ts';
import { keptMail } from '../endpoints/kept-mail.ts';
import { launch } from '../endpoints/launch.ts';
import { marketplaceCallback } from '../endpoints/marketplace-callback.ts';
import { openApi } from '../endpoints/openapi.ts';
import { passkeyOptions } from '../endpoints/passkey-options.ts';
import { securityTxt } from '../endpoints/security-txt.ts';
import { ssoEvents } from '../endpoints/sso-events.ts';
import { ssoProfile } from '../endpoints/sso-profile.ts';
import { createHeldRequests } from '../events/hold-requests.ts';
import { answerToAll } from '../http/answer-to-all.ts';
import { toAppError } from '../http/answers.ts';
import {
  invalidParameter,
  loginPath,
  loginPathTo,
  readBody,
  readForm,
  readOwnPath,
  readQuery,
  type Visit,
} from '../http/requests.ts';
import { findObstacle } from '../identity/address/change-email.ts';
import { findPasswordMail, setPasswordByMail } from '../identity/address/password-by-mail.ts';
import { requestPasswordMail } from '../identity/address/request-password-mail.ts';
import { keepTypedEmail, readTypedEmail } from '../identity/address/typed-email.ts';
import {
  addAuthenticator,
  describeAuthenticator,
  offerAuthenticator,
  removeAuthenticator,
  renewRecoveryCodes,
  repeatOffer,
} from '../identity/factor/authenticator.ts';
import { capabilities } from '../identity/ground/capabilities.ts';
import { describeDevice, userAgentOf } from '../identity/ground/device.ts';
import { isEstablishedBrowser } from '../identity/ground/established-browsers.ts';
import { createRateLimits } from '../identity/ground/rate-limits.ts';
import { findTakeBackHint } from '../identity/ground/take-back-window.ts';
import { confirm, confirmWithoutPassword } from '../identity/login/confirm.ts';
import { login, logout, requirePlaceToLogIn } from '../identity/login/login.ts';
import { readLogoutTarget } from '../identity/login/logout-target.ts';
import { logInByPasskey } from '../identity/login/passkey-login.ts';
import { findOwnPendingLogin, finishLogin, pathAfterLogin } from '../identity/login/pending-login.ts';
import {
  addOwnPasskey,
  describeOwnPasskeys,
  removeOwnPasskey,
  renameOwnPasskey,
} from '../identity/passkey/own-passkeys.ts';
import { countHashing } from '../identity/password/passwords.ts';
import { cancelDeletion, describeDeletion, requestDeletion } from '../identity/person/deletion.ts';
import { confirmSignUp, findSignUp, requestSignUp, requireSignUp } from '../identity/person/sign-up.ts';
import { freeze } from '../identity/recovery/freeze.ts';
import { asksForFactor, findTakeBack, takeBack } from '../identity/recovery/take-back.ts';
import { requireActor } from '../identity/session/actor.ts';
import { findLiveSession, findPresentSession } from '../identity/session/sessions.ts';
import { expired } from '../jobs/sweep.ts';
import { confirmPending, describePending } from '../marketplace/pending-hand-off.ts';
import { createMetrics } from '../metrics/metrics.ts';
import { createPublished } from '../openapi/document.ts';
import { prefixOf } from '../settings/clients.ts';
import type { Config } from '../settings/config.ts';
import { toRefusal } from '../trpc/init.ts';
import { createCaller, handleTrpc } from '../trpc/router.ts';
import type { Dependencies } from './dependencies.ts';

export type Backend = ReturnType<typeof createBackend>;

export function createBackend(options: {
  config: Config;
  database: DatabaseClient;
  log: Log;
  now?: () => Date;
}) {
  const { config, database } = options;
  const deps: Dependencies = {
    config,
    db: database.db,
    read: database.read,
    now: options.now ?? (() => new Date()),
    ...createRateLimits(database.db),
    log: options.log,
    metrics: createMetrics({ config, database, expired, log: options.log }),
    aside: createAside(options.log),
  };
  const demoClients = config.production ? undefined : createDemoClients(deps);
  const heldRequests = createHeldRequests(deps);
  const publish = createPublished(config);
  /** What works with dependencies, with these. */
  const bind =
    <Given extends unknown[], Result>(work: (deps: Dependencies, ...given: Given) => Result) =>
    (...given: Given) =>
      work(deps, ...given);
  return {
    config,
    deps,
    /** Those that wait for events. */
    heldRequests,
    /** Undefined in production. */
    demoLogins: config.production
      ? undefined
      : { password: demoPassword, users: demoUsers.map(({ email, about }) => ({ email, about })) },

    launch: bind(launch),
    openApi: async (request: Request) => openApi(await publish(), request),
    describeApi: async () => (await publish()).document,
    securityTxt: bind(securityTxt),
    brandFile: bind(brandFile),
    ssoEvents: (request: Request, visit: Visit) => ssoEvents(deps, heldRequests, request, visit),
    ssoProfile: bind(ssoProfile),
    marketplaceCallback: bind(marketplaceCallback),
    crmSignups: bind(crmSignups),
    crmContracts: bind(crmContracts),
    passkeyOptions: bind(passkeyOptions),
    trpc: bind(handleTrpc),
    answerToAll,
    notFound(): never {
      throw new AppError('not_found');
    },

    /** Throws 503 `unavailable` where a login would: too many passwords are being hashed. */
    requirePlace: bind(requirePlaceToLogIn),
    countHashing,
    login: bind(login),
    logInByPasskey: bind(logInByPasskey),
    describeOwnPasskeys: bind(describeOwnPasskeys),
    addOwnPasskey: bind(addOwnPasskey),
    renameOwnPasskey: bind(renameOwnPasskey),
    removeOwnPasskey: bind(removeOwnPasskey),
    logout: bind(logout),
    /** Asks for a credential again before a sensitive change. */
    confirm: bind(confirm),
    /** The same for forms that carry the password themselves. */
    confirmWithoutPassword: bind(confirmWithoutPassword),
    /** The second step of a login. */
    findPendingLogin: bind(findOwnPendingLogin),
    finishLogin: bind(finishLogin),
    pathAfterLogin,
    /** Who is logged in, for changes of their own. Throws 401 `login_required`. */
    requireActor: bind(requireActor),
    authenticator: {
      describe: bind(describeAuthenticator),
      offer: bind(offerAuthenticator),
      repeatOffer: bind(repeatOffer),
      add: bind(addAuthenticator),
      renewCodes: bind(renewRecoveryCodes),
      remove: bind(removeAuthenticator),
    },
    /** Where a logout that a client started goes on. */
    readLogoutTarget: (request: Request) => readLogoutTarget(config, request),
    /** What was typed to get a mail, from the form to the page that says it is on its way. */
    keepTypedEmail: bind(keepTypedEmail),
    readTypedEmail: bind(readTypedEmail),
    requestPasswordMail: bind(requestPasswordMail),
    findPasswordMail: bind(findPasswordMail),
    setPasswordByMail: bind(setPasswordByMail),
    downloadData: bind(downloadData),
    describeDeletion: bind(describeDeletion),
    requestDeletion: bind(requestDeletion),
    cancelDeletion: bind(cancelDeletion),
    /** Throws 404 `not_configured` where nobody can sign up by themselves. */
    requireSignUp: bind(requireSignUp),
    requestSignUp: bind(requestSignUp),
    findSignUp: bind(findSignUp),
    confirmSignUp: bind(confirmSignUp),
    /** What keeps a user from changing their address. */
    findObstacle,
    /** Whether what is added in this browser counts at once. */
    isEstablishedBrowser: (request: Request, userId: string) =>
      isEstablishedBrowser(deps.db, deps, request, userId),
    asksForFactor: bind(asksForFactor),
    findTakeBack: bind(findTakeBack),
    takeBack: bind(takeBack),
    freeze: bind(freeze),
    findTakeBackHint: bind(findTakeBackHint),
    /** Such as "Firefox on Linux". */
    describeBrowser: (request: Request) => describeDevice(userAgentOf(request)),
    describePending: bind(describePending),
    confirmPending: bind(confirmPending),
    /** Typed procedures for the pages; `headers` carries what they set. */
    createCaller: bind(createCaller),
    /** Who is logged in, also where they have something to do first: only for showing it. */
    async findVisitor(request: Request, visit: Visit) {
      const session = await findPresentSession(deps, request, visit);
      return session === 'suspended' ? undefined : session?.user;
    },
    /** The live session of a browser. Throws 403 `second_factor_required`. */
    findSession: bind(findLiveSession),

    /** Throws 404 `not_found` in production, and where a real callback is configured. */
    requireDemoClient(name: string) {
      const client = demoClients?.find(name);
      if (!demoClients || !client) throw new AppError('not_found');
      const callbackSetting = `${prefixOf(name)}_CALLBACK_URL`;
      return { client, title: client.title, callbackSetting, clients: demoClients };
    },

    /** Ends the answers that go on by themselves, for a process that is to stop. */
    endStreams() {
      heldRequests.release();
      demoClients?.endStreams();
    },

    /** Mails are not sent but kept, and shown at /dev/mail. */
    keepsMails: config.mail === undefined,
    /** The newest first. Throws 404 `not_found` where mails go out. */
    listKeptMails() {
      if (config.mail) throw new AppError('not_found');
      return listKeptMails(deps.db);
    },
    keptMail: bind(keptMail),

    /** Throws 404 `not_found` in production. */
    requireDemo() {
      if (config.production) throw new AppError('not_found');
    },
    buildHandOffUrl: (user: LegacyUser, issuedAt: Date) => buildHandOffUrl(config, user, issuedAt),
    capabilities,

    // What pages need of the rules; they import none of it themselves.
    readBody,
    readForm,
    readQuery,
    invalidParameter,
    readOwnPath,
    loginPath,
    loginPathTo,
    /** What a page's loader or action caught, as the refusal that it is. */
    readRefusal(error: unknown, visit: Visit): AppError {
      const refusal = error instanceof TRPCError ? toRefusal(error) : toAppError(error);
      visit.code = refusal.code;
      return refusal;
    },
    /** The title of the product that a path launches, or undefined. */
    findLaunchTitle: (path: string | undefined) => findLaunched(config, path)?.title,
    /** The path of its logo, if it has one. */
    findLaunchLogo: (path: string | undefined) => findLaunched(config, path)?.logoPath,
    /** The words for a problem code; throws 404 `not_found` for one that there is not. */
    explainProblem(code: string) {
      if (!isProblemCode(code)) throw new AppError('not_found');
      const [status, title, explanation] = problems[code];
      return { status, title, explanation };
    },
  };
}

function findLaunched({ clients }: Config, path: string | undefined) {
  return clients.get(/^\/sso\/launch\/([^/?#]+)/.exec(path ?? '')?.[1] ?? '');
}
