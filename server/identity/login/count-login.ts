import type { ProblemCode } from '../../basics/problems.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import type { LoginResult } from '../../metrics/results.ts';
import { toAppError } from '../../web/answers.ts';

/** `resultOf` returns undefined if the outcome was no try to log in. */
export async function countLogin<Outcome>(
  { metrics }: Dependencies,
  tryToLogIn: () => Promise<Outcome>,
  resultOf: (outcome: Outcome) => LoginResult | undefined,
): Promise<Outcome> {
  try {
    const outcome = await tryToLogIn();
    const result = resultOf(outcome);
    if (result) metrics.countLogin(result);
    return outcome;
  } catch (error) {
    metrics.countLogin(refused[toAppError(error).code] ?? 'failed');
    throw error;
  }
}

const refused: Partial<Record<ProblemCode, LoginResult>> = {
  rate_limited: 'rate_limited',
  account_suspended: 'suspended',
  unavailable: 'unavailable',
  // The request was read before, so a login throws this error only if the caller has closed the connection.
  invalid_request: 'canceled',
};
