// Every refusal that leaves this service: one code, its status, and the words for people (contract section 9).
// What a refusal says is decided here and in http.ts; `reason` is for logs and the audit trail only.
import type { z } from 'zod';

export const problems = {
  invalid_request: [400, 'The request is not right', 'A parameter is missing, repeated, or not of its form.'],
  malformed_payload: [
    400,
    'The hand-off is not readable',
    'The payload or its signature is not of the form that a hand-off has: its length, its alphabet, its JSON or its members.',
  ],
  malformed_json: [
    400,
    'The JSON is not readable',
    'The body is not strict JSON: UTF-8, no name twice in one object, at most 16 levels deep.',
  ],
  login_required: [401, 'Please log in', 'This needs a login here, and there is none, or it has ended.'],
  invalid_signature: [
    401,
    'The hand-off is not genuine',
    'The signature does not match the payload, or the payload was made by or for somebody else.',
  ],
  payload_expired: [
    401,
    'The hand-off has expired',
    'A hand-off is good for a few minutes only, and this one is too old, or from the future. Start again from where you came.',
  ],
  invalid_webhook_signature: [
    401,
    'The message is not genuine',
    'One of the headers webhook-id, webhook-timestamp and webhook-signature is missing or does not match the body.',
  ],
  account_suspended: [
    403,
    'This login is suspended',
    'The password is right, but this login has been suspended. Please contact support.',
  ],
  admin_not_allowed: [
    403,
    'Not possible for this address',
    'Administrators and managers log in here directly, never through a hand-off.',
  ],
  cross_site_request: [
    403,
    'The request came from another site',
    'Changes are accepted from our own pages only. Open the page here and try again.',
  ],
  email_unverified: [
    403,
    'Please verify your e-mail address',
    'Your e-mail address has to be verified before other products can rely on it.',
  ],
  unknown_client: [
    404,
    'We do not know this product',
    'There is no product of this name that a login could be carried to.',
  ],
  not_configured: [404, 'Not switched on', 'This part of the service is not set up here.'],
  not_found: [404, 'There is no such page', 'The address may be mistyped, or the page may have moved.'],
  method_not_allowed: [
    405,
    'Not possible in this way',
    'This address exists, but not for this method. The Allow header names those that work.',
  ],
  nonce_replayed: [
    409,
    'The hand-off was used before',
    'A hand-off works once only. Start again from where you came.',
  ],
  request_in_progress: [
    409,
    'Already being worked on',
    'The same request is being worked on right now. Try again in a moment.',
  ],
  email_in_use: [409, 'This address is taken', 'The e-mail address belongs to somebody else here.'],
  body_too_large: [413, 'Too much at once', 'The body of the request is larger than this address accepts.'],
  unsupported_media_type: [
    415,
    'Not a type that works here',
    'The Content-Type of the request is not the one that this address reads.',
  ],
  validation_failed: [422, 'Please check what you entered', 'One or more of the values cannot be accepted.'],
  idempotency_key_reused: [
    422,
    'The same id with another body',
    'This webhook-id was used before, with another body. Every new message needs an id of its own.',
  ],
  rate_limited: [
    429,
    'Too many tries',
    'There were too many tries in a short time. Wait a little, then try again.',
  ],
  internal_error: [
    500,
    'Something went wrong here',
    'This is a fault of ours. It has been recorded; please try again in a moment.',
  ],
  unavailable: [
    503,
    'Back in a moment',
    'The service cannot reach its data right now. Nothing is lost; please try again in a moment.',
  ],
} as const satisfies Record<string, readonly [status: number, title: string, explanation: string]>;

export type ProblemCode = keyof typeof problems;

export function isProblemCode(code: string): code is ProblemCode {
  return Object.hasOwn(problems, code);
}

/** RFC 6901 pointer to the member at fault, and what is wrong with it, in words for people. */
export type FieldError = { pointer: string; detail: string };

export function toFieldErrors({ issues }: z.core.$ZodError): FieldError[] {
  return issues.map(({ path, message }) => ({
    pointer: path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join(''),
    detail: message,
  }));
}

/** A refusal. Whatever else is thrown is a fault of ours and leaves as `internal_error`, without details. */
export class AppError extends Error {
  readonly code: ProblemCode;
  readonly status: number;
  readonly detail: string;
  readonly errors: FieldError[];
  readonly headers: Record<string, string>;
  readonly reason: string | undefined;

  constructor(
    code: ProblemCode,
    options: {
      detail?: string;
      errors?: FieldError[];
      headers?: Record<string, string>;
      reason?: string;
      cause?: unknown;
    } = {},
  ) {
    super(code, { cause: options.cause });
    this.code = code;
    this.status = problems[code][0];
    this.detail = options.detail ?? problems[code][2];
    this.errors = options.errors ?? [];
    this.headers = { ...options.headers };
    this.reason = options.reason;
  }

  /** The same refusal with more headers on its answer. */
  with(headers: Record<string, string>): this {
    Object.assign(this.headers, headers);
    return this;
  }
}

/** RFC 9457. */
export type Problem = {
  type: string;
  title: string;
  status: number;
  detail: string;
  code: ProblemCode;
  errors?: FieldError[];
};

export function buildProblem(error: AppError, baseUrl: string): Problem {
  return {
    type: `${baseUrl}/problems/${error.code}`,
    title: problems[error.code][1],
    status: error.status,
    detail: error.detail,
    code: error.code,
    ...(error.errors.length > 0 && { errors: error.errors }),
  };
}
