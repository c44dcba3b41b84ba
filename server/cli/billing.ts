// Signups, contracts, invoices, and the mails about them.
import { type Command, Option } from 'commander';
import { listFailedMails, retryFailedMails } from '../../db/mails.ts';
import { cancelContract, settleInvoice } from '../billing/invoicing.ts';
import { readConfig } from '../config.ts';
import { sendSignup } from '../demo/crm.ts';
import { environment, print } from '../runtime/process.ts';
import { CommandError, now, readNumber, withDatabase } from './command.ts';

export function addBillingCommands(program: Command): void {
  program
    .command('signup:send')
    .description('send a signup to a running service, signed as the CRM would, and print the answer')
    .requiredOption('--email <address>')
    .requiredOption('--plan <name>', 'such as starter')
    .option('--name <name>', 'of the person', 'CRM Customer')
    .option('--account <name>', 'name of the account (default: that of the person)')
    .option('--signup-id <id>', 'of an earlier signup, to report a change (default: a new one)')
    .addOption(new Option('--status <status>').choices(['trialing', 'active']).default('trialing'))
    .option('--trial-days <days>', 'how long the trial lasts', readNumber, 14)
    .option(
      '--amount <minor units>',
      'price of a period, such as 2900 for 29.00 (default: no price)',
      readNumber,
    )
    .option('--currency <code>', 'of ISO 4217', 'EUR')
    .addOption(new Option('--interval <interval>').choices(['month', 'year']).default('month'))
    .option('--url <url>', 'of the service (default: IDENTITY_ISSUER)')
    .action(async (options) => {
      const config = readConfig(environment);
      const secret = config.crmSignupsSecrets?.[0];
      if (!secret) throw new CommandError('CRM_SIGNUPS_SECRET is not set.');
      const { account, amount, currency, interval } = options;
      const price = amount === undefined ? undefined : { unitAmount: amount, currency, interval };
      const url = options.url?.replace(/\/$/, '') ?? config.baseUrl;
      const signup = { ...options, accountName: account, price };
      const answer = await sendSignup({ url, secret }, signup, new Date()).catch(() => {
        throw new CommandError(`Nothing answers at ${url}. Is the service running?`);
      });
      if (answer.status >= 300) throw new CommandError(`${answer.status} ${answer.text}`);
      print(`${answer.status} ${answer.text}`);
    });

  program
    .command('contract:cancel')
    .description('end a service contract for good')
    .argument('<signup id>', 'that the CRM knows it by')
    .action(async (signupId: string) => {
      const isCanceled = await withDatabase((db) => cancelContract({ db, now }, signupId));
      if (isCanceled === undefined) throw new CommandError('There is no contract of this signup.');
      print(isCanceled ? 'The contract is canceled.' : 'The contract had ended already.');
    });

  for (const [status, description] of [
    ['paid', 'record the payment of an invoice; nothing overdue any more makes its contract active again'],
    ['void', 'void an open invoice'],
  ] as const) {
    program
      .command(`invoice:${status}`)
      .description(description)
      .argument('<number>', '', readNumber)
      .action(async (number: number) => {
        const outcome = await withDatabase((db) => settleInvoice({ db, now }, number, status));
        if (outcome === 'unknown') throw new CommandError('There is no invoice of this number.');
        if (outcome === 'closed_otherwise')
          throw new CommandError(
            `Nothing was changed: invoice ${number} is ${status === 'paid' ? 'void' : 'paid'} already.`,
          );
        print(`Invoice ${number} ${outcome === 'closed' ? 'is' : 'was already'} ${status}.`);
      });
  }

  program
    .command('mails')
    .description('list mails that could not be sent, those given up included')
    .option('--retry', 'try them all again', false)
    .action(({ retry }: { retry: boolean }) =>
      withDatabase(async (db) => {
        for (const mail of await listFailedMails(db)) {
          const state = mail.givenUpAt ? 'given up' : 'waiting';
          print(
            [state, mail.id, mail.kind, mail.recipient, `${mail.attempts} tries`, mail.lastError].join('  '),
          );
        }
        if (retry) print(`${await retryFailedMails(db, now())} to be sent again.`);
      }),
    );
}
