import type { Command } from 'commander';
import type { Database } from '../../../db/postgres/client.ts';
import { allCodeFactors, nameCodeFactors } from '../../identity/factor/code-factors.ts';
import { listMailboxes, type Mailbox } from '../../identity/recovery/freeze.ts';
import { print } from '../../runtime/process.ts';
import { peopleActs } from '../../staff/people-acts.ts';
import { actByCommand, addReason, type Reason, toJson } from './act.ts';
import {
  CommandError,
  now,
  readEmail,
  readUserKey,
  requireUser,
  requireYes,
  show,
  UsageError,
  type UserKey,
  userKeyWords,
  withDatabase,
  writeJson,
} from './command.ts';

type Options = Reason & { keep?: string; removeFactors: boolean; yes: boolean };

export function addThawCommand(program: Command): void {
  const command = program
    .command('user:thaw')
    .description(
      'give an account back to one of its addresses, which ends a freeze or suspension; without --keep, list the addresses',
    )
    .argument('<email>', userKeyWords, readUserKey)
    .option('--keep <address>', 'the mailbox of its owner', readEmail)
    .option(
      '--remove-factors',
      `also remove passkeys and the ${nameCodeFactors(allCodeFactors, 'and')}, and make the old password useless`,
      false,
    )
    .option('--yes', 'do not ask, with an account that is neither frozen nor suspended', false);
  addReason(command, { isRequired: false }).action(async (key: UserKey, options: Options) => {
    if (options.keep !== undefined && options.why === undefined)
      throw new UsageError('Give the reason with --why.');
    print(await withDatabase((db) => perform(db, key, options)));
  });
}

const notEnded = 'This account is neither frozen nor suspended.';

async function perform(db: Database, key: UserKey, { keep, removeFactors, yes, ...reason }: Options) {
  const user = await requireUser(db, key);
  const { id } = user;
  const mailboxes = await listMailboxes(db, user, now());
  if (!user.suspendedAt && mailboxes.length < 2) throw new CommandError(notEnded);
  if (keep === undefined)
    return reason.json ? mailboxes.map((each) => writeJson(each)).join('\n') : describe(mailboxes);
  if (!mailboxes.some(({ email }) => email === keep))
    throw new CommandError(
      'The account does not have this address. Without --keep, this command lists those that it has.',
    );
  if (!user.suspendedAt && keep !== user.email)
    await requireYes(
      { yes },
      `Freeze the account of ${show(user.email)} and give it to ${show(keep)}? This cannot be undone.`,
    );
  const given = { id, keep, removeFactors: removeFactors ? 'yes' : '' };
  const result = await actByCommand(db, 'user:thaw', { act: peopleActs.thaw, given, reason });
  // Either somebody has thawed the account since this command checked, or `keep` is the account's present email address.
  if (result === undefined) throw new CommandError(notEnded);
  if (reason.json) return toJson('thaw', true, id);
  const asks =
    keep === user.email && !removeFactors ? '' : ' An email to set a password is on its way there.';
  const done = user.suspendedAt
    ? `is no longer ${user.frozenAt ? 'frozen' : 'suspended'}`
    : 'has its address of before again';
  return `The account of ${show(keep)} ${done}.${asks}`;
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
      return `  ${show(email)}  ${facts.join(', ')}`;
    }),
  ].join('\n');
