// The jobs that every instance runs beside its requests. Any number of instances may run them at once.
import { runBilling } from '../billing/invoicing.ts';
import { eraseDueUsers } from '../identity/erase-user.ts';
import { createMailer } from '../mail/mailer.ts';
import { sendDueMails } from '../mail/outbox.ts';
import type { Services } from '../services.ts';
import { runInBackground } from './background.ts';
import { sweep } from './sweep.ts';

/** The result stops them, and resolves once work under way has ended. */
export function startJobs(services: Services): () => Promise<void> {
  const { config, log, metrics } = services;
  const mailer = config.mail && createMailer(config.mail, config.baseUrl);
  const start = (name: string, intervalMs: number, work: (signal: AbortSignal) => Promise<void>) =>
    runInBackground(name, intervalMs, metrics.watchJob(name, work), log);
  const stops = [
    start('mail', 1_000, (signal) => sendDueMails(services, mailer, signal)),
    start('billing', 5_000, (signal) => runBilling(services, signal)),
    start('erasure', 60_000, (signal) => eraseDueUsers(services, signal)),
    start('sweep', 60_000, (signal) => sweep(services, signal)),
  ];
  return async () => {
    await Promise.all(stops.map((stop) => stop()));
    mailer?.close();
  };
}
