// Finds people, and shows everything known about one person (contract 11.52 and 11.53).
import { type Command, Option } from 'commander';
import { createRateLimits } from '../../ground/rate-limits.ts';
import { environment, print, printAside } from '../../runtime/process.ts';
import { readConfig } from '../../settings/config.ts';
import { findPeople } from '../../staff/find-people.ts';
import { listOpenInvitations } from '../../staff/invitations.ts';
import { describePerson, listWouldGet } from '../../staff/person.ts';
import { addOperator, type Operator, recordLook } from './act.ts';
import {
  now,
  readClients,
  readUserKey,
  requireUser,
  show,
  type UserKey,
  userKeyWords,
  withDatabase,
  writeJson,
} from './command.ts';
import { describePersonInLines } from './describe-person.ts';

export function addPeopleCommands(program: Command): void {
  const find = program
    .command('find')
    .description(
      'find people by the beginning of words of name, account or address, or by a whole address, also one that they can have back, user id, marketplace id, signup id or invoice number',
    )
    .argument('[text]', 'without it, the newest', '')
    .addOption(new Option('--role <role>', 'only these').choices(['user', 'manager', 'admin']))
    .addOption(
      new Option('--state <state>', 'only these').choices([
        'suspended',
        'frozen',
        'unproved',
        'waiting',
        'leaving',
      ]),
    );
  addOperator(find).action(
    async (q: string, { by, json, ...filters }: Operator & { role?: string; state?: string }) => {
      const { people, more } = await withDatabase(async (db) => {
        const found = await findPeople({ db, now }, { q, ...filters });
        await recordLook(db, { by, json }, { type: 'staff.searched', hits: found.people.length });
        return found;
      });
      for (const { id, email, name, account, role, state } of people)
        print(
          json
            ? writeJson({ id, email, name, account, role, state })
            : [id, email, name, account, role, state].map(show).join('  '),
        );
      if (people.length === 0 && !json) print('Nobody was found.');
      if (more) printAside('There are more: give more of the name.');
    },
  );

  const invitations = program
    .command('invitations')
    .description('list the open invitations to the staff, newest first');
  addOperator(invitations).action(async (operator: Operator) => {
    const open = await withDatabase(async (db) => {
      const listed = await listOpenInvitations({ db, now });
      await recordLook(db, operator, { type: 'staff.searched', hits: listed.invitations.length });
      return listed.invitations;
    });
    for (const { seen: _seen, ...each } of open)
      print(
        operator.json
          ? writeJson(each)
          : [each.id, each.email, each.role, each.expiresAt.toISOString(), each.takenBy ? 'taken' : 'sent']
              .map(show)
              .join('  '),
      );
    if (open.length === 0 && !operator.json) print('No invitation is open.');
  });

  const showCommand = program
    .command('user:show')
    .description('print all that there is to know of a user, and what each client would get of them')
    .argument('<email>', userKeyWords, readUserKey);
  addOperator(showCommand).action(async (key: UserKey, operator: Operator) => {
    const person = await withDatabase(async (db) => {
      const user = await requireUser(db, key);
      await recordLook(db, operator, { type: 'staff.looked', userId: user.id });
      const config = readConfig(environment);
      const limits = createRateLimits(db, () => undefined);
      const described = await describePerson({ ...limits, db, now, config }, user);
      return {
        ...described,
        wouldGet: listWouldGet({ config, clients: await readClients(db, config) }, user),
      };
    });
    print(operator.json ? writeJson(person) : describePersonInLines(person));
  });
}
