// What is counted and measured, for Prometheus to read. One registry for each service. No label holds what somebody
// outside could choose: routes are patterns, and clients, codes and results are from lists.
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { ExpiredRows } from '../../db/expired-rows.ts';
import type { DatabaseClient } from '../../db/postgres/client.ts';
import type { Log } from '../basics/log.ts';
import type { ProblemCode } from '../basics/problems.ts';
import type { Config } from '../settings/config.ts';
import { gauge } from './at-scrape.ts';
import {
  codes,
  handOffResults,
  type LaunchOutcome,
  launchOutcomes,
  loginResults,
  mailResults,
  type NudgeResult,
  nudgeResults,
  passwordMailResults,
  paymentResults,
  signupResults,
} from './results.ts';
import { registerHashing, registerPool, registerProcess } from './state.ts';
import { registerWaiting } from './waiting.ts';

export type Answered = {
  method: string;
  /** The pattern; undefined if no route fits. */
  route: string | undefined;
  status: number;
  seconds: number;
  /** The code of a refusal. */
  code: ProblemCode | undefined;
};

export type Metrics = ReturnType<typeof createMetrics>;

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

// A launch takes a few milliseconds, a login some hundred; 503 comes within three seconds.
const buckets = [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 3, 5];

export function createMetrics({
  config,
  database,
  expired,
  log,
}: {
  config: Config;
  database: DatabaseClient;
  /** What the job `sweep` deletes. */
  expired: ExpiredRows[];
  log: Log;
}) {
  const registry = new Registry();
  const registers = [registry];

  /** Each value begins at 0: something that was never counted has no rate, and an alert would miss the first time. */
  function counter<Value extends string>(
    name: string,
    help: string,
    label: string,
    values: readonly Value[],
  ) {
    const metric = new Counter({ name, help, labelNames: [label], registers });
    for (const value of values) metric.inc({ [label]: value }, 0);
    return (value: Value) => metric.inc({ [label]: value });
  }

  const durations = new Histogram({
    name: 'identity_http_request_duration_seconds',
    help: 'Requests and how long each took, by route (the pattern), method and status. Those turned away at the door are not among them.',
    labelNames: ['route', 'method', 'status'],
    buckets,
    registers,
  });
  // Putting three labels together takes half of the time of an observation.
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
  const countRefusal = counter(
    'identity_refusals_total',
    'Refusals, by the code of the problem.',
    'code',
    codes,
  );

  const launches = new Counter({
    name: 'identity_launches_total',
    help: 'Launches to a client, by what they led to: a payload, a page first, or an error at the callback.',
    labelNames: ['client', 'outcome'],
    registers,
  });
  for (const client of config.clients.keys())
    for (const outcome of launchOutcomes) launches.inc({ client, outcome }, 0);

  const nudges = new Counter({
    name: 'identity_nudges_total',
    help: 'Nudges about new events, by client and whether it took them: answered with a 2xx.',
    labelNames: ['client', 'result'],
    registers,
  });
  for (const { name: client, eventsUrl } of config.clients.values())
    if (eventsUrl) for (const result of nudgeResults) nudges.inc({ client, result }, 0);

  const jobSuccess = new Gauge({
    name: 'identity_job_last_success_timestamp_seconds',
    help: 'When a job of this instance last ended well, in Unix seconds.',
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
  registerHashing(registry);
  registerPool(registry, database, config.databasePoolSize);

  return {
    registry,
    /** Call it before each scrape. */
    readWaiting: registerWaiting(registry, { db: database.db, expired, config, log }),
    startRequest() {
      requestsUnderWay++;
    },
    endRequest({ method, route = 'unknown', status, seconds, code }: Answered) {
      requestsUnderWay--;
      const key = `${route} ${method} ${status}`;
      let observer = observers.get(key);
      if (!observer) {
        observer = durations.labels(route, methods.has(method) ? method : 'other', String(status));
        // A sender can make up any method, so observers of unknown ones are not kept.
        if (methods.has(method)) observers.set(key, observer);
      }
      observer.observe(seconds);
      if (code) countRefusal(code);
    },
    countTurnedAway: () => turnedAway.inc(),
    countNudge: (client: string, result: NudgeResult) => nudges.inc({ client, result }),
    countLaunch: (client: string, outcome: LaunchOutcome) => launches.inc({ client, outcome }),
    countLogin: counter(
      'identity_logins_total',
      'Logins with a password or passkey, by result.',
      'result',
      loginResults,
    ),
    countHandOff: counter(
      'identity_inbound_hand_offs_total',
      'Hand-offs from the marketplace, by result: accepted, asked on a page, repeated, or the code of the refusal.',
      'result',
      handOffResults,
    ),
    countSignup: counter(
      'identity_signups_total',
      'Signups from the CRM, by what became of the contract, repeated, or the code of the refusal.',
      'result',
      signupResults,
    ),
    countPayment: counter(
      'identity_payments_total',
      'Reports of payments and refunds, by result: recorded, known, repeated, or the code of the refusal.',
      'result',
      paymentResults,
    ),
    countMail: counter(
      'identity_mails_total',
      'Tries to send a mail, by result. Failed: the mail server did not take mails. Refused: it did not take this one, for now. Given up: neither sent for three days, nor tried again.',
      'result',
      mailResults,
    ),
    countPasswordMail: counter(
      'identity_password_mails_total',
      'Mails to set a password that somebody asked for, within the limits, by result.',
      'result',
      passwordMailResults,
    ),
    /** Wraps a job's work, to count its successes and failures. */
    watchJob(name: string, work: (signal: AbortSignal) => Promise<void>): typeof work {
      jobFailures.inc({ name }, 0);
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
