// Ending a freeze, once the owner of the account is known.
import type { Command } from 'commander';
import { findAddressOwner } from '../../db/tables/address-owners.ts';
import { allCodeFactors, nameCodeFactors } from '../identity/factor/code-factors.ts';
import { listMailboxes, type Mailbox } from '../identity/recovery/freeze.ts';
import { print } from '../runtime/process.ts';
import { actByCommand } from './act.ts';
import { CommandError, now, readEmail, readWhy, withDatabase } from './command.ts';

type Options = { keep?: string; removeFactors: boolean; why?: string };

export function addThawCommand(program: Command): void {
  program
    .command('user:thaw')
    .description(
      'unfreeze an account once you know who its owner is; without --keep, list the addresses that it can be given to',
    )
    .argument('<email>', '', readEmail)
    .option('--keep <address>', 'the mailbox of its owner', readEmail)
    .option(
      '--remove-factors',
      `also remove passkeys and the ${nameCodeFactors(allCodeFactors, 'and')}, and make the old password useless`,
      false,
    )
    .option('--why <text>', 'kept in the audit trail', readWhy)
    .action(async (email: string, { keep, removeFactors, why }: Options) => {
      if (keep && !why) throw new CommandError('Give the reason with --why.');
      const said = await withDatabase(async (db) => {
        const user = await findAddressOwner(db, email, now());
        if (!user) throw new CommandError('No user has this email address.');
        if (!user.frozenAt) throw new CommandError('This account is not frozen.');
        const mailboxes = await listMailboxes(db, user, now());
        if (!keep || !why) return describe(mailboxes);
        if (!mailboxes.some((each) => each.email === keep))
          throw new CommandError(`The account does not have this address. ${describe(mailboxes)}`);
        const given = { keep, removeFactors: removeFactors ? 'yes' : '' };
        const asked = {
          command: 'user:thaw',
          key: { id: user.id },
          intent: 'thaw',
          given,
          reason: { why },
        } as const;
        await actByCommand(db, asked);
        const asks =
          keep === user.email && !removeFactors ? '' : ' An email to set a password is on its way there.';
        return `The account of ${keep} is no longer frozen.${asks}`;
      });
      print(said);
    });
}

const describe = (mailboxes: Mailbox[]) =>
  [
    'You can give it to the owner of one of these addresses, with --keep ADDRESS --why TEXT:',
    ...mailboxes.map(({ email, isPresent, told }) => {
      const facts = [
        ...(isPresent ? ['the present address'] : []),
        ...told.map(({ what, count, lastAt }) => {
          const times = count > 1 ? ` ${count} times, last` : '';
          return `${what}${times} ${lastAt.toISOString()}`;
        }),
      ];
      return `  ${email}  ${facts.join(', ')}`;
    }),
  ].join('\n');
