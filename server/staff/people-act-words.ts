// The words of forms and commands about people, by the intent of the act.
import { type DetailValues, noDetails } from '../../db/tables/billing-details.ts';
import type { User } from '../../db/tables/users.ts';
import type { Given } from '../acts/fields.ts';
import { listCountries } from '../billing/values/countries.ts';
import { allCodeFactors, nameCodeFactors } from '../identity/factor/code-factors.ts';
import { roleWords } from './event-words.ts';
import { type ActWords, type CommandWords, type FormField, unchanged } from './form-words.ts';
import type { Person } from './person.ts';

const askNobody = 'You need not know who is calling';
/**
 * For acts that a thief could ask for on the telephone. The form offers ways to know who is calling (docs/operate/support.md).
 */
export const callBack = {
  ask: 'Call back at a number that you had before the call, such as the one on the contract.',
  ways: [
    'Called back at a number that we had before',
    'Asked somebody whom we know at their company',
    'Heard what only the contract says',
  ],
};
/** Leaves out the last of the `ways`, because a thief who is in the mailbox or in a session may have read the contract. */
const callBackOnly = { ...callBack, ways: callBack.ways.slice(0, 2) };
const askForProof = 'Ask for proof, such as an extract of the register of companies.';

const sayDecision = (about: string): CommandWords<User> => ({
  about: `${about}; name somebody who belongs to the account`,
  done: (user) => `Done. ${sayRights(user)}`,
  nothing: (user) => `Nothing to change. ${sayRights(user)}`,
});

const sayChecked = ({ email }: User, { vatId, checked }: Given) =>
  `The VAT id ${vatId} of the account of ${email} is ${checked === 'no' ? 'not ' : ''}checked.`;

function sayRights({ email, account }: User): string {
  const names = [...account.capabilities].sort().join(', ') || 'no capability';
  return `The account of ${email} has ${names}, and is ${account.verifiedAt ? '' : 'not '}verified.`;
}

const sayChange = ({ removeFactors }: Given) =>
  `Change the address${removeFactors === 'yes' ? ' and remove second factors' : ''}`;

export const fieldsOfDetails = ({
  company,
  address,
  country,
  vatId,
}: Pick<DetailValues, 'company' | 'address' | 'country' | 'vatId'>): FormField[] => {
  const text = (name: keyof Given, label: string, value: string | null | undefined, hint?: string) => ({
    ...{ name, label, kind: 'text' as const, isOptional: true, value: value ?? '' },
    ...(hint !== undefined && { hint }),
  });
  return [
    text('company', 'Company', company, 'If it is empty, the name of the account is used.'),
    text('line1', 'Street and number', address?.line1),
    text('line2', 'Second line', address?.line2),
    text('postcode', 'Postal code', address?.postcode),
    text('city', 'City', address?.city),
    {
      ...{ name: 'country', label: 'Country', kind: 'select', isOptional: true, value: country ?? '' },
      choices: listCountries().map(({ code, name }) => ({ value: code, words: name })),
    },
    text('vatId', 'VAT ID', vatId, 'With the letters of the country.'),
  ];
};

export const wordsOfDetails: Given = {
  company: 'to whom invoices are made out',
  line1: 'street and number',
  line2: 'second line of the address',
  postcode: 'postal code',
  city: 'city',
  country: 'two letters, such as DE',
  vatId: 'with the letters of the country',
};

export const ofPerson = {
  suspend: {
    ask: `Ask what has happened. ${askNobody}: you can end the suspension.`,
    label: 'Suspend the account',
    notice:
      'We email {name} that the account is suspended, and log them out everywhere. They cannot log in or open any product until you end the suspension.',
    outcome: 'The account is suspended. They are logged out everywhere.',
    isDanger: true,
    command: {
      about: 'suspend a user and end their sessions at once',
      done: ({ email }) => `${email} is suspended.`,
      nothing: ({ email, frozenAt }) =>
        frozenAt ? 'This account is frozen: nobody gets in.' : `${email} is suspended already.`,
    },
  },
  freeze: {
    ask: `Ask which address they had before. ${askNobody}: you can end the freeze.`,
    label: 'Freeze the account',
    notice:
      'For an owner who says that somebody else has got in. We log {name} out everywhere, and email every address that the account has, or can have back, that it is frozen. Nobody can log in until an administrator ends the freeze, and says which address is the owner’s. We tell all other administrators.',
    outcome: 'The account is frozen. They are logged out everywhere.',
    isDanger: true,
    command: {
      about: 'freeze an account that somebody else may have got into, until user:thaw says whose it is',
      done: ({ email }) => `${email} is frozen. user:thaw says whose the account is.`,
      nothing: ({ email }) => `${email} is frozen already.`,
    },
  },
  resume: {
    ask: 'Read on the tab Activity why it is suspended, and ask whether that is settled.',
    label: 'End the suspension',
    notice: 'We email {name} that they can log in again. Nothing else changes.',
    outcome: 'The suspension has ended. They can log in.',
    command: {
      about: 'let a suspended user log in again',
      done: ({ email }) => `${email} can log in again.`,
      nothing: () => 'This user is not suspended.',
    },
  },
  thaw: {
    ...callBackOnly,
    label: ({ frozenAt }) => (frozenAt ? 'End the freeze' : 'Give the account back'),
    button: ({ frozenAt }) => (frozenAt ? 'End the freeze' : 'Give the account back'),
    notice: ({ frozenAt, suspendedAt }) => {
      const moves =
        'moves to the address that you choose, loses its password and the second factors added since the change, and we email that address a link that sets a password.';
      if (frozenAt)
        return `We email every address below that the account is no longer frozen. If you keep another address than {email}, the account ${moves}`;
      const freeze = `freeze the account, log everybody out, tell all other administrators, and end the freeze at once. We email both to every address of the account. The account ${moves} This cannot be undone.`;
      return suspendedAt
        ? `If you keep {email}, we email it that the account is no longer suspended. If you keep another address, we ${freeze}`
        : `We ${freeze}`;
    },
    outcome: 'The account is neither frozen nor suspended, and has the address that you chose.',
    isDanger: true,
    fields: ({ email, mailboxes, suspendedAt }) => {
      const kept = mailboxes.filter((value) => suspendedAt || value !== email);
      return [
        {
          ...{ name: 'keep', label: 'Which address is the owner’s?', kind: 'one' },
          ...(kept.length === 1 && { value: kept[0] }),
          choices: kept.map((value) => ({
            value,
            words: `{value} (${value === email ? 'now' : 'earlier'})`,
          })),
        },
        {
          ...{ name: 'removeFactors', kind: 'yes' },
          label: 'Also remove passkeys, app and recovery codes, and end the password',
        },
      ];
    },
  },
  'end-session': {
    ask: `Ask in which browser they were. ${askNobody}: they can log in again.`,
    at: 'session',
    label: 'Log them out there',
    notice: 'We log {name} out in this browser. They get no email, and can log in again at once.',
    outcome: 'They are logged out there.',
    command: {
      about: 'log a user out in one browser',
      takes: { session: 'the id of the session, as user:show --json prints it' },
      done: ({ email }) => `${email} is logged out there.`,
      nothing: ({ email }) => `${email} is not logged in there.`,
    },
  },
  'end-sessions': {
    ask: `Ask what has happened. ${askNobody}: they can log in again.`,
    label: 'Log them out everywhere',
    notice: 'We log {name} out in every browser, and email them that we did. They can log in again at once.',
    outcome: 'They are logged out everywhere.',
    command: {
      about: 'log a user out everywhere',
      done: ({ email }) => `${email} is logged out everywhere.`,
      nothing: ({ email }) => `${email} is not logged in anywhere.`,
    },
  },
  'send-mail': {
    ask: `Ask for the address of the account. ${askNobody}: the link goes only there.`,
    at: ({ kind }) => (kind === 'set-password' ? 'head' : 'login'),
    label: (_person, { kind }) =>
      kind === 'set-password' ? 'Send a link to set a password' : 'Send a link to verify the address',
    button: 'Send the link',
    notice: ({ holdsEmail }, { kind }) =>
      kind === 'prove-email'
        ? 'We email {email} a link that verifies the address. Until it is used, nothing changes.'
        : holdsEmail
          ? 'We email {email} a link that sets a new password. It works for an hour. Until it is used, nothing changes.'
          : 'We email {email} a link that asks whose address it is, and sets a password. Until it is used, nothing changes.',
    outcome: 'The mail is on its way. Its state is under Mails.',
    command: {
      about: 'send a user the email that sets a password, or that verifies the address',
      done: ({ email }) => `An email is on its way to ${email}.`,
      nothing: ({ email }) => `Nothing to send: ${email} is verified already.`,
      notAllowed: 'This user is suspended, frozen or leaving, and gets no such email.',
    },
  },
  'remove-factors': {
    ...callBackOnly,
    at: 'login',
    label: 'Remove second factors',
    button: 'Remove passkeys, app and codes',
    to: 'Remove the second factors',
    notice: ({ newAddress }) =>
      'We remove passkeys, the authenticator app and recovery codes, end the password, and log {name} out everywhere. We email {email} what we did, and a link that sets a new password. Nobody gets in without that mail.' +
      (newAddress ? ' This stops the change of the address that waits.' : ''),
    outcome: 'Passkeys, app and recovery codes are gone. The mail that sets a password is on its way.',
    isDanger: true,
    command: {
      about:
        `remove the ${nameCodeFactors(allCodeFactors, 'and')}, recovery codes, passkeys and password of a person who has ` +
        'lost them, and email the link that sets a password',
      done: ({ email, hasPassword }) =>
        `${email} has no second factor any more, and is logged out everywhere. An email to set a password is on its way.` +
        (hasPassword ? ' The old password works until then: nobody else could look after the service.' : ''),
      nothing: () => 'This user has no second factor.',
    },
  },
  'change-email': {
    ...callBackOnly,
    at: 'login',
    label: (_person, about) => sayChange(about),
    button: 'Send the links',
    to: (_person, about) => sayChange(about),
    notice: (_person, { removeFactors }) =>
      `For somebody who lost their mailbox${removeFactors === 'yes' ? ', and their phone or passkeys, too' : ''}. We tell {email} at once, with a link that stops the change. The new address gets a link for 24 hours that moves the account there and sets a new password${removeFactors === 'yes' ? '. That link also removes passkeys, app and recovery codes' : ''}. Until it is used, nothing changes.`,
    outcome: 'The links are on their way. Nothing changes until the new address uses its link.',
    isDanger: true,
    fields: () => [{ name: 'email', label: 'New address', kind: 'email' }],
    command: {
      about:
        'give a user who has lost their mailbox another address: the old one is told at once, the new one gets a link',
      takes: {
        email: 'the new address',
        removeFactors: 'its link also removes second factors, because they are lost, too',
      },
      asks: ({ name, email }, given) => `Move the account of ${name} <${email}> to ${given.email}?`,
      done: ({ email }, { given }) =>
        `An email is on its way to ${given.email}. Nothing changes before its link is used; ${email} can stop it.`,
      nothing: unchanged,
      notAllowed: 'This user is staff, suspended or frozen, and gets no other address.',
    },
  },
  decide: {
    ask: askForProof,
    at: 'rights',
    label: 'Decide',
    button: 'Save the decisions',
    to: 'Save the decisions',
    notice: ({ account }) =>
      `If what the account may do changes, we email {name}. ${account.others.length > 0 ? 'Everybody in the account sees' : 'They see'} it on their profile, and products learn it at once. If that stays the same, they get no email.`,
    outcome: 'The decisions are saved.',
  },
  'change-role': {
    ask: 'Ask another administrator, by phone or in person.',
    label: 'Change the role',
    notice:
      'We email {name} that the role has changed, and log them out everywhere. Managers can look at everybody and help customers. Administrators can do everything.',
    outcome: 'The role has changed. They are logged out everywhere.',
    fields: ({ role }) => [
      {
        name: 'role',
        label: 'Role',
        kind: 'one',
        // The current role is left out, because it would change nothing.
        choices: Object.entries(roleWords)
          .map(([value, words]) => ({ value, words }))
          .filter(({ value }) => value !== role),
      },
    ],
    command: {
      about: 'give a user another role, and end their sessions',
      done: ({ email, role }) => `${email} has the role ${role}, and is logged out everywhere.`,
      nothing: ({ email, role }) => `${email} has the role ${role} already.`,
    },
  },
  'plan-deletion': {
    ask: 'Ask them to do it at /profile/delete. If they cannot, call back at a number that you had before the call.',
    label: 'Delete the account in 14 days',
    button: 'Plan the deletion',
    notice:
      'We email {name} that the account will be deleted in 14 days, with a link that takes it back. Until then they can log in and keep it, but cannot open any product. On that day profile and logins are deleted for good, and contracts are canceled.',
    outcome: 'The account will be deleted in 14 days, unless they keep it.',
    isDanger: true,
  },
  keep: {
    ask: `Ask whether they want to stay. ${askNobody}: nothing is lost.`,
    label: 'Keep the account',
    notice: 'We email {name} that the account will not be deleted. They can open products again.',
    outcome: 'The account stays.',
    command: {
      about: 'keep a user whose deletion is planned',
      done: ({ email }) => `${email} stays.`,
      nothing: ({ email }) => `Nothing to change: no deletion of ${email} is planned.`,
    },
  },
  'remove-link': {
    ...callBack,
    at: 'link',
    label: 'Disconnect',
    to: 'Disconnect the marketplace account',
    notice:
      'We email {name} that the marketplace account is no longer connected. They can no longer log in from there, and whoever came in by it alone is logged out. The account loses what only the marketplace gives it.',
    outcome: 'The marketplace account is not connected any more.',
    isDanger: true,
  },
  note: {
    ask: `${askNobody}.`,
    at: 'notes',
    label: 'Leave a note',
    button: 'Save the note',
    to: 'Save the note',
    notice:
      'The person can read this note in the download of their data, without your name. They get no email.',
    outcome: 'The note is saved.',
    fields: () => [
      { name: 'text', label: 'Note', kind: 'text', hint: '1 to 500 characters, on one line.', most: 500 },
    ],
    command: {
      about: 'leave a note on a person, which they can read in the download of their data',
      takes: { text: 'the note, 1 to 500 characters on one line' },
      done: ({ email }) => `The note on ${email} is saved.`,
      nothing: unchanged,
    },
  },
  'delete-note': {
    ask: 'Ask the author, if it is not yours.',
    at: 'note',
    label: 'Delete',
    button: 'Delete the note',
    to: 'Delete the note',
    notice: 'The note is gone for good, also from the download of {name}. They get no email.',
    outcome: 'The note is deleted.',
    isDanger: true,
  },
  'accept-country': {
    ask: askForProof,
    at: 'billing',
    label: (_person, { country, accepted }) =>
      `${accepted === 'yes' ? 'Accept' : 'Refuse'} the new country, ${country}`,
    button: (_person, { accepted }) => `${accepted === 'yes' ? 'Accept' : 'Refuse'} the country`,
    to: 'Decide about the new country',
    notice: (_person, { accepted }) =>
      accepted === 'yes'
        ? 'Invoices from now on have the new address and VAT ID, and the tax of that country. The VAT ID is not checked. Earlier invoices stay: issue them again if they are wrong. The person sees the new address, and gets no email.'
        : 'Address, VAT ID and tax stay as they were, and reports of the CRM do not change the address any more. But where no country could be read, invoices stay blocked, and you are asked again when the person or the CRM says another. The person sees the address of before, and gets no email: tell them why.',
    outcome: 'Saved. Under Billing details you see the country that counts.',
    isDanger: ({ accepted }) => accepted === 'no',
    command: {
      about:
        'let the new country of a billing address count for the tax; name somebody who belongs to the account',
      takes: {
        country: 'the one that waits, such as US',
        accepted: 'refuse it: address, VAT id and tax stay as they were',
      },
      done: ({ email }, { given: { country, accepted } }) =>
        accepted === 'no'
          ? `${country} is refused: the account of ${email} stays as it was.`
          : `${country} counts for the tax of the account of ${email}.`,
      nothing: unchanged,
    },
  },
  'check-vat-id': {
    ask: 'Ask VIES, the EU’s register, not the caller.',
    at: 'billing',
    label: (_person, { checked }) => `Mark the VAT ID as ${checked === 'yes' ? '' : 'not '}checked`,
    button: (_person, { checked }) => `Mark as ${checked === 'yes' ? '' : 'not '}checked`,
    to: 'Save whether the VAT ID is checked',
    notice: (_person, { checked }) =>
      checked === 'yes'
        ? 'Invoices from now on may be without tax (reverse charge), and one that waits for this is issued. The person sees that we have checked the ID, and gets no email. A changed ID has to be checked again.'
        : 'Invoices from now on are with tax, and one that waits for this is issued. The person sees that the ID does not count, and gets no email. A changed ID has to be checked again.',
    outcome: 'Saved. Under Billing details you see whether the VAT ID counts as checked.',
    isDanger: ({ checked }) => checked === 'no',
    command: {
      about: 'say that you have checked the VAT id of an account; name somebody who belongs to it',
      takes: { vatId: 'the one that the account has', checked: 'it is not, or no longer, checked' },
      done: (user, { given }) => sayChecked(user, given),
      nothing: (user, { given }) => `Nothing to change. ${sayChecked(user, given)}`,
    },
  },
  'edit-billing-details': {
    ...callBack,
    ask: `Ask for the number of an invoice, and what is wrong. ${callBack.ask}`,
    at: 'billing',
    label: 'Change the billing details',
    button: 'Save the billing details',
    to: 'Change the billing details',
    notice:
      'Invoices from now on have these details. Earlier invoices stay: issue them again if they are wrong. A new VAT ID is not checked, and a new country that changes the tax waits for an administrator. We email everybody in the account that our support team changed the details. Invoices go to the same address as before.',
    outcome: 'Saved. Under Billing details you see what counts now, and what waits.',
    fields: ({ billing }) => fieldsOfDetails({ ...(billing ?? noDetails), ...billing?.waiting }),
    command: {
      about:
        'change the billing details of an account, and email everybody in it; name somebody who belongs to it; to remove a detail, use the page',
      takes: wordsOfDetails,
      done: ({ email }) => `The billing details of the account of ${email} have changed.`,
      nothing: unchanged,
    },
  },
} satisfies Record<string, ActWords<Person, User> & { ask: string }>;

/** Words for commands whose form has another name. */
export const commandsOfPeople: Record<string, CommandWords> = {
  'account:verify': sayDecision('say that an account is verified, whatever the marketplace says'),
  'account:unverify': sayDecision('say that an account is not verified, whatever the marketplace says'),
  'account:grant': sayDecision('give an account a capability, whatever the marketplace says'),
  'account:revoke': sayDecision('take a capability from an account, whatever the marketplace says'),
  'account:undecide': sayDecision(
    'let the marketplace decide about a capability, or the verification, again',
  ),
};
