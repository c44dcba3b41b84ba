// The forms of the pages about money (contract 7.151 to 7.157): each names its act by `intent`.
import type { ActionFunctionArgs } from '@remix-run/node';
import { actConfirmed, answerForm, type FieldName, text } from './forms.ts';
import { isShownToStaff, pagePath } from './refused.ts';

const fields = ['number', 'payment', 'amount', 'paidAt', 'method'] as const;
const keeps: FieldName[] = ['why', 'seen', ...fields];

/** `number`: of the invoice, where the page is about one. */
export const answerBookForm = (args: ActionFunctionArgs, { number }: { number?: string } = {}) =>
  answerForm(args, {
    keeps,
    shows: isShownToStaff,
    async act(form, procedures) {
      // Who is no staff any more, or has not given what staff must give, is led away before anything else is asked for.
      await procedures.staffForms.who();
      const intent = text(form, 'intent');
      const typed = fields.flatMap((name) => {
        const value = form.get(name);
        return value === undefined ? [] : [[name, value]];
      });
      const given = { ...Object.fromEntries(typed), ...(number !== undefined && { number }) };
      await actConfirmed(args, { procedures, form }, () =>
        procedures.booksForms.act({ intent, why: text(form, 'why'), seen: text(form, 'seen'), given }),
      );
      return `${pagePath(args.request)}?saved=${intent}`;
    },
  });
