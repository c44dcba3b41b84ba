// The words of the forms and commands about clients in the database.
import type { ClientFacts, ClientRow } from '../../db/tables/clients.ts';
import type { Given } from '../acts/fields.ts';
import { audiences, roles } from '../sso/clients.ts';
import { type ActWords, type FormField, unchanged } from './form-words.ts';

/** The facts of a row that a page shows. */
type ShownClient = ClientFacts & Pick<ClientRow, 'kind'>;

const sayOf = (...names: string[]) => `, as a list with commas: ${names.join(', ')}`;

const listedWords = `who sees it among the products${sayOf(...audiences)}`;
const rolesWords = `who may enter it${sayOf(...roles)}`;

const ofHandOff = (row?: ShownClient): FormField[] => [
  {
    ...{ name: 'callback', label: 'Callback URL', kind: 'text', value: row?.callbackUrl ?? '' },
    hint: 'Where people arrive after the login. In kits, its path is /sso/callback.',
  },
  {
    ...{
      name: 'eventsUrl',
      label: 'Webhook URL',
      kind: 'text',
      isOptional: true,
      value: row?.eventsUrl ?? '',
    },
    hint: 'Where we tell the client that there are events to read, if it wants to know. In kits, its path is /sso/events.',
  },
];

const ofOpenId = (row?: ShownClient): FormField[] => [
  {
    ...{ name: 'redirectUris', label: 'Redirect URIs', kind: 'lines' },
    hint: 'Where people arrive after the login, one address a line, exactly as the product sends it.',
    value: (row?.redirectUris ?? []).join('\n'),
  },
  {
    ...{ name: 'postLogoutUris', label: 'Addresses after a log-out', kind: 'lines', isOptional: true },
    hint: 'Where people may arrive after a log-out that the product starts, one address a line.',
    value: (row?.postLogoutUris ?? []).join('\n'),
  },
  {
    ...{ name: 'backChannelUri', label: 'Back-channel logout URI', kind: 'text', isOptional: true },
    hint: 'Where we tell the product that people were logged out or suspended, if it takes that.',
    value: row?.backChannelUri ?? '',
  },
  {
    ...{ name: 'pkce', label: 'PKCE', kind: 'one', value: row?.pkce ?? 'required' },
    choices: [
      { value: 'required', words: 'Required' },
      { value: 'optional', words: 'Optional: the product sends PKCE or a nonce' },
      { value: 'state-only', words: 'State only: the product sends neither, and is less safe' },
    ],
  },
  {
    ...{ name: 'auth', label: 'How the product authenticates', kind: 'one', value: row?.auth ?? 'secret' },
    choices: [
      { value: 'secret', words: 'By its secret' },
      { value: 'none', words: 'Not at all: it has no place for a secret, so PKCE is required' },
    ],
  },
];

/** Returns the fields of a new client, or of an existing client. */
const clientFields = (kind: string | undefined, row?: ShownClient): FormField[] => [
  {
    ...{ name: 'title', label: 'Title', kind: 'text', hint: 'What people read, up to 60 characters.' },
    ...(row ? { value: row.title } : { isOptional: true }),
  },
  ...(kind === 'openid' ? ofOpenId(row) : ofHandOff(row)),
  {
    ...{ name: 'loginUrl', label: 'Login URL', kind: 'text', isOptional: true, value: row?.loginUrl ?? '' },
    hint:
      kind === 'openid'
        ? 'Where a login to the product starts. Without it, people do not see the product in their list.'
        : 'Where the client’s own login starts, if it has one. In kits, its path is /login.',
  },
  {
    ...{ name: 'listed', label: 'Who sees it among the products', kind: 'text' },
    hint: `One or more of ${audiences.join(', ')}. The word visited means people who have opened it before, and contract means people with a contract.`,
    value: (row?.listed ?? ['everybody']).join(', '),
  },
  {
    ...{ name: 'roles', label: 'Who may enter', kind: 'text', hint: `One or more of ${roles.join(', ')}` },
    value: (row?.roles ?? (kind === 'openid' ? ['admin'] : roles)).join(', '),
  },
  {
    ...{
      name: 'factor',
      label: 'Second factor',
      kind: 'one',
      value: row?.needsFactor ? 'required' : 'optional',
    },
    choices: [
      { value: 'optional', words: 'Not required to enter' },
      { value: 'required', words: 'Required to enter' },
    ],
  },
];

const clientTakes: Given = {
  title: 'what people read (1 to 60 characters)',
  callback: 'where hand-offs go (kind hand-off)',
  redirectUris: 'where people arrive after the login (kind openid)',
  postLogoutUris: 'where people may arrive after a log-out, or `none` (kind openid)',
  backChannelUri: 'where log-outs are told, or `none` (kind openid)',
  pkce: 'which proof each login needs (kind openid)',
  auth: 'whether it authenticates with its secret (kind openid)',
  loginUrl: 'where its own login starts, or `none`',
  eventsUrl: 'where webhooks go, or `none` (kind hand-off)',
  listed: listedWords,
  roles: rolesWords,
  factor: 'whether people need a second factor to enter',
};

export const ofClient = {
  'add-client': {
    label: (_shown, { kind }) =>
      kind === 'openid' ? 'Add a product that speaks OpenID Connect' : 'Add a client',
    button: 'Add the client',
    notice:
      'Every instance knows it within two seconds. Its secret is shown only once, on the next page: copy it there. The name cannot be changed. A client is never deleted, only turned off. We email all administrators.',
    outcome: 'The client is added.',
    fields: (_shown, { kind }) => [
      {
        ...{ name: 'client', label: 'Name', kind: 'text', most: 63 },
        hint: 'Lower-case letters, digits and underscores, such as shop.',
      },
      ...clientFields(kind),
    ],
    command: {
      about: 'add a client to the database, and print its secret once',
      takes: { ...clientTakes, kind: 'hand-off (default) or openid' },
      done: (_client, { result }) =>
        `Client ${result.client} is added. Its secret is shown only now: ${result.secret}`,
      nothing: unchanged,
    },
  },
  'set-client': {
    label: 'Change the client',
    button: 'Save the client',
    to: 'Change the client',
    notice:
      'Every instance follows within two seconds. Logins that are under way may still arrive at the old address. We email all administrators.',
    outcome: 'The client is changed.',
    fields: (row) => clientFields(row.kind, row),
    command: {
      about: 'change a client in the database',
      takes: clientTakes,
      done: ({ name }) => `Client ${name} is changed.`,
      nothing: unchanged,
    },
  },
  'rotate-client': {
    label: 'Make a second secret',
    button: 'Make the secret',
    notice: ({ kind }) =>
      `The new secret is shown only once, on the next page. The client still works with its first secret: ${kind === 'openid' ? 'either counts' : 'we sign with both'} until you end one. We email all administrators.`,
    outcome: 'The client has a second secret.',
    command: {
      about: 'make a second secret for a client in the database, and print it once',
      done: ({ name }, { result }) =>
        `Client ${name} has a second secret. The first still works. The second is shown only now: ${result.secret}`,
      nothing: unchanged,
    },
  },
  'end-client-secret': {
    label: (_row, { which }) => `End the ${which} secret`,
    notice: ({ kind }, { which }) =>
      `The ${which} secret stops working within two seconds, for good. If the client still uses it, its ${kind === 'openid' ? 'logins' : 'logins, events and webhooks'} fail. We email all administrators.`,
    outcome: 'The secret has ended.',
    isDanger: true,
    command: {
      about: 'end one of the two secrets of a client in the database',
      takes: { which: 'the older (first) or the newer (second)' },
      done: ({ name }, { given: { which } }) => `The ${which} secret of ${name} has ended.`,
      nothing: unchanged,
    },
  },
  'turn-client-off': {
    label: 'Turn the client off',
    notice: ({ kind }) =>
      kind === 'openid'
        ? 'Within two seconds nobody can log in to the product from here, and its codes and access tokens end. It no longer hears of log-outs, suspensions and deletions: people who are logged in there may stay logged in. It hears of them once it is on again. We email all administrators.'
        : 'Within two seconds nobody can open the client, its token is refused and it gets no webhooks. It no longer hears of log-outs, suspensions and deletions: people who are logged in there stay logged in. Its events are kept, and it can read them once it is on again. We email all administrators.',
    outcome: 'The client is off.',
    isDanger: true,
    command: {
      about:
        'turn a client in the database off: it has no launches, tokens or webhooks, and no longer hears of log-outs, suspensions and deletions',
      done: ({ name }) => `Client ${name} is off.`,
      nothing: ({ name }) => `Client ${name} is off already.`,
    },
  },
  'turn-client-on': {
    label: 'Turn the client on',
    notice: ({ kind }) =>
      `Within two seconds people can open it again, and it ${kind === 'openid' ? 'hears of the log-outs' : 'can read what'} it has missed. We email all administrators.`,
    outcome: 'The client is on.',
    command: {
      about: 'turn a client in the database on again',
      done: ({ name }) => `Client ${name} is on.`,
      nothing: ({ name }) => `Client ${name} is on already.`,
    },
  },
  'confirm-client': {
    label: 'Confirm the client',
    notice:
      'The database was restored, so secrets that were ended and addresses that were changed may be back. Before you confirm, compare the addresses and the dates of the secrets with what you know. After that, people can open the client again. We email all administrators.',
    outcome: 'The client is confirmed.',
    isDanger: true,
    command: {
      about:
        'let a client in the database count again after a restore: first compare its addresses and secrets',
      done: ({ name }) => `Client ${name} is confirmed.`,
      nothing: ({ name }) => `Client ${name} is confirmed already.`,
    },
  },
  'test-webhook': {
    label: 'Try the webhook',
    notice:
      'We send the client a webhook that names its newest event. Then we say whether the client took the webhook.',
    outcome: 'The webhook was tried.',
  },
} satisfies Record<string, ActWords<ShownClient, ClientRow>>;
