// The forms that change something about a person.
import { createContext, type ReactNode, useContext } from 'react';
import type { Procedures } from '../../../server/doors/trpc/router.ts';
import type { Refused } from '../../refused.ts';
import { ActForm, type ActFormProps } from './act-form.tsx';

type Got = Awaited<ReturnType<Procedures['admin']['people']['get']>>;

/** Everything that staff see of a person. */
export type Person = Extract<Got, { seen: object }>;
export type Intent = keyof Person['seen'];

/** The person that the forms of the page are about, and the form that was refused. */
export const ActsContext = createContext<{ person: Person; refused: Refused | undefined } | undefined>(
  undefined,
);

const canGetMail = ({ suspendedAt, deletionDueAt }: Person) => !suspendedAt && !deletionDueAt;

/** Whether an act makes sense for the person as they are now. */
const makesSense: Record<Intent, (person: Person, about: Record<string, string>) => boolean> = {
  suspend: ({ suspendedAt }) => !suspendedAt,
  freeze: ({ frozenAt }) => !frozenAt,
  resume: ({ suspendedAt, frozenAt }) => suspendedAt !== null && !frozenAt,
  thaw: ({ suspendedAt }) => suspendedAt !== null,
  'end-sessions': ({ sessions }) => sessions.length > 0,
  'send-mail': (person, { kind }) =>
    canGetMail(person) && (kind !== 'prove-email' || !person.emailVerifiedAt),
  'remove-factors': ({ factors, codesLeft }) => factors.length > 0 || codesLeft > 0,
  verify: ({ account }) => account.decided.verified !== true,
  unverify: ({ account }) => account.decided.verified !== false,
  grant: ({ account }, { capability = '' }) => !account.decided.granted.includes(capability),
  revoke: ({ account }, { capability = '' }) => !account.decided.revoked.includes(capability),
  undecide: ({ account: { decided } }, { capability = '' }) =>
    capability === 'verification'
      ? decided.verified !== null
      : decided.granted.includes(capability) || decided.revoked.includes(capability),
  'change-role': () => true,
  'plan-deletion': ({ deletionDueAt }) => !deletionDueAt,
  keep: ({ deletionDueAt }) => deletionDueAt !== null,
  'change-email': ({ suspendedAt, role }) => !suspendedAt && role === 'user',
  'check-vat-id': ({ billing }, { vatId, checked }) =>
    billing?.vatId === vatId && billing?.hasCheckedVatId !== (checked === 'yes'),
  'accept-country': ({ billing }, { country }) => billing?.waiting?.country === country,
  'remove-link': ({ links }, { externalId }) => links.some((link) => link.externalId === externalId),
};

/** Whether the page has that form, for whoever looks at it. */
export const isOffered = (person: Person, intent: Intent, about: Record<string, string> = {}): boolean =>
  person.seen[intent] !== undefined && makesSense[intent](person, about);

/** Whether the page has the form that was refused, and so says there what was wrong. */
export function isSaidAtForm(person: Person, { values }: Refused): boolean {
  const { intent = '' } = values;
  return Object.hasOwn(makesSense, intent) && isOffered(person, intent as Intent, values);
}

type ActProps = Omit<ActFormProps, 'refused' | 'fields'> & {
  intent: Intent;
  /** Further fields, with what was wrong with them and what was typed. */
  fields?: (refused: Refused | undefined) => ReactNode;
};

/** A form that changes something about a person. Nothing, if it makes no sense now, or whoever looks may not do it. */
export function Act({ fields, about = {}, ...form }: ActProps) {
  const { person, refused: any } = useContext(ActsContext) ?? {};
  const { intent } = form;
  if (!person || !isOffered(person, intent, about)) return null;
  const isMine =
    any?.values.intent === intent &&
    Object.entries(about).every(([name, value]) => any.values[name] === value);
  const refused = isMine ? any : undefined;
  return (
    <ActForm
      {...form}
      about={{ ...about, seen: person.seen[intent] ?? '' }}
      refused={refused}
      fields={fields?.(refused)}
    />
  );
}
