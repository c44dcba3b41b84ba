// The jobs that every instance runs besides serving requests. Any number of instances may run them at the same time.
import { lookOf, openDocumentMaker } from '../../billing/documents/document-maker.ts';
import { makeDueDocuments } from '../../billing/documents/make-due.ts';
import { runBilling } from '../../billing/invoices/invoicing.ts';
import { lookAfterVatIds } from '../../billing/invoices/vat-ids-to-check.ts';
import { creditEnded } from '../../billing/payments/credit-ended.ts';
import type { Book } from '../../clients/book.ts';
import { createNudger } from '../../events/nudges.ts';
import { numberAllEvents } from '../../events/number-events.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { eraseDueUsers } from '../../identity/person/erase-user.ts';
import { createMailer } from '../../mail/mailer.ts';
import { sendDueMails } from '../../mail/outbox.ts';
import { createLogOutSender } from '../../openid/log-outs.ts';
import { indexPeople } from '../../staff/index-people.ts';
import { addSums } from './add-sums.ts';
import { runInBackground } from './background.ts';
import { sweep } from './sweep.ts';

/** Returns a function that stops the jobs. Its promise resolves when the running work has ended. */
export function startJobs(deps: Dependencies, book: Book): () => Promise<void> {
  const { config, log, metrics } = deps;
  const openMailer = () => config.mail && createMailer(config.mail, config.baseUrl);
  // Mails are sent in lanes (db/tables/mails.ts). Each lane has a mailer with its own connections. So a mail that somebody waits
  // for is never delayed by the mails of another lane.
  const [holders, signUps, other] = [openMailer(), openMailer(), openMailer()];
  const nudger = createNudger(deps);
  const logOuts = createLogOutSender(deps);
  const maker = openDocumentMaker(lookOf(config));
  const start = (
    name: string,
    intervalMs: number,
    work: (signal: AbortSignal) => Promise<void>,
    isPressing = false,
  ) => runInBackground(name, intervalMs, metrics.watchJob(name, work), log, isPressing);
  const stops = [
    start('awaited-mail', 500, (signal) => sendDueMails(deps, holders, signal, ['holders'])),
    start('sign-up-mail', 500, (signal) => sendDueMails(deps, signUps, signal, ['sign_ups'])),
    start('mail', 1_000, (signal) => sendDueMails(deps, other, signal, ['other'])),
    // Each instance knows of a change within two seconds, even if it had no connection to the database when the change was
    // made.
    start(
      'clients',
      1_000,
      async (signal) => {
        await book.refresh();
        await book.keepUp(signal);
      },
      true,
    ),
    // When a client pulls, the pull numbers its events. This job is for clients that do not pull.
    start('events', 1_000, (signal) => numberAllEvents(deps, signal)),
    start('people', 1_000, (signal) => indexPeople(deps, signal)),
    start('billing', 5_000, async (signal) => {
      await runBilling(deps, signal);
      await creditEnded(deps, signal);
    }),
    start('documents', 1_000, (signal) => makeDueDocuments({ ...deps, maker }, signal)),
    start('vat-ids', 60_000, (signal) => lookAfterVatIds(deps, signal)),
    start('erasure', 60_000, (signal) => eraseDueUsers(deps, signal)),
    start('sweep', 60_000, (signal) => sweep(deps, signal)),
    start('sums', 10_000, () => addSums(deps)),
    start('nudges', 250, nudger.nudge),
    start('log-outs', 250, logOuts.send),
  ];
  return async () => {
    await Promise.all([...stops.map((stop) => stop()), nudger.stop(), logOuts.stop()]);
    await maker.close();
    for (const mailer of [holders, signUps, other]) mailer?.close();
  };
}
