// Every refusal that leaves this service: its code, its status and what it says to people (contract 9.84 to 9.97).

export const problems = {
  invalid_request: [
    400,
    'This request is not valid',
    'A parameter is missing, repeated or in the wrong format. Correct it and try again.',
  ],
  malformed_payload: [
    400,
    'We could not read the login link',
    'The payload or signature has the wrong length, characters, JSON or fields. Go back to the site you came from and try again.',
  ],
  malformed_json: [
    400,
    'We could not read the JSON',
    'The body must be strict JSON: UTF-8, no duplicate names in an object, and at most 16 levels deep.',
  ],
  login_required: [
    401,
    'Log in to continue',
    'You are not logged in, or your session has ended. Log in and try again.',
  ],
  invalid_signature: [
    401,
    'We could not verify the login link',
    'The signature does not match the payload, or the payload was made by or for another service. Go back to the site you came from and try again.',
  ],
  payload_expired: [
    401,
    'This login link is not valid right now',
    'A login link from another site is valid for only a few minutes. This one is too old, or its times are not valid. Go back to the site you came from and try again.',
  ],
  invalid_webhook_signature: [
    401,
    'We could not verify the webhook',
    'The webhook-id, webhook-timestamp or webhook-signature header is missing, out of date or does not match the body. Sign the body exactly as you send it.',
  ],
  invalid_token: [
    401,
    'We could not verify the token',
    'The Authorization header must carry the bearer token of a client that may read this.',
  ],
  account_suspended: [
    403,
    'Your account is suspended',
    'You cannot log in while your account is suspended. Contact support for help.',
  ],
  account_frozen: [
    403,
    'Your account is frozen',
    'This account is frozen, because someone else may have got in. Nobody can log in until we know who the owner is. Contact support for help.',
  ],
  admin_not_allowed: [
    403,
    'Administrators must log in here',
    'Administrators and managers cannot log in through another site. Log in here instead.',
  ],
  client_not_allowed: [
    403,
    'You cannot open this product',
    'This product is not open to your account. Log in with another account, if you have one. Contact support if you think that this is wrong.',
  ],
  not_allowed: [403, 'This is not allowed', 'Your role may not do this to this person.'],
  second_factor_required: [
    403,
    'Set up a second factor first',
    'Administrators and managers need a second factor to log in, such as an authenticator app. Set one up, then try again.',
  ],
  cross_site_request: [
    403,
    'This request came from another site',
    'You can only make changes from our own pages. Open the page here and try again.',
  ],
  email_unverified: [
    403,
    'Verify your email address',
    'You need to verify your email address before you can continue. Verify it, then try again.',
  ],
  unknown_client: [
    404,
    'We do not recognise this product',
    'You cannot log in to a product with this name. Check the address.',
  ],
  not_configured: [404, 'This is not available here', 'It has not been set up on this service.'],
  not_found: [
    404,
    'Page not found',
    'Check that the address is correct. The page may have been moved or deleted.',
  ],
  method_not_allowed: [
    405,
    'This method is not allowed',
    'This address does not accept this HTTP method. The Allow header lists the methods it accepts.',
  ],
  nonce_replayed: [
    409,
    'This login link has already been used',
    'A login link from another site works only once. Go back to the site you came from and try again.',
  ],
  request_in_progress: [
    409,
    'This request is already in progress',
    'We are still processing the same request. Try again in a moment.',
  ],
  email_in_use: [
    409,
    'This email address is already in use',
    'Another account already uses this email address. Contact support if it is yours.',
  ],
  edited_meanwhile: [
    409,
    'The profile has changed',
    'This profile was changed after you read it. Read it again, then make your change.',
  ],
  already_settled: [
    409,
    'Nothing is left to settle',
    'Nothing is left to pay, credit, allocate or pay back, so nothing was changed.',
  ],
  billing_paused: [
    409,
    'Billing waits',
    'The database was restored, and nothing is issued or credited until an operator runs billing:resume.',
  ],
  last_admin: [
    409,
    'This is the last administrator',
    'Nobody could look after the service without this person. Make someone else an administrator first.',
  ],
  events_gone: [
    410,
    'These events are no longer kept',
    'We cannot continue from this event number: it is too old, was never used, or our database was restored from a backup. End your sessions, delete your cached profiles, and continue from oldest - 1.',
  ],
  body_too_large: [413, 'The request is too large', 'The request body is larger than this address accepts.'],
  uri_too_long: [414, 'The address is too long', 'The address of this request is longer than we read.'],
  unsupported_media_type: [
    415,
    'This content type is not supported',
    'This address does not accept the Content-Type or Content-Encoding of your request.',
  ],
  validation_failed: [
    422,
    'Check what you entered',
    'One or more values are not valid. Correct them and try again.',
  ],
  idempotency_key_reused: [
    422,
    'This webhook-id has already been used',
    'You have sent a different body with this webhook-id. Use a new id for each new message.',
  ],
  rate_limited: [
    429,
    'Too many attempts',
    'There have been too many attempts in a short time. Wait a while, then try again.',
  ],
  headers_too_large: [
    431,
    'Your browser sent too much',
    'The address and the headers of this request, with its cookies, come to more than the 16 KB that we read. Delete the cookies that your browser keeps for this site, then log in again.',
  ],
  internal_error: [
    500,
    'Sorry, something went wrong',
    'The problem is on our side, and we have logged it. Try again in a moment.',
  ],
  unavailable: [
    503,
    'Sorry, the service is unavailable',
    'We are too busy, or cannot reach our database, right now. Nothing has been lost. Try again in a moment.',
  ],
} as const satisfies Record<string, readonly [status: number, title: string, explanation: string]>;

/** The details of `payload_expired`, by its reason. The sender signed the times, so they are no secret. */
export const timeDetails: Record<string, string> = {
  exp: 'This login link is too old: it was valid for only a few minutes. Go back to the site you came from and try again. If a new link is too old as well, a clock is wrong, there or here: tell support.',
  'iat before restore':
    'This login link was made before we restored our service, so we cannot tell whether it has been used. Go back to the site you came from and try again.',
  'iat in the future':
    'This login link is dated in the future, because the clock of the site you came from is not the same as ours. Go back and try again later. If that does not help, tell support that a clock is wrong.',
  lifetime:
    'This login link would be valid for too long, or for no time at all. The site you came from must correct this.',
  'profile_updated_at in the future':
    'This login link says that your profile was changed in the future. The site you came from must correct this.',
};

export type ProblemCode = keyof typeof problems;

export function isProblemCode(code: string): code is ProblemCode {
  return Object.hasOwn(problems, code);
}
