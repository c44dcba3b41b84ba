// What administrators do with the settings of billing (contract sections 7a and 11).
import { z } from 'zod';
import { actAsStaff } from '../../acts/act.ts';
import { describeSettings } from '../../billing/settings/describe-settings.ts';
import { stateSetSettings } from '../../billing/settings/set-settings.ts';
import { readSettings, writeSettings } from '../../billing/settings/settings.ts';
import {
  describeSettingsForm,
  memberNames,
  nameSettingsField,
  readSettingsForm,
  writeSettingsForm,
} from '../../billing/settings/settings-form.ts';
import { exampleSettings } from '../demo/example-settings.ts';
import { text } from './acts.ts';
import { allowed, router } from './init.ts';

const asked = { why: text('why'), seen: text('seen') };

export const adminBillingRouter = router({
  /** The settings in force, the pending settings, and the newest versions. */
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
  /** The answer of `admin.billing.settings`, and the form with what its fields hold. */
  settings: allowed('billing.settings')
    .input(z.object({ isExample: z.boolean() }))
    .query(async ({ ctx, input: { isExample } }) => {
      const described = await describeSettings(ctx.deps.db);
      const latest = described.pending ?? described.inForce;
      const example = latest || ctx.deps.config.production ? undefined : writeSettings(exampleSettings);
      return {
        ...described,
        sections: describeSettingsForm(),
        hasExample: example !== undefined,
        fields: writeSettingsForm((isExample && example) || latest?.settings),
        memberNames,
      };
    }),
  setSettings: allowed('billing.settings')
    .input(z.object({ ...asked, fields: z.record(z.string(), z.string()) }))
    .mutation(({ ctx, input: { fields, ...more } }) => {
      const named = (pointer: string) => nameSettingsField(fields, pointer);
      return actAsStaff(
        ctx.deps,
        ctx,
        stateSetSettings(() => readSettingsForm(fields), named),
        more,
      );
    }),
});
