// The words for each result that the overview counts. A result that is not listed here is the code of a refusal.
export const loginWords: Record<string, string> = {
  ok: 'Logged in',
  code_asked: 'Asked for a code',
  wrong_password: 'Wrong password, or no such address',
  wrong_passkey: 'Wrong passkey',
  wrong_code: 'Wrong code',
  rate_limited: 'Too many tries',
  suspended: 'Suspended',
  busy: 'Turned away: too busy',
  unavailable: 'Not available',
  canceled: 'Left before the answer',
  failed: 'Failed for another reason',
};

export const launchWords: Record<string, string> = {
  payload: 'handed over',
  code: 'handed over',
  login: 'login first',
  verify_email: 'email address to verify first',
  deletion: 'leaving',
  second_factor: 'second factor first',
  client_not_allowed: 'not open to them',
  login_required: 'not logged in',
  interaction_required: 'something to do first',
  access_denied: 'suspended, or not open to them',
};

export const handOffWords: Record<string, string> = {
  accepted: 'Accepted',
  continue: 'Asked to continue',
  connect: 'Asked to connect the account',
  repeated: 'Sent again',
};

export const signupWords: Record<string, string> = {
  created: 'New contract',
  updated: 'Contract changed',
  unchanged: 'Nothing new',
  repeated: 'Sent again',
};

export const mailWords: Record<string, string> = {
  sent: 'Sent',
  failed: 'Not sent yet: the mail server did not take mails',
  refused: 'Not sent yet: the mail server refused it',
  given_up: 'Given up',
};

export const numberWords = {
  logins: 'Logins',
  launches: 'Launches',
  signUps: 'Sign-ups',
  refusals: 'Refusals',
};

/** Describes a change, such as "+12 % against". The page adds the name of the earlier time span. */
export const sayChange = (percent: number): string =>
  percent === 0
    ? 'About as many as in'
    : `${percent > 0 ? '+' : '\u2212'}${Math.abs(percent)}\u00a0% against`;

/** Describes a result, such as "Refused: nonce replayed". */
export const sayResult = (words: Record<string, string>, result: string): string =>
  words[result] ?? `Refused: ${result.replaceAll('_', ' ')}`;
