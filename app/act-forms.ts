// The forms by which staff act (contract 7.151 to 7.157, 11.47 and 12.123). The field `intent` of a form names its act.
import { type ActionFunctionArgs, data } from '@remix-run/node';
import type { Procedures } from '../server/doors/trpc/router.ts';
import { actConfirmed, answerForm, text } from './forms.ts';
import { type Args, isShownToStaff, pathWith } from './refused.ts';

/**
 * Whether the value of the field `name` must be neither stored nor shown a second time. A postcode is no secret, so `postcode`
 * does not match.
 */
export const isSecret = (name: string) => /^confirm|password|passkey|(?<!post)code|token/i.test(name);

/**
 * `given` returns values from the page's path, such as the id of the person. It is called only after the sender was found to be
 * staff, so nobody else sees a refusal that it throws.
 */
export const answerAct = (
  args: ActionFunctionArgs,
  about: Parameters<Procedures['staffForms']['act']>[0]['about'],
  given: () => Record<string, string> = () => ({}),
) =>
  answerForm(args, {
    keeps: (name) => !isSecret(name),
    shows: isShownToStaff,
    // A client may have 20 URLs, so a refused form about a client may be large.
    isLarge: about === 'client',
    async act(form, procedures) {
      // Redirects people who are not staff any more or must give a credential. This comes before the form is checked.
      await procedures.staffForms.who();
      const fromPath = given();
      const intent = text(form, 'intent');
      const typed = Object.fromEntries([...form].filter(([name]) => !isSecret(name)));
      const reason = { known: text(form, 'known'), why: text(form, 'why') };
      const asked = { about, intent, ...reason, seen: text(form, 'seen') };
      const done = await actConfirmed(args, { procedures, form }, () =>
        procedures.staffForms.act({ ...asked, given: { ...typed, ...fromPath } }),
      );
      if (isTold(done)) return data({ told: done }, { headers: { 'Cache-Control': 'no-store' } });
      // Keeps the filters of the list from which the reader came to this page.
      const path = pathWith(args);
      return `${path}${path.includes('?') ? '&' : '?'}saved=${intent}`;
    },
  });

/**
 * Facts that only the answer to the form can show, because they are not stored: a secret, or whether a client accepted the
 * webhook.
 */
export type Told = { client?: string; secret?: string; taken?: boolean; reason?: string | null };

const isTold = (done: unknown): done is Told =>
  typeof done === 'object' && done !== null && ('secret' in done || 'taken' in done);

/** Says what was done by the form that led back to this page. Null if no form led here. */
export function loadOutcome({ context, request }: Args, about: string): Promise<string | null> {
  const intent = context.transport.readQuery(request).get('saved') ?? '';
  return context.procedures.staffForms.outcome({ about, intent });
}
