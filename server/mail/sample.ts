// Makes a sample invoice, credit note and reminder from given settings. So a seller can look at them before the first customer
// comes (contract 7.496 to 7.498).
import { sayDay } from '../basics/day-words.ts';
import type { SampleToMake } from '../billing/documents/pdf.ts';
import { buildSampleFacts } from '../billing/invoices/sample.ts';
import type { BillingSettings } from '../billing/settings/settings.ts';
import type { Config } from '../settings/config.ts';
import { sayDocument } from './billing-mails.ts';
import { billingMails } from './billing-words.ts';
import { layOut, styleOf } from './layout.ts';

export function composeSample(
  config: Config,
  settings: BillingSettings,
  now: Date,
): Omit<SampleToMake, 'look'> {
  const { invoice, creditNote } = buildSampleFacts(settings, now);
  const words = sayDocument(invoice, settings.seller, config.baseUrl);
  const message = billingMails.invoice_reminder_1({
    ...words,
    hasLogin: true,
    open: words.total,
    due: sayDay(invoice.due_on ?? invoice.issued_on),
  });
  return { invoice, creditNote, reminder: layOut(message, styleOf(config)) };
}
