// What is wrong with a form, in words. A refused form keeps the name of its fault (contract 9.173), and another version
// of this service may read the name. So never change a name.
export const faultWords = {
  name_missing: 'Enter a name.',
  name_too_long: 'Use no more than 200 characters.',
  name_not_shown: 'Remove characters that cannot be shown, such as control characters.',
  time_zone_unknown: 'Choose a time zone from the list.',
  email_malformed: 'Enter an email address in the correct format, like name@example.com.',
  /** The page names the address that is likely meant (server/identity/ground/mail-hosts.ts). */
  email_slip: 'Check the address. If it is right, continue.',
  email_same: 'This is already your email address.',
  email_left:
    'You changed from this address a short while ago. To change back to it, use the link in the email that we sent there.',
  password_short: 'Your password must be at least 12 characters long.',
  password_long: 'Your password must be no more than 128 characters long.',
  password_easy: 'This password is too easy to guess. Choose a different one.',
  passwords_refused: 'Too many passwords have been refused in a short time.',
  password_same: 'This is your current password. Choose another one.',
  password_wrong: 'This is not your current password.',
  confirm_wrong: 'The password is incorrect. Try again.',
  passkey_refused: 'The passkey was not accepted. Try again.',
  passkey_not_added: 'The passkey could not be added. Try again.',
  passkey_last:
    'This is your only way to log in, so it was not removed. Set a password or add another passkey first.',
  passkey_gone: 'This passkey does not exist or has already been removed.',
  passkeys_full: 'You cannot have more than 20 passkeys.',
  code_wrong: 'This code is wrong or has already been used. Enter another one.',
  code_of_app_wrong:
    'This code is wrong. Enter the one that the app shows now. If that does not work, check that the clock on your phone is right.',
  code_of_other_time:
    'This code is for another time, so the clock on your phone may be off. Set the date and time on your phone to automatic, and enter the code that the app shows then.',
  code_missing: 'Enter a code from your authenticator app, or a recovery code.',
  code_or_passkey_missing: 'Enter a code from your authenticator app, or a recovery code, or use a passkey.',
  passkey_missing: 'Use one of your passkeys.',
  codes_used_up:
    'Too many wrong codes have been entered with this link. Use a passkey or the link in another of our emails, or freeze the account.',
  codes_used_up_for_address:
    'Too many wrong codes have been entered with this link. Use a passkey, or contact support.',
  why_length: 'Say why in 3 to 500 characters.',
  why_not_shown: 'Say why on one line, without characters that cannot be shown.',
  note_length: 'Write 1 to 500 characters.',
  note_not_shown: 'Write on one line, without characters that cannot be shown.',
  note_gone: 'This note does not exist or has already been deleted.',
  notes_full: 'There are 100 notes on this person already. An administrator can delete some.',
  choice_missing: 'Choose one.',
  client_name: 'Use 1 to 63 lower-case letters, digits and underscores. The first one must be a letter.',
  client_reserved: 'This name is reserved, or the settings of this service have a client with this name.',
  client_taken:
    'A client already has this name. It keeps the name even if it is off, because a client is never deleted.',
  clients_full: 'There are 200 clients in the database already.',
  client_in_settings: 'The settings of this service name this client, so only the settings count.',
  client_kind: 'The kind of a client must be hand-off or openid.',
  client_kind_other: 'The database has a client of another kind with this name.',
  client_of_hand_off: 'Only clients of the kind hand-off have this.',
  client_of_openid: 'Only clients of the kind openid have this.',
  client_pkce: 'A client that shows no secret must use PKCE: required.',
  client_title: 'Use 1 to 60 characters that can be shown.',
  client_words: 'Enter one or more of the listed words, separated by commas.',
  client_secrets_full: 'The client has two secrets already. End one of them first.',
  client_secret_last: 'This is the only secret of the client, so it was not ended. First make a second one.',
  webhook_none: 'The client is off, waits to be confirmed, or has no address for webhooks.',
  address_long: 'Use no more than 2,000 characters.',
  address_https: 'Enter a URL that starts with https://.',
  address_http: 'Enter a URL that starts with http:// or https://.',
  address_parts: 'The URL must not have a fragment, a user name, a password or a *.',
  address_elsewhere: 'In local mode, the URL must be on localhost, 127.0.0.1, [::1] or host.docker.internal.',
  address_here: 'In production, the URL must not be on this machine.',
  address_number: 'The URL must have the name of a host, not its IP address.',
  address_spelling:
    'Write the URL as browsers do: the host in lower case, a slash after it, and special characters percent-encoded.',
  addresses_missing: 'Enter at least one address.',
  addresses_many: 'Enter no more than 20 addresses, each only once, separated by spaces or line ends.',
  redirect_parameters:
    'The query of the URL must not have code, state, iss, error, error_description, error_uri or response.',
  address_parameters:
    'The query of the URL must not have payload, signature, signature_next, state or error.',
  told_later:
    'We emailed another address of the account first. Only the link in that email can freeze the account.',
  keep_unknown: 'The account does not have this address.',
  email_of_other: 'Somebody has this address already, or could have it back. Find them under People.',
  mails_five: 'Staff have sent this person five such emails within an hour.',
  role_not_fit:
    'A role takes a verified address, a password or passkey, and no marketplace account that is connected.',
  link_gone: 'This account is no longer connected.',
  session_gone: 'This session does not exist or has already ended.',
  currency_missing: 'There is no invoice with this number, so give --currency, too.',
  currency_unknown: 'Must be an ISO 4217 code, such as EUR.',
  amount_malformed: 'Enter an amount above zero, such as 29.00, with as many digits as the currency has.',
  amount_too_high: 'This is more than one payment or credit can be. Divide it.',
  day_malformed: 'Enter a day from 2000 to today.',
  day_none: 'Enter a day, such as 2026-01-31.',
  day_ahead: 'The last day must not be after today.',
  days_turned: 'Must not be after the last day.',
  method_length: 'Use 1 to 60 characters that can be shown.',
  payment_id_malformed: 'Use 1 to 128 of the characters A-Z a-z 0-9 _ . : -',
  payment_reused: 'A payment with this id is recorded already, with another amount, day or invoice.',
  credit_too_much: 'This is more than is left of the invoice.',
  credit_all_has_amount: 'Leave the amount empty, or choose a part.',
  credit_part_of_old: 'This invoice has no tax document, so it can only be credited whole.',
  reissue_credited: 'A part of this invoice is credited already, so it cannot be issued again.',
  reissue_no_document: 'This invoice has no tax document, so it cannot be issued again.',
  reissue_same: 'Buyer and tax would be the same, so nothing was issued. Correct a detail first.',
  reissue_tax:
    'With these details the tax changes or waits for a decision, so nothing was done. Choose “Change the billing details”, decide there, then issue the invoice again.',
  reissue_no_buyer: 'The customer has left, so there is nobody to issue it to.',
  blocked_country_unread:
    'The country in the customer’s billing address could not be read. Ask them to enter it under Billing.',
  blocked_vat_id_unchecked:
    'Nobody has checked the customer’s VAT ID, which decides the tax. Say first whether it is checked.',
  blocked_no_tax_rule: 'No tax rule of the settings fits this customer and period.',
  blocked_tax_currency: 'Tax would be due, but the invoice is not in the seller’s currency.',
  blocked_price_too_high: 'The price is too high for an invoice.',
  refund_early: 'We do not know this payment yet. Send the refund again after the payment.',
  allocate_currency: 'This invoice is in another currency than the payment.',
  invoice_unknown: 'There is no invoice with this number.',
  // Keep these words equal to the ones in server/billing/values/billing-text.ts.
  text_missing: 'Enter a text.',
  text_not_shown: 'Use one line, without characters that cannot be shown.',
  text_long_30: 'Use no more than 30 characters.',
  text_long_100: 'Use no more than 100 characters.',
  address_part_missing: 'Fill this in too, or leave the whole address empty.',
  country_missing: 'Choose a country too, or leave the whole address empty.',
  vat_id_malformed:
    'This is not a VAT ID of the country in the address. Check both, or leave the VAT ID empty.',
  vat_id_digits: 'A digit or letter of this VAT ID is wrong. Compare it with the one on your papers.',
  vat_id_other: 'The account has another VAT ID by now.',
  country_not_waiting: 'This country does not wait for a decision any more.',
  contract_unknown: 'Your account does not have this contract.',
  contract_ended: 'This contract has already ended.',
  cancel_not_offered: 'This contract cannot be canceled here. Contact us to cancel it.',
  contract_ends_by_report: 'The seller has ended this contract. To keep it, please ask them.',
  contract_kept_late: 'This contract has already ended, so it cannot be kept.',
  search_long: 'Search for no more than 200 characters.',
} as const;

export type FaultName = keyof typeof faultWords;

const names = new Map(
  Object.entries(faultWords).map(([name, words]) => [words as string, name as FaultName]),
);

export const nameFault = (words: string): FaultName | undefined => names.get(words);

export const isFaultName = (name: string): name is FaultName => Object.hasOwn(faultWords, name);
