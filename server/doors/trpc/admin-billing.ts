// The procedures for what administrators do with the billing settings (contract sections 7a and 11).
import { z } from 'zod';
import { actAsStaff } from '../../acts/act.ts';
import { describeSettings } from '../../billing/settings/describe-settings.ts';
import { findVersions, stateSetSettings } from '../../billing/settings/set-settings.ts';
import { invoicesPastDue, readSettings } from '../../billing/settings/settings.ts';
import {
  describeSettingsForm,
  memberNames,
  nameSettingsField,
  readSettingsForm,
  writeSettingsForm,
} from '../../billing/settings/settings-form.ts';
import { text } from './acts.ts';
import { allowed, router } from './init.ts';

const asked = { why: text('why'), seen: text('seen') };

export const adminBillingRouter = router({
  /** Returns the settings in force, the pending settings, and the newest versions. */
  settings: allowed('billing.settings').query(({ ctx }) => describeSettings(ctx.deps.db)),
  setSettings: allowed('billing.settings')
    .input(z.object({ ...asked, settings: z.unknown().optional() }))
    .mutation(({ ctx, input: { settings, ...more } }) =>
      actAsStaff(
        ctx.deps,
        ctx,
        stateSetSettings(() => readSettings(settings)),
        more,
      ),
    ),
});

export const billingFormsRouter = router({
  /** The answer of `admin.billing.settings`, and the form with the values of its fields. */
  settings: allowed('billing.settings').query(async ({ ctx }) => {
    const described = await describeSettings(ctx.deps.db);
    const latest = described.pending ?? described.inForce;
    return {
      ...described,
      sections: describeSettingsForm(),
      fields: writeSettingsForm(latest?.settings),
      memberNames,
    };
  }),
  setSettings: allowed('billing.settings')
    .input(z.object({ ...asked, fields: z.record(z.string(), z.string()) }))
    .mutation(async ({ ctx, input: { fields: given, ...more } }) => {
      // A form from a page of version 1.0.0 lacks `invoiceWhilePastDue`. Saving such a form must not change the setting.
      const inForce = (await findVersions(ctx.deps.db)).inForce?.settings;
      const invoiceWhilePastDue = !inForce || invoicesPastDue(inForce) ? 'yes' : 'no';
      const fields = { invoiceWhilePastDue, ...given };
      const named = (pointer: string) => nameSettingsField(fields, pointer);
      return actAsStaff(
        ctx.deps,
        ctx,
        stateSetSettings(() => readSettingsForm(fields), named),
        more,
      );
    }),
});
