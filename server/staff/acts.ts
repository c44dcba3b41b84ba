// Every act of staff and administrators, by the intent of its form.
import type { AnyAct } from '../acts/act.ts';
import { stopSettings } from '../billing/settings/set-settings.ts';
import { clientActs } from './client-acts.ts';
import { invitationActs } from './invitations.ts';
import { mailActs } from './mails.ts';
import { paymentActs, paymentsByCommand } from './payment-acts.ts';
import { peopleActs } from './people-acts.ts';

export const acts = {
  ...peopleActs,
  ...paymentActs,
  ...mailActs,
  ...invitationActs,
  ...clientActs,
  stop: stopSettings,
} satisfies Record<string, AnyAct>;

export type Intent = keyof typeof acts;

/** The acts that have a command, with the intent that the command prints. */
export const actsByCommand: [intent: string, act: AnyAct][] = [
  ...Object.entries<AnyAct>(acts),
  ...paymentsByCommand,
].filter(([, { command }]) => command !== undefined);

export const isIntent = (text: string): text is Intent => Object.hasOwn(acts, text);
