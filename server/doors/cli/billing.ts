// Signups and mails.
import { type Command, Option } from 'commander';
import { inTransaction } from '../../../db/postgres/transactions.ts';
import { listFailedMails, retryFailedMails } from '../../../db/tables/mails.ts';
import { findUnsentMail } from '../../../db/tables/unsent-mails.ts';
import { actAsOperator, isId } from '../../acts/act.ts';
import { AppError } from '../../basics/errors.ts';
import { describeAnswer } from '../../mail/describe-answer.ts';
import { environment, print } from '../../runtime/process.ts';
import { readConfig } from '../../settings/config.ts';
import { mailActs } from '../../staff/mails.ts';
import { sendSignup } from '../demo/crm.ts';
import { addReason, authorOf, operatorDeps, originOf, type Reason } from './act.ts';
import { CommandError, now, readNumber, show, UsageError, withDatabase, writeJson } from './command.ts';

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
    .command('mails')
    .description('list emails that failed, including those we gave up on')
    .option('--retry', 'try all of them again', false)
    .action(({ retry }: { retry: boolean }) =>
      withDatabase(async (db) => {
        for (const mail of await listFailedMails(db)) {
          const state = mail.givenUpAt ? 'given up' : 'waiting';
          const why = describeAnswer(mail.lastError ?? '', mail.recipient);
          print([state, mail.id, mail.kind, show(mail.recipient), `${mail.attempts} tries`, why].join('  '));
        }
        if (retry) print(`${await retryFailedMails(db, now())} will be sent again.`);
      }),
    );

  addMailAct(program, {
    ...{
      name: 'mail:retry',
      intent: 'retry',
      description: 'send an email that failed or was given up again',
    },
    done: 'It will be sent again.',
    nothing: 'There is nothing to do: it has not failed, or is tried within two minutes.',
  });
  addMailAct(program, {
    ...{ name: 'mail:give-up', intent: 'give-up', description: 'do not try an email any more' },
    ...{ done: 'It is given up.', nothing: 'It had been given up already.' },
  });
}

type MailCommand = {
  name: string;
  intent: keyof typeof mailActs;
  description: string;
  done: string;
  nothing: string;
};

/** What administrators do about a mail (contract 12.129), by the same functions. */
function addMailAct(program: Command, { name, intent, description, ...words }: MailCommand): void {
  const command = program.command(name).description(description).argument('<id>', 'as `mails` lists it');
  addReason(command, { isRequired: false }).action(async (id: string, options: Reason) => {
    if (!isId(id)) throw new UsageError('Enter the id of an email.');
    const result = await withDatabase((db) =>
      inTransaction(db, originOf(name, options), async (trx) => {
        if (!(await findUnsentMail(trx, id))) throw new CommandError('No email with this id waits.');
        const asked = { given: { id }, author: authorOf(options) };
        return actAsOperator(trx, operatorDeps(), mailActs[intent], asked);
      }),
    ).catch((error) => {
      if (!(error instanceof AppError)) throw error;
      throw new CommandError(
        'Nothing changed: this email guards an account, so it is never given up by hand.',
      );
    });
    const done = result !== undefined;
    print(options.json ? writeJson({ done, intent, id }) : done ? words.done : words.nothing);
  });
}
