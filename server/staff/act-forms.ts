// The forms by which staff act, as data for pages: which there are, what they say, and what they ask for.

import type { Given } from '../acts/fields.ts';
import { actWords, type FormField } from './act-words.ts';
import { acts, type Intent } from './acts.ts';

export type ActForm = {
  intent: string;
  /** Which of the forms of the act it is. */
  about: Given;
  /** What it was made from, and what names the thing. */
  hidden: Given;
  label: string;
  button: string;
  to: string;
  notice: string;
  isDanger: boolean;
  fields: FormField[];
};

/** The forms of these acts that make sense for what is shown. `hidden` is what each carries besides, `seen` among it. */
export const buildForms = <Shown>(
  intents: Intent[],
  shown: Shown,
  hidden: (intent: Intent) => Given,
): ActForm[] =>
  intents.flatMap((intent) => {
    const words = actWords[intent];
    return !words
      ? []
      : (acts[intent].offers?.(shown as never) ?? []).map((about: Given) => {
          const say = (what: typeof words.notice) => (typeof what === 'string' ? what : what(shown, about));
          const label = say(words.label);
          const button = words.button ? say(words.button) : label;
          return {
            ...{ intent, about, hidden: hidden(intent), label, button },
            to: words.to ? say(words.to) : button,
            notice: say(words.notice),
            isDanger: words.isDanger?.(about) ?? false,
            fields: words.fields?.(shown) ?? [],
          };
        });
  });

/** What has happened, for the page that a form leads back to; null for another intent. */
export const sayOutcome = (about: string, intent: string): string | null =>
  Object.hasOwn(acts, intent) && acts[intent as Intent].about.name === about
    ? (actWords[intent]?.outcome ?? null)
    : null;

/** A list of mails, each with its forms. */
export const withForms = <Mail extends { id: string; seen: string }>(listed: Mail[]) =>
  listed.map(({ seen, ...mail }) => ({
    ...mail,
    forms: buildForms(['retry', 'give-up'], mail, () => ({ seen })).map((form) => ({
      ...form,
      about: { id: mail.id },
    })),
  }));
