import type { ProblemCode } from '../../basics/problems.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import type { LoginResult } from '../../metrics/results.ts';
import { toAppError } from '../../web/answers.ts';

/** `resultOf` names the result, or returns undefined if it was no try. */
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
  // By then the request has been read, so the client has gone.
  invalid_request: 'canceled',
};
