// Every value that a label for results can have.
import { type ProblemCode, problems } from '../basics/problems.ts';
import { outOfDate } from '../web/webhook-signature.ts';

export const codes = Object.keys(problems) as ProblemCode[];

/**
 * Results of a login with a password or passkey. `busy`: too many hashes were under way. `canceled`: the caller had closed the
 * connection.
 */
export const loginResults = [
  'ok',
  'code_asked',
  'wrong_password',
  'wrong_passkey',
  'wrong_code',
  'rate_limited',
  'suspended',
  'busy',
  'unavailable',
  'canceled',
  'failed',
] as const;
export type LoginResult = (typeof loginResults)[number];

/**
 * `continue` or `connect`: the person is asked on /continue. `repeated`: the browser sent the hand-off again. A code: the
 * hand-off was refused.
 */
export const handOffResults = ['accepted', 'continue', 'connect', 'repeated', ...codes] as const;
export type HandOffResult = (typeof handOffResults)[number];

/**
 * `payload` or `code`: the person went on to the client. `login`, `verify_email`, `deletion` or `second_factor`: a page comes
 * first. `client_not_allowed`: the person may not enter. The last three are errors at the callback.
 */
export const launchOutcomes = [
  'payload',
  'code',
  'login',
  'verify_email',
  'deletion',
  'second_factor',
  'client_not_allowed',
  'login_required',
  'interaction_required',
  'access_denied',
] as const;
export type LaunchOutcome = (typeof launchOutcomes)[number];

/**
 * `repeated`: the service gave the kept answer again. `out_of_date`: only the `webhook-timestamp` was wrong. A code: the
 * message was refused.
 */
export const signupResults = ['created', 'updated', 'unchanged', 'repeated', outOfDate, ...codes] as const;
export type SignupResult = (typeof signupResults)[number];

/**
 * `known`: the payment was recorded already. `repeated`: the service gave the kept answer again. `out_of_date`: only the time
 * of the message was wrong.
 */
export const paymentResults = ['recorded', 'known', 'repeated', outOfDate, ...codes] as const;
export type PaymentResult = (typeof paymentResults)[number];

export const mailResults = ['sent', 'failed', 'refused', 'given_up'] as const;

export const askedMailResults = ['taken', 'refused'] as const;

/** `taken`: the client answered with a 2xx. */
export const nudgeResults = ['taken', 'failed'] as const;
export type NudgeResult = (typeof nudgeResults)[number];

export const passwordMailResults = ['sent', 'unknown_user', 'suspended'] as const;

export const signUpResults = ['password', 'passkey'] as const;

// Names of clients have no hyphen, so no client can have one of these names.
export const paymentProvider = 'payment-provider';
/** For requests of no client, or of an unknown one. */
export const noClient = 'no-client';

export const callKinds = ['token', 'hand_off', 'signup', 'payment'] as const;
export type CallKind = (typeof callKinds)[number];

/** During a rotation, a setting holds two secrets. */
export const secretPositions = ['first', 'second'] as const;
