// Metrics for Prometheus, one registry for each service. No label has a value that somebody outside could choose: routes are
// patterns, and clients, codes and results are from lists.
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { ExpiredRows } from '../../db/expired-rows.ts';
import type { DatabaseClient } from '../../db/postgres/client.ts';
import type { Log } from '../basics/log.ts';
import type { ProblemCode } from '../basics/problems.ts';
import type { Config } from '../settings/config.ts';
import { type Client, type Clients, isOpenId } from '../sso/clients.ts';
import { gauge } from './at-scrape.ts';
import { registerDatabase, registerPool } from './database.ts';
import {
  askedMailResults,
  type CallKind,
  codes,
  handOffResults,
  type LaunchOutcome,
  launchOutcomes,
  loginResults,
  mailResults,
  type NudgeResult,
  noClient,
  nudgeResults,
  passwordMailResults,
  paymentProvider,
  paymentResults,
  secretPositions,
  signUpResults,
  signupResults,
} from './results.ts';
import { type Hashing, registerHashing, registerProcess } from './state.ts';
import { createSums, spellKey } from './sums.ts';
import { registerWaiting } from './waiting.ts';

export type Answered = {
  method: string;
  /** The pattern of the route, or undefined if no route fits. */
  route: string | undefined;
  status: number;
  seconds: number;
  code: ProblemCode | undefined;
  client: string | undefined;
};

export type Metrics = ReturnType<typeof createMetrics>;

/** The caller of a route, for requests that are refused before the caller is known. */
const callerOf: Partial<Record<string, string>> = {
  '/sso/marketplace/callback': 'marketplace',
  '/integrations/crm/signups': 'crm_app',
  '/integrations/crm/contracts': 'crm_app',
  '/integrations/payments': paymentProvider,
  '/integrations/payments/invoices': paymentProvider,
};

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

// A launch takes a few milliseconds, and a login a few hundred. A 503 comes within three seconds.
const buckets = [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 3, 5];

export function createMetrics({
  config,
  clients,
  database,
  expired,
  readHashing,
  log,
  now,
}: {
  config: Config;
  clients: Clients;
  database: DatabaseClient;
  /** The kinds of rows that the job `sweep` deletes. */
  expired: ExpiredRows[];
  readHashing: () => Hashing;
  log: Log;
  now: () => Date;
}) {
  const registry = new Registry();
  const registers = [registry];
  const sums = createSums(now);

  const begins: (() => void)[] = [];
  /**
   * Counts only the labels that `list` gives. Their number may grow with the clients. All series begin at 0, because an alert
   * would miss the first count of a new series.
   */
  function counter<Names extends string>(
    name: string,
    help: string,
    labelNames: readonly Names[],
    list: () => readonly Record<Names, string>[],
  ) {
    const metric = new Counter({ name, help, labelNames, registers });
    const known = new Set<string>();
    let begunFor: readonly Client[] | undefined;
    const begin = () => {
      if (begunFor === clients.list()) return;
      begunFor = clients.list();
      for (const labels of list()) {
        const key = spellKey(name, labels);
        if (!known.has(key)) metric.inc(labels, 0);
        known.add(key);
      }
    };
    begin();
    begins.push(begin);
    return (labels: Record<Names, string>) => {
      const key = spellKey(name, labels);
      if (!known.has(key)) begin();
      if (!known.has(key)) return;
      metric.inc(labels);
      sums.count(key);
    };
  }

  function resultCounter<Result extends string>(name: string, help: string, results: readonly Result[]) {
    const count = counter(name, help, ['result'], () => results.map((result) => ({ result })));
    return (result: Result) => count({ result });
  }

  const durations = new Histogram({
    name: 'identity_http_request_duration_seconds',
    help: 'Requests and how long each took, by route (the pattern), method and status. Those turned away at the door are not among them.',
    labelNames: ['route', 'method', 'status'],
    buckets,
    registers,
  });
  // Observers are kept, because making one from its labels takes half the time of an observation.
  const observers = new Map<string, { observe: (seconds: number) => void }>();
  let requestsUnderWay = 0;
  gauge(registry, {
    name: 'identity_http_requests_under_way',
    help: 'Requests that are being answered.',
    read: () => requestsUnderWay,
  });
  const turnedAway = new Counter({
    name: 'identity_http_requests_turned_away_total',
    help: 'Requests refused at the door, because too many were under way.',
    registers,
  });
  // The marketplace and the CRM may call without being clients that people are handed to.
  const otherCallers = new Set(['marketplace', 'crm_app', paymentProvider, noClient]);
  const listNames = () => clients.list().map(({ name }) => name);
  const countRefusal = counter(
    'identity_refusals_total',
    'Refusals, by the code of the problem and the client whose request it was. Of requests that are no client’s, or of one that is not known, client is no-client.',
    ['code', 'client'],
    () =>
      [...new Set([...listNames(), ...otherCallers])].flatMap((client) =>
        codes.map((code) => ({ code, client })),
      ),
  );
  const countLaunch = counter(
    'identity_launches_total',
    'Launches to a client, by what they led to: a payload, a page first, or an error at the callback.',
    ['client', 'outcome'],
    () => listNames().flatMap((client) => launchOutcomes.map((outcome) => ({ client, outcome }))),
  );
  const countNudge = counter(
    'identity_nudges_total',
    'Nudges about new events, by client and whether it took them: answered with a 2xx.',
    ['client', 'result'],
    () =>
      clients
        .list()
        .filter(({ eventsUrl }) => eventsUrl)
        .flatMap(({ name }) => nudgeResults.map((result) => ({ client: name, result }))),
  );
  const countLogOut = counter(
    'identity_log_outs_total',
    'Tries to tell a client of OpenID Connect of a log-out, by client and whether it took it: answered with a 2xx.',
    ['client', 'result'],
    () =>
      clients
        .list()
        .filter(isOpenId)
        .filter(({ backChannelUri }) => backChannelUri)
        .flatMap(({ name }) => nudgeResults.map((result) => ({ client: name, result }))),
  );
  const countCall = counter(
    'identity_client_calls_total',
    'Calls whose signature or token is right, by client, by what was signed and by which of the secrets in the setting: with both, the second.',
    ['client', 'kind', 'secret'],
    () =>
      [
        ...listNames().map((client) => ({ client, kind: 'token' })),
        { client: 'marketplace', kind: 'hand_off' },
        { client: 'crm_app', kind: 'signup' },
        { client: paymentProvider, kind: 'payment' },
      ].flatMap((call) => secretPositions.map((secret) => ({ ...call, secret }))),
  );

  const jobSuccess = new Gauge({
    name: 'identity_job_last_success_timestamp_seconds',
    help: 'When a job of this instance last ended well, in Unix seconds; until then, when it was first begun.',
    labelNames: ['name'],
    registers,
  });
  const jobFailures = new Counter({
    name: 'identity_job_failures_total',
    help: 'Runs of a job that failed.',
    labelNames: ['name'],
    registers,
  });

  registerProcess(registry);
  registerHashing(registry, readHashing);
  registerPool(registry, database, config.databasePoolSize);
  const readings = [
    registerDatabase(registry, database, { log, now }),
    registerWaiting(registry, { db: database.db, expired, clients, log }),
  ];

  return {
    registry,
    /** Reads from the database. Call it before each scrape. */
    async read() {
      for (const begin of begins) begin();
      await Promise.all(readings.map((read) => read()));
    },
    startRequest() {
      requestsUnderWay++;
    },
    endRequest({ method, route = 'unknown', status, seconds, code, client }: Answered) {
      requestsUnderWay--;
      const key = `${route} ${method} ${status}`;
      let observer = observers.get(key);
      if (!observer) {
        observer = durations.labels(route, methods.has(method) ? method : 'other', String(status));
        // A sender can make up any method, so observers of unknown methods are not kept.
        if (methods.has(method)) observers.set(key, observer);
      }
      observer.observe(seconds);
      if (!code) return;
      const caller = client ?? callerOf[route] ?? noClient;
      const isKnown = otherCallers.has(caller) || clients.get(caller) !== undefined;
      countRefusal({ code, client: isKnown ? caller : noClient });
    },
    countTurnedAway: () => turnedAway.inc(),
    sums,
    countNudge: (client: string, result: NudgeResult) => countNudge({ client, result }),
    countLogOut: (client: string, result: NudgeResult) => countLogOut({ client, result }),
    countLaunch: (client: string, outcome: LaunchOutcome) => countLaunch({ client, outcome }),
    /** `secret` is the index of the secret in the setting. */
    countCall: (client: string, kind: CallKind, secret: number) =>
      countCall({ client, kind, secret: secretPositions[secret] ?? '' }),
    countSignUp: resultCounter(
      'identity_sign_ups_total',
      'Accounts that people made by themselves at the sign-up, by what they log in with.',
      signUpResults,
    ),
    countLogin: resultCounter(
      'identity_logins_total',
      'Logins with a password or passkey, by result.',
      loginResults,
    ),
    countHandOff: resultCounter(
      'identity_inbound_hand_offs_total',
      'Hand-offs from the marketplace, by result: accepted, asked on a page, repeated, or the code of the refusal.',
      handOffResults,
    ),
    countSignup: resultCounter(
      'identity_signups_total',
      'Signups from the CRM, by what became of the contract, repeated, or the code of the refusal.',
      signupResults,
    ),
    countPayment: resultCounter(
      'identity_payments_total',
      'Reports of payments and refunds, by result: recorded, known, repeated, or the code of the refusal.',
      paymentResults,
    ),
    countMail: resultCounter(
      'identity_mails_total',
      'Tries to send a mail, by result. Failed: the mail server did not take mails. Refused: it did not take this one, for now. Given up: neither sent for three days, nor tried again.',
      mailResults,
    ),
    countAskedMail: resultCounter(
      'identity_asked_mails_total',
      'Mails that people and strangers asked for, by result: taken, or refused by the limits of mails.',
      askedMailResults,
    ),
    countPasswordMail: resultCounter(
      'identity_password_mails_total',
      'Mails to set a password that somebody asked for, within the limits, by result.',
      passwordMailResults,
    ),
    /** Wraps a job's work, to count its successes and failures. */
    watchJob(name: string, work: (signal: AbortSignal) => Promise<void>): typeof work {
      jobFailures.inc({ name }, 0);
      // Without this first value, a job that never succeeds would have no age.
      jobSuccess.set({ name }, Date.now() / 1_000);
      return async (signal) => {
        try {
          await work(signal);
        } catch (error) {
          jobFailures.inc({ name });
          throw error;
        }
        jobSuccess.set({ name }, Date.now() / 1_000);
      };
    },
  };
}
