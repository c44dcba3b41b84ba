// What staff do for people on a person's page (contract section 12), by command.
import { Argument, type Command, Option } from 'commander';
import type { User } from '../../../db/tables/users.ts';
import type { Given } from '../../acts/act.ts';
import { readCountry } from '../../billing/values/countries.ts';
import { readVatIdOfAny } from '../../billing/values/vat-ids.ts';
import { allCodeFactors, nameCodeFactors } from '../../identity/factor/code-factors.ts';
import { addAct, nameUser, refuse } from './act.ts';
import { readEmail, show } from './command.ts';

export function addHelpCommands(program: Command): void {
  addAct(program, {
    name: 'user:suspend',
    intent: 'suspend',
    description: 'suspend a user and end their sessions at once',
    isWhyRequired: false,
    say: ({ user }) => `${show(user.email)} is suspended.`,
    nothing: ({ user }) =>
      user.frozenAt
        ? refuse('This account is frozen: nobody gets in.')()
        : `${show(user.email)} is suspended already.`,
  });

  addAct(program, {
    name: 'user:freeze',
    intent: 'freeze',
    description: 'freeze an account that somebody else may have got into, until user:thaw says whose it is',
    say: ({ user }) => `${show(user.email)} is frozen. user:thaw says whose the account is.`,
    nothing: ({ user }) => `${show(user.email)} is frozen already.`,
  });

  addAct(program, {
    name: 'user:resume',
    intent: 'resume',
    description: 'let a suspended user log in again',
    isWhyRequired: false,
    say: ({ user }) => `${show(user.email)} can log in again.`,
    nothing: refuse('This user is not suspended.'),
  });

  addAct(program, {
    name: 'user:end-sessions',
    intent: 'end-sessions',
    description: 'log a user out everywhere',
    say: ({ user }) => `${show(user.email)} is logged out everywhere.`,
    nothing: ({ user }) => `${show(user.email)} is not logged in anywhere.`,
  });

  addAct(program, {
    name: 'user:send-mail',
    intent: 'send-mail',
    description: 'send a user the email that sets a password, or that proves the address',
    takes: {
      option: new Option('--kind <kind>').choices(['set-password', 'prove-email']).makeOptionMandatory(),
      as: 'kind',
    },
    say: ({ user }) => `An email is on its way to ${show(user.email)}.`,
    nothing: ({ user }) => `Nothing to send: ${show(user.email)} is proved already.`,
    notAllowed: 'This user is suspended, frozen or leaving, and gets no such email.',
  });

  addAct(program, {
    name: 'user:remove-factors',
    intent: 'remove-factors',
    description:
      `remove the ${nameCodeFactors(allCodeFactors, 'and')}, recovery codes, passkeys and password of a person who has ` +
      'lost them, and email the link that sets a password',
    isWhyRequired: false,
    say: ({ user }) =>
      [
        `${show(user.email)} has no second factor any more, and is logged out everywhere. An email to set a password is on its way.`,
        user.hasPassword && 'The old password works until then: nobody else could look after the service.',
      ]
        .filter(Boolean)
        .join(' '),
    nothing: refuse('This user has no second factor.'),
  });

  addAct(program, {
    name: 'user:role',
    intent: 'change-role',
    description: 'give a user another role, and end their sessions',
    takes: { argument: new Argument('<role>').choices(['user', 'manager', 'admin']), as: 'role' },
    say: ({ user }) => `${show(user.email)} has the role ${user.role}, and is logged out everywhere.`,
    nothing: ({ user }) => `${show(user.email)} has the role ${user.role} already.`,
    more: ({ role }) => ({ role }),
  });

  addAct(program, {
    name: 'user:keep',
    intent: 'keep',
    description: 'keep a user whose deletion is planned',
    say: ({ user }) => `${show(user.email)} stays.`,
    nothing: ({ user }) => `Nothing to change: no deletion of ${show(user.email)} is planned.`,
  });

  addAct(program, {
    name: 'user:change-email',
    intent: 'change-email',
    description:
      'give a user who has lost their mailbox another address: the old one is told at once, the new one gets a link',
    takes: { argument: new Argument('<new>', 'the new address').argParser(readEmail), as: 'email' },
    question: (user, { email = '' }) => `Move the account of ${nameUser(user)} to ${show(email)}?`,
    say: ({ user, given: { email = '' } }) =>
      `An email is on its way to ${show(email)}. Nothing changes before its link is used; ${show(user.email)} can stop it.`,
    nothing: () => 'Nothing to change.',
    notAllowed: 'This user is staff, suspended or frozen, and gets no other address.',
  });

  addAct(program, {
    name: 'vat-id:checked',
    intent: 'check-vat-id',
    description: 'say that you have checked the VAT id of an account; name somebody who belongs to it',
    takes: {
      argument: new Argument('<vat id>', 'the one that the account has').argParser(compactVatId),
      as: 'vatId',
    },
    flag: {
      option: new Option('--no', 'it is not, or no longer, checked'),
      as: 'checked',
      given: ['no', 'yes'],
    },
    say: ({ user, given }) => sayChecked(user, given),
    nothing: ({ user, given }) => `Nothing to change. ${sayChecked(user, given)}`,
  });

  addAct(program, {
    name: 'country:accept',
    intent: 'accept-country',
    description:
      'let the new country of a billing address count for the tax; name somebody who belongs to the account',
    takes: {
      argument: new Argument('<country>', 'the one that waits, such as US').argParser(spellCountry),
      as: 'country',
    },
    flag: {
      option: new Option('--no', 'refuse it: address, VAT id and tax stay as they were'),
      as: 'accepted',
      given: ['no', 'yes'],
    },
    say: ({ user, given: { country = '', accepted } }) =>
      accepted === 'no'
        ? `${show(country)} is refused: the account of ${show(user.email)} stays as it was.`
        : `${show(country)} counts for the tax of the account of ${show(user.email)}.`,
    nothing: () => 'Nothing to change.',
  });
}

/** As documents have it. */
const compactVatId = (text: string) => readVatIdOfAny(text) ?? text;

const spellCountry = (text: string) => readCountry(text) ?? text;

const sayChecked = ({ email }: Pick<User, 'email'>, { vatId = '', checked }: Given) =>
  `The VAT id ${show(vatId)} of the account of ${show(email)} is ${checked === 'no' ? 'not ' : ''}checked.`;
