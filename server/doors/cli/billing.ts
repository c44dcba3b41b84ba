import { type Command, Option } from 'commander';
import { listFailedMails, retryFailedMails } from '../../../db/tables/mails.ts';
import { describeAnswer } from '../../mail/describe-answer.ts';
import { environment, print } from '../../runtime/process.ts';
import { readConfig } from '../../settings/config.ts';
import { sendSignup } from '../demo/crm.ts';
import { CommandError, now, readNumber, show, withDatabase } from './command.ts';

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
}
