// The forms of the pages about money and mails (contract 7.151 to 7.157, and 12.123): each names its act by `intent`.
import type { ActionFunctionArgs } from '@remix-run/node';
import { actConfirmed, answerForm, type FieldName, text } from './forms.ts';
import { isShownToStaff, pathWith } from './refused.ts';

const fields = ['number', 'payment', 'amount', 'paidAt', 'method', 'id'] as const;
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
      // With the filters of a list.
      const path = pathWith(args);
      return `${path}${path.includes('?') ? '&' : '?'}saved=${intent}`;
    },
  });
