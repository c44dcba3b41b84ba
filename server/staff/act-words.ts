// The words of forms and commands, by the intent of the act.
import { ofClient } from './client-act-words.ts';
import { type ActWords, type CommandWords, unchanged } from './form-words.ts';
import { commandsOfMoney, ofContract, ofInvoice, ofPayment } from './payment-act-words.ts';
import { commandsOfPeople, ofPerson } from './people-act-words.ts';

const ofMail = {
  retry: {
    label: 'Send again',
    to: 'Send the mail again',
    notice: 'It is tried now, and for three more days. The person gets it as if it were new.',
    outcome: 'The mail is sent again now. If it was just being tried, it is tried again within two minutes.',
    command: {
      about: 'send an email that failed or was given up again',
      done: () => 'It will be sent again.',
      nothing: () => 'There is nothing to do: it has not failed, or is tried within two minutes.',
    },
  },
  'give-up': {
    label: 'Give up',
    button: 'Give up the mail',
    notice:
      'It is not tried any more. The person does not get it, and reads in their activity that we stopped trying.',
    outcome: 'The mail is given up. If it was just being sent, it may still arrive.',
    isDanger: true,
    command: {
      about: 'do not try an email any more',
      done: () => 'It is given up.',
      nothing: () => 'It had been given up already.',
      notAllowed: 'Nothing changed: this email guards an account, so it is never given up by hand.',
    },
  },
} satisfies Record<string, ActWords<unknown, unknown>>;

const ofInvitation = {
  invite: {
    label: 'Invite somebody',
    button: 'Send the invitation',
    notice:
      'For somebody who has no account here. We email the address a link that works once, for 24 hours. The role is given when they have set a password and a second factor. We tell all administrators now, when the link is used, and when the role is given.',
    outcome: 'The invitation is on its way. You can withdraw it below.',
    fields: () => [
      { name: 'email', label: 'Email address', kind: 'email' },
      {
        name: 'role',
        label: 'Role',
        kind: 'one',
        value: 'manager',
        choices: [
          { value: 'manager', words: 'Manager: looks at people and helps customers' },
          { value: 'admin', words: 'Administrator: can do everything' },
        ],
      },
    ],
    command: {
      about: 'invite somebody who has no account to be staff: they get a link that works for 24 hours',
      takes: { role: 'the role that they get once they have set a password and a second factor' },
      done: (_newcomer, { given }) => `An invitation is on its way to ${given.email}.`,
      nothing: unchanged,
    },
  },
  withdraw: {
    label: 'Withdraw',
    button: 'Withdraw the invitation',
    notice:
      'The link in the email no longer works. If it was used already, the account stays, without the role. They get no email.',
    outcome: 'The invitation is withdrawn.',
    isDanger: true,
    command: {
      about: 'withdraw an invitation, so that its link no longer works',
      done: () => 'The invitation is withdrawn.',
      nothing: () => 'The invitation had ended already.',
    },
  },
} satisfies Record<string, ActWords<unknown, unknown>>;

export const actWords: Record<string, ActWords> = {
  ...{ ...ofPerson, ...ofInvoice, ...ofPayment },
  ...{ ...ofContract, ...ofMail, ...ofInvitation, ...ofClient },
};

export const furtherCommands: Record<string, CommandWords> = { ...commandsOfPeople, ...commandsOfMoney };
