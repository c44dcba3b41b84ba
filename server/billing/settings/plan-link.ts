// Where a customer goes on after a trial (contract 7.470).
import type { BillingSettings } from './settings.ts';

/** Settings from before the member have none. */
export const findPlanLink = (settings: BillingSettings | undefined, plan: string): string | undefined =>
  settings?.plans[plan]?.link;
