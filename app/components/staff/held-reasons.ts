/** Why a period is held, by its code (contract 7.67). */
export const heldReasons: Record<string, string> = {
  account_erased: 'The account is erased, so there is nobody to invoice. It is not tried again.',
  no_tax_rule: 'No tax rule fits. Add one in the settings.',
  tax_currency: 'Its price is in another currency than yours, and tax would be charged.',
  price_too_high: 'Its price is too high for an invoice.',
};
