// Builds refusals in the form of RFC 6749 section 5.2 and RFC 6750 section 3, which clients of OpenID Connect understand.
import { respond } from '../web/answers.ts';

export class OAuthError extends Error {
  readonly error: string;
  readonly status: number;
  readonly headers: Record<string, string>;
  constructor(error: string, description: string, status = 400, headers: Record<string, string> = {}) {
    super(description);
    this.error = error;
    this.status = status;
    this.headers = headers;
  }
}

export const respondOAuth = (status: number, body: unknown, headers: Record<string, string> = {}): Response =>
  respond(
    status,
    { 'Content-Type': 'application/json', 'Cache-Control': 'no-store', Pragma: 'no-cache', ...headers },
    JSON.stringify(body),
  );

/** Answers an `OAuthError` that `work` throws. Any other error is thrown on. */
export async function answerOAuth(work: () => Promise<unknown>): Promise<Response> {
  try {
    return respondOAuth(200, await work());
  } catch (thrown) {
    if (!(thrown instanceof OAuthError)) throw thrown;
    const { error, message, status, headers } = thrown;
    return respondOAuth(status, { error, error_description: message }, headers);
  }
}
