// The results of logins, hand-offs and so on that the metrics count: every value that such a label can have.
import { type ProblemCode, problems } from '../basics/problems.ts';
import { outOfDate } from '../web/webhook-signature.ts';

export const codes = Object.keys(problems) as ProblemCode[];

/**
 * Results of a password or passkey that was posted to /login. `busy`: too many were being hashed. `canceled`: the client had
 * gone.
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
 * `continue` and `connect`: the person is asked on /continue. `repeated`: the hand-off leads where it led before. Else why it
 * was refused.
 */
export const handOffResults = ['accepted', 'continue', 'connect', 'repeated', ...codes] as const;
export type HandOffResult = (typeof handOffResults)[number];

/**
 * `login`, `verify_email`, `second_factor` and `deletion`: a page comes first. The callback gets the last three instead of a
 * payload.
 */
export const launchOutcomes = [
  'payload',
  'login',
  'verify_email',
  'deletion',
  'second_factor',
  'login_required',
  'interaction_required',
  'access_denied',
] as const;
export type LaunchOutcome = (typeof launchOutcomes)[number];

/**
 * What became of the contract, or `repeated` for an answer that was kept. Else why the signup was refused: `out_of_date` for its
 * `webhook-timestamp` alone, else the code.
 */
export const signupResults = ['created', 'updated', 'unchanged', 'repeated', outOfDate, ...codes] as const;
export type SignupResult = (typeof signupResults)[number];

/** Whether it was new, `known` by its id, or `repeated` for an answer that was kept. Else why the report was refused, as of a signup. */
export const paymentResults = ['recorded', 'known', 'repeated', outOfDate, ...codes] as const;
export type PaymentResult = (typeof paymentResults)[number];

export const mailResults = ['sent', 'failed', 'refused', 'given_up'] as const;

/** Whether the limits of mails took the request. */
export const askedMailResults = ['taken', 'refused'] as const;

/** Whether the client answered with a 2xx. */
export const nudgeResults = ['taken', 'failed'] as const;
export type NudgeResult = (typeof nudgeResults)[number];

export const passwordMailResults = ['sent', 'unknown_user', 'suspended'] as const;

/** What an account was made with. */
export const signUpResults = ['password', 'passkey'] as const;

// No client has such a name: theirs have no hyphen.
/** Stands for whoever reports payments, where clients are counted. */
export const paymentProvider = 'payment-provider';
/** Of a refusal that is no client's, or nobody knows whose. */
export const noClient = 'no-client';

/** What a client signs with a secret of its own: a token to read with, a hand-off, a signup, or a report of a payment. */
export const callKinds = ['token', 'hand_off', 'signup', 'payment'] as const;
export type CallKind = (typeof callKinds)[number];

/** By its place in the setting. During a rotation there are two. */
export const secretPositions = ['first', 'second'] as const;
