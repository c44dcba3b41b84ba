// Signups, contracts, invoices and mails.
import { type Command, Option } from 'commander';
import type { Transaction } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import { inTransaction } from '../../db/postgres/transactions.ts';
import type { DB } from '../../db/schema.ts';
import { listFailedMails, retryFailedMails } from '../../db/tables/mails.ts';
import { AppError } from '../basics/errors.ts';
import { creditInvoice } from '../billing/credit.ts';
import { cancelContract } from '../billing/invoicing.ts';
import { type Bookkeeper, payOpen } from '../billing/ledger.ts';
import { sendSignup } from '../demo/crm.ts';
import { environment, print } from '../runtime/process.ts';
import { readConfig } from '../settings/config.ts';
import { CommandError, now, readNumber, withDatabase } from './command.ts';

export function addBillingCommands(program: Command): void {
  program
    .command('signup:send')
    .description('send a signup to a running service, signed like the CRM does, and print the answer')
    .requiredOption('--email <address>')
    .requiredOption('--plan <name>', 'such as starter')
    .option('--name <name>', "the person's name", 'CRM Customer')
    .option('--account <name>', "the account's name (default: the person's)")
    .option('--signup-id <id>', 'an earlier signup, to report a change (default: a new one)')
    .addOption(
      new Option('--status <status>').choices(['trialing', 'active', 'canceled']).default('trialing'),
    )
    .option('--trial-days <days>', 'length of the trial', readNumber, 14)
    .option(
      '--amount <minor units>',
      'price per period, such as 2900 for 29.00 (default: no price)',
      readNumber,
    )
    .option('--currency <code>', 'an ISO 4217 code', 'EUR')
    .addOption(new Option('--interval <interval>').choices(['month', 'year']).default('month'))
    .option('--url <url>', 'where the service runs (default: IDENTITY_ISSUER)')
    .action(async (options) => {
      const config = readConfig(environment);
      const secret = config.crmSignupsSecrets?.[0];
      if (!secret) throw new CommandError('CRM_SIGNUPS_SECRET is not set. Set it and try again.');
      const { account, amount, currency, interval } = options;
      const price = amount === undefined ? undefined : { unitAmount: amount, currency, interval };
      const url = options.url?.replace(/\/$/, '') ?? config.baseUrl;
      const signup = { ...options, accountName: account, price };
      const answer = await sendSignup({ url, secret }, signup, new Date()).catch(() => {
        throw new CommandError(
          `Nothing answers at ${url}. Start the service, or set PORT or --url to where it runs.`,
        );
      });
      if (answer.status >= 300) throw new CommandError(`${answer.status} ${answer.text}`);
      print(`${answer.status} ${answer.text}`);
    });

  program
    .command('contract:cancel')
    .description('cancel a service contract permanently')
    .argument('<signup id>', "the CRM's id for it")
    .action(async (signupId: string) => {
      const isCanceled = await withDatabase((db) => cancelContract({ db, now }, signupId));
      if (isCanceled === undefined) throw new CommandError('There is no contract for this signup.');
      print(isCanceled ? 'The contract is canceled.' : 'The contract had already ended.');
    });

  program
    .command('invoice:paid')
    .description(
      'record a payment of what is open; if nothing is overdue any more, the contract becomes active again',
    )
    .argument('<number>')
    .action((number: string) =>
      settle(`Invoice ${number} is paid.`, (trx, by) =>
        payOpen(trx, { number, id: uuidv7(), paidAt: by.now }, by),
      ),
    );

  program
    .command('invoice:void')
    .description('credit all that is left of an invoice')
    .argument('<number>')
    .action((number: string) =>
      settle(`Invoice ${number} is void.`, (trx, by) => creditInvoice(trx, number, undefined, by)),
    );

  program
    .command('mails')
    .description('list emails that failed, including those we gave up on')
    .option('--retry', 'try all of them again', false)
    .action(({ retry }: { retry: boolean }) =>
      withDatabase(async (db) => {
        for (const mail of await listFailedMails(db)) {
          const state = mail.givenUpAt ? 'given up' : 'waiting';
          print(
            [state, mail.id, mail.kind, mail.recipient, `${mail.attempts} tries`, mail.lastError].join('  '),
          );
        }
        if (retry) print(`${await retryFailedMails(db, now())} will be sent again.`);
      }),
    );
}

async function settle(
  done: string,
  work: (trx: Transaction<DB>, by: Bookkeeper) => Promise<unknown>,
): Promise<void> {
  try {
    await withDatabase((db) =>
      inTransaction(db, { by: 'operator', cause: 'invoice' }, (trx) =>
        work(trx, { now: now(), recordedBy: 'operator' }),
      ),
    );
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw new CommandError(
      error.code === 'not_found'
        ? 'There is no invoice with this number.'
        : `Nothing changed: ${error.detail}`,
    );
  }
  print(done);
}
