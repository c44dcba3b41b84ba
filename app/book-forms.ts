// The forms of the pages about money (contract 7.151 to 7.157): each names its act by `intent`.
import type { ActionFunctionArgs } from '@remix-run/node';
import { answerForm, type FieldName, requireNoAsks, text } from './forms.ts';
import { isShownToStaff, pagePath } from './refused.ts';

const fields = ['number', 'payment', 'amount', 'paidAt', 'method'] as const;
const keeps: FieldName[] = ['why', 'seen', ...fields];

/** `number`: of the invoice, where the page is about one. */
export const answerBookForm = (args: ActionFunctionArgs, { number }: { number?: string } = {}) =>
  answerForm(args, {
    keeps,
    shows: isShownToStaff,
    async act(form, procedures) {
      const { transport, visit } = args.context;
      // Who is no staff any more, or has not given what staff must give, is led away before anything else is asked for.
      await procedures.staffForms.who();
      const intent = text(form, 'intent');
      const typed = fields.flatMap((name) => {
        const value = form.get(name);
        return value === undefined ? [] : [[name, value]];
      });
      const given = { ...Object.fromEntries(typed), ...(number !== undefined && { number }) };
      const act = () =>
        procedures.booksForms.act({ intent, why: text(form, 'why'), seen: text(form, 'seen'), given });
      try {
        await act();
      } catch (error) {
        // What nobody may do is refused before a credential is asked for (contract 12.14).
        if (transport.readRefusal(error, visit).code !== 'login_required') throw error;
        requireNoAsks(await procedures.confirm.ask({ form }));
        await act();
      }
      return `${pagePath(args.request)}?saved=${intent}`;
    },
  });
