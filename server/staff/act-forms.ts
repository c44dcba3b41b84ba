// The forms by which staff act, as data for pages.
import type { Subject } from '../acts/act.ts';
import type { Given } from '../acts/fields.ts';
import { invalidMember } from '../basics/errors.ts';
import { faultWords } from '../basics/fault-words.ts';
import { actWords } from './act-words.ts';
import { acts, type Intent, isIntent } from './acts.ts';
import type { FormField, Place, Side } from './form-words.ts';

export type ActForm = {
  intent: string;
  /** The fields that tell this form from other forms of the same act, such as the contract that it is about. */
  about: Given;
  /** Hidden fields: `seen` is a digest of the facts that the form was made from, and `payment` is the id of a new payment. */
  hidden: Given;
  label: string;
  button: string;
  to: string;
  ask: string | undefined;
  ways: string[];
  notice: string;
  isDanger: boolean;
  sides: Side[];
  isIdle: boolean;
  hasWhy: boolean;
  fields: FormField[];
  at: Place;
};

/**
 * Builds a form for each act about this kind of thing, if the act makes sense for what is shown. `hidden` returns the hidden
 * fields of an act's form, such as `seen`. If `hidden` returns nothing, that form is left out.
 */
export const buildForms = <Shown>(
  about: Subject<never>['name'],
  shown: Shown,
  hidden: (intent: Intent) => Given | undefined,
): ActForm[] =>
  (Object.keys(acts) as Intent[]).flatMap((intent) => {
    const [words, carried] = [actWords[intent], hidden(intent)];
    return !words || !carried || acts[intent].about.name !== about
      ? []
      : (acts[intent].offers?.(shown as never) ?? []).map((which: Given) => {
          const say = (what: typeof words.notice) => (typeof what === 'string' ? what : what(shown, which));
          const label = say(words.label);
          const button = words.button ? say(words.button) : label;
          return {
            ...{ intent, about: which, hidden: carried, label, button },
            to: words.to ? say(words.to) : button,
            ask: words.ask,
            ways: words.ways ?? [],
            notice: say(words.notice),
            isDanger: words.isDanger === true || (words.isDanger?.(which) ?? false),
            sides: words.sides?.(shown) ?? [],
            isIdle: words.isIdle?.(shown) ?? false,
            hasWhy: !acts[intent].hasNoWhy,
            fields: words.fields?.(shown, which) ?? [],
            at: typeof words.at === 'function' ? words.at(which) : (words.at ?? 'head'),
          };
        });
  });

/**
 * For a kind of thing: another kind whose forms are on the same pages. For example, a person's page has forms about contracts.
 */
const further: Record<string, string> = { person: 'contract', invitation: 'newcomer', client: 'new_client' };

/**
 * Returns the reason that a form states. It begins with how staff know who is calling, if they chose that, and goes on with
 * what they typed (contract 12.255 and 12.287). Throws 422 `validation_failed` for a way that the form does not offer.
 */
export function readReason(intent: Intent, { known, why }: Record<'known' | 'why', string>): string {
  if (!known) return why;
  if (!actWords[intent]?.ways?.includes(known)) throw invalidMember('/known', faultWords.choice_missing);
  return why.trim() ? `${known}: ${why}` : known;
}

/** Returns whether the pages about this kind of thing have the form. */
export function isOnPages(about: string, intent: string): intent is Intent {
  if (!isIntent(intent)) return false;
  const { name } = acts[intent].about;
  return name === about || name === further[about];
}

/**
 * Says what a form has done, for the page that the browser shows after it. Returns null for a form that this kind of page does
 * not have.
 */
export const sayOutcome = (about: string, intent: string): string | null =>
  isOnPages(about, intent) ? (actWords[intent]?.outcome ?? null) : null;

/** Returns the answer of `admin.invitations.list`, with the form of each invitation, and the form that sends a new one. */
export const withInvitationForms = <Invited extends { id: string; seen: string }, More>({
  invitations,
  seen: seenOfAll,
  ...listed
}: More & { invitations: Invited[]; seen: string }) => ({
  ...listed,
  invitations: invitations.map(({ seen, ...each }) => ({
    ...each,
    forms: buildForms('invitation', each, () => ({ seen })),
  })),
  forms: buildForms('newcomer', null, () => ({ seen: seenOfAll })),
});

export const withForms = <Mail extends { id: string; seen: string }>(listed: Mail[]) =>
  listed.map(({ seen, ...mail }) => ({
    ...mail,
    forms: buildForms('mail', mail, () => ({ seen })),
  }));
