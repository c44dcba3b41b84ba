// Every text from outside is cut here before any other code works on it, because some work, such as matching, takes time that
// grows with the square of the length. A cut text is still one code unit too long, so the rule for the text refuses it.
import { z } from 'zod';

/** Fields for a line of a bank statement. Their names end with the number of the line, such as `to-2`. */
const lineBounds = { line: 8_000, to: 300 } as const;

/** Fields for a row of a table in a form. Their names end with the number of the row, such as `rate-2`. */
const rowBounds = {
  plan: 100,
  planTitle: 800,
  planDescription: 2_000,
  planPrice: 40,
  planLink: 1_000,
  ruleCountry: 40,
  ruleRate: 40,
  ruleCategory: 40,
  ruleWords: 1_200,
  ruleFrom: 40,
} as const;

export type RowField = keyof typeof rowBounds;

const numberedBounds: Record<string, number> = { ...lineBounds, ...rowBounds };

export const billingBounds = {
  sellerName: 800,
  line1: 400,
  line2: 400,
  postcode: 400,
  city: 400,
  country: 40,
  vatId: 100,
  taxNumber: 200,
  invoicePrefix: 40,
  creditNotePrefix: 40,
  daysToPay: 40,
  firstReminder: 40,
  secondReminder: 40,
  pastDueAfter: 40,
  invoiceWhilePastDue: 40,
  customersMayCancel: 40,
  prices: 40,
  reverseChargeWords: 1_200,
  timeZone: 100,
  currency: 40,
  iban: 100,
  bic: 100,
  foot: 2_000,
  paymentText: 2_000,
  paymentLink: 1_000,
} as const;

/**
 * Form fields, parameters of URLs, and strings in the input of procedures. Fields and parameters with other names are not read.
 */
export const textBounds = {
  // Texts that people type. They are trimmed and normalised only after this.
  email: 320,
  name: 800,
  accountName: 800,
  password: 1_024,
  currentPassword: 1_024,
  newPassword: 1_024,
  confirmPassword: 1_024,
  confirmCode: 100,
  code: 100,

  // Texts that our scripts and pages send back.
  passkey: 16_384,
  confirmPasskey: 16_384,
  intent: 40,
  purpose: 40,
  can_add_passkey: 40,
  meant: 40,
  id: 100,
  externalId: 256,
  session: 100,
  profile_updated_at: 40,
  sure: 40,
  q: 800,
  sort: 40,
  role: 40,
  seen: 100,
  kind: 100,
  capability: 100,
  what: 100,
  decision: 40,
  verification: 40,
  manage_storefront: 40,
  sell_media_inventory: 40,
  sell_products: 40,
  sell_services: 40,
  keep: 320,
  removeFactors: 40,
  // Names, email addresses or ids.
  person: 800,
  staff: 800,
  looks: 40,
  before: 100,
  file: 40,
  from: 40,
  to: 40,
  number: 300,
  signup: 256,
  payment: 300,
  amount: 40,
  credits: 40,
  paidAt: 40,
  method: 300,
  // `all`, or the id of a line.
  accept: 100,
  contract: 100,
  token: 100,
  saved: 40,
  edit: 40,
  of: 40,
  use: 40,
  sent: 40,
  off: 40,
  refused: 40,
  // 500 code points, and the spaces around them.
  why: 1_100,
  known: 200,
  text: 1_100,
  note: 100,
  recovered: 40,
  logged_out: 40,
  new_password: 40,
  next: 8_192,
  stay: 40,

  // Billing details that are not in `billingBounds`.
  company: 800,
  invoiceEmail: 320,
  checked: 40,
  accepted: 40,

  // Texts that clients and the CRM send.
  client: 100,
  title: 400,
  callback: 2_000,
  loginUrl: 2_000,
  eventsUrl: 2_000,
  // 20 addresses, and what separates them.
  redirectUris: 42_000,
  postLogoutUris: 42_000,
  backChannelUri: 2_000,
  pkce: 40,
  auth: 40,
  listed: 200,
  roles: 100,
  factor: 40,
  which: 40,
  return_to: 8_192,
  state: 512,
  // Texts that clients of OpenID Connect send to /oauth/token.
  grant_type: 100,
  client_id: 100,
  client_secret: 200,
  redirect_uri: 2_000,
  code_verifier: 128,
  prompt: 40,
  max_age: 40,
  auth_after: 40,
  after: 100,
  limit: 40,
  wait: 40,
  payload: 8_192,
  signature: 100,
  signature_next: 100,

  ...billingBounds,
} as const;

export type TextName = keyof typeof textBounds | `${RowField | keyof typeof lineBounds}-${number}`;

/** The bound of each header. The runtime bounds the length of all headers together. */
export const headerBounds = {
  accept: 1_024,
  'accept-encoding': 200,
  authorization: 1_024,
  'content-type': 1_024,
  cookie: 16_384,
  host: 1_024,
  'if-none-match': 4_096,
  origin: 1_024,
  referer: 16_384,
  'sec-fetch-mode': 40,
  'sec-fetch-site': 40,
  'sec-fetch-user': 40,
  'sec-purpose': 1_024,
  traceparent: 1_024,
  'user-agent': 400,
  'webhook-id': 256,
  'webhook-signature': 4_096,
  'webhook-timestamp': 40,
  'x-forwarded-for': 2_048,
} as const;

/** The bound for a header that a setting names. One of our own proxies sends it. */
const otherHeaderBound = 1_024;

/** Decodes percent-encoding. Text that is not valid stays as it is. */
export function decodeIfPossible(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Keeps one code unit more than the bound, so that the rule for the text refuses it. */
export const cutText = (text: string, bound: number): string =>
  text.length > bound ? text.slice(0, bound + 1) : text;

/** Drops pairs whose name the service does not know, and cuts the text of all other pairs. */
export function* cutPairs(pairs: Iterable<[string, string]>): Iterable<[TextName, string]> {
  for (const [name, text] of pairs) {
    const bound = findBound(name);
    if (bound !== undefined) yield [name as TextName, cutText(text, bound)];
  }
}

function findBound(name: string): number | undefined {
  if (Object.hasOwn(textBounds, name)) return textBounds[name as keyof typeof textBounds];
  const [, field = ''] = /^(\w{1,40})-\d{1,3}$/.exec(name) ?? [];
  return Object.hasOwn(numberedBounds, field) ? numberedBounds[field] : undefined;
}

export const textSchema = (name: keyof typeof textBounds) =>
  z
    .string()
    .meta({ maxLength: textBounds[name] })
    .transform((text) => cutText(text, textBounds[name]));

type HeaderName = keyof typeof headerBounds;

export function readHeader(headers: Headers, name: HeaderName): string | null {
  const text = headers.get(name);
  return text && cutText(text, headerBounds[name]);
}

/** Reads only the end of a header, because our proxies add to its end. */
export const readHeaderEnd = (headers: Headers, name: HeaderName): string =>
  (headers.get(name) ?? '').slice(-headerBounds[name]);

export function readNamedHeader(headers: Headers, name: string): string {
  return cutText(headers.get(name) ?? '', otherHeaderBound);
}
