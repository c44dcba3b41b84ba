// The types of the words of acts (server/staff/act-words.ts). In a notice, the page replaces `{name}` and `{email}` with the
// name and email address of the person. The record of an act says which values its command accepts.
import type { Given } from '../acts/fields.ts';

/**
 * `lines` is a text of several lines, `one` is a choice of few, `select` is a choice of many, and `yes` is a box to tick. In
 * the words of a choice, `{value}` is replaced with its value.
 */
export type FormField = {
  name: keyof Given;
  label: string;
  kind: 'text' | 'lines' | 'email' | 'decimal' | 'day' | 'one' | 'select' | 'yes';
  hint?: string;
  /** The value that the field has when the form is opened. */
  value?: string;
  isOptional?: boolean;
  most?: number | string;
  choices?: { value: string; words: string }[];
};

export type Side = { title: string; lines: string[] };

/** `shown` is what the page shows. `about` says which of the act's forms this is. */
type Say<Shown> = string | ((shown: Shown, about: Given) => string);

/** Forms at `head` stay above all parts of the page. */
export type Place =
  | 'head'
  | 'notes'
  | 'note'
  | 'login'
  | 'session'
  | 'rights'
  | 'link'
  | 'billing'
  | 'contract';

// biome-ignore lint/suspicious/noExplicitAny: each act is shown the thing that it is about
export type ActWords<Shown = any, Thing = any> = {
  /** The part of a person's page that has the forms. If left out, the forms are at `head`. */
  at?: Place | ((about: Given) => Place);
  /** Questions that show who is calling, as in docs/operate/support.md. Each form on a person's page has them. */
  ask?: string;
  /**
   * Ways in which staff can know who is calling. The way that they choose becomes the reason of the act, or the beginning of
   * the reason.
   */
  ways?: string[];
  /** The button that opens the form. */
  label: Say<Shown>;
  /** The button that sends the form, if it differs from `label`. */
  button?: Say<Shown>;
  /** The words for the page that asks for a credential, if they differ from the button. */
  to?: Say<Shown>;
  /** What will happen, and what the person will notice. */
  notice: Say<Shown>;
  /** What has happened. This must be true even if there was nothing to do. */
  outcome: string;
  isDanger?: true | ((about: Given) => boolean);
  /** How things are now, and how the act would change them. */
  sides?: (shown: Shown) => Side[] | undefined;
  /** If true, the act would be refused, so its form has no button, and the notice says why. */
  isIdle?: (shown: Shown) => boolean;
  fields?: (shown: Shown, about: Given) => FormField[];
  command?: CommandWords<Thing>;
};

/** `target` is the thing as it is now, `given` is the input of the command, and `result` is what the act returned. */
// biome-ignore lint/suspicious/noExplicitAny: each act returns its own type
type Tell<Thing> = (target: Thing, more: { given: Given; result: any }) => string;

/** The words of a command. Characters in them that move a terminal's cursor are escaped. */
// biome-ignore lint/suspicious/noExplicitAny: each command is about its own type of thing
export type CommandWords<Thing = any> = {
  about: string;
  /** What each argument and option of the command is, by the field that gets its value. */
  takes?: Given;
  /** The refusal of a wrong value, by the field. */
  wrong?: Given;
  /** The question before an act that cannot be undone. It names the thing. */
  asks?: (target: Thing, given: Given) => string;
  done: Tell<Thing>;
  /** What the command says if there was nothing to change, even if the command is then refused. */
  nothing: Tell<Thing>;
  /** The refusal `not_allowed`. */
  notAllowed?: string;
  /** What to use instead, for a command that the next version does not have. */
  goesFor?: string;
};

export const unchanged = () => 'Nothing to change.';
