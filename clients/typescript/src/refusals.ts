// Every refusal of this kit: its code, the status of the answer, a sentence for the person, and advice for the log.
import type { LogEntry, Settings } from './config.ts';
import { remedies } from './remedies.ts';

export const refusalStatuses = {
  parameter_missing: 400,
  parameter_repeated: 400,
  payload_malformed: 400,
  signature_malformed: 400,
  signature_wrong: 401,
  json_malformed: 400,
  member_wrong: 400,
  issuer_wrong: 401,
  audience_wrong: 401,
  issued_in_future: 401,
  expired: 401,
  lifetime_wrong: 401,
  state_missing: 303,
  state_unknown: 403,
  auth_time_too_old: 403,
  nonce_replayed: 409,
  session_ended: 403,
  logout_token_wrong: 403,
  person_refused: 403,
  login_required: 403,
  interaction_required: 403,
  access_denied: 403,
  error_unknown: 400,
  method_not_allowed: 405,
  store_unavailable: 503,
  nudge_malformed: 400,
  nudge_signature_wrong: 401,
  nudge_too_old: 401,
} as const;

export type RefusalCode = keyof typeof refusalStatuses;

/** `code` is public. `reason` says exactly what failed. It is for your log, and must not be shown to the person. */
export class Refusal extends Error {
  readonly code: RefusalCode;
  readonly status: number;
  readonly reason: string;
  /** Set if the nonce is known. The hand-off may still be unverified. */
  launchId: string | undefined;
  /** The page that a silent attempt leads back to. That page shows nothing of the refusal. */
  leadsTo: string | undefined;

  constructor(code: RefusalCode, reason: string, options?: ErrorOptions) {
    super(`${code}: ${reason}`, options);
    this.name = 'Refusal';
    this.code = code;
    this.status = refusalStatuses[code];
    this.reason = reason;
  }
}

/**
 * Every answer to a browser has these headers. Caches do not keep the answer, and browsers do not send the page's URL to the
 * next site.
 */
export const privateHeaders = { 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' };

/** Logs what failed, what to do, and which page of the identity service explains it. */
export function logRefusal(
  { log, baseUrl }: Pick<Settings, 'log' | 'baseUrl'>,
  { code, launchId, reason, cause }: Refusal,
): void {
  const entry: LogEntry = { outcome: code, launchId, reason };
  const page = `${baseUrl}/developers/refusals#${code}`;
  log({ ...entry, remedy: remedies[code], page, ...(cause !== undefined && { cause }) });
}

/** Headers for programs, such as the doctor, and for support. */
export const describe = ({ code, launchId }: Refusal) => ({
  'Identity-Refusal': code,
  ...(launchId && { 'Identity-Launch': launchId }),
});

const sentences: Partial<Record<RefusalCode, string>> = {
  issued_in_future: 'The clock of this site is wrong. If it happens again, tell us the code below.',
  expired: 'It took too long. Log in again.',
  state_unknown:
    'This browser did not ask for this login, or did so more than ten minutes ago. Log in again.',
  auth_time_too_old: 'This site needs you to prove again that it is you. Log in again.',
  nonce_replayed: 'This login was used already. Go on if you are logged in, or log in again.',
  session_ended: 'This login has ended. Log in again.',
  logout_token_wrong: 'Your session here has not ended. Go on, and log out once more.',
  person_refused: 'This site does not let you in. Ask its owner.',
  login_required: 'Log in to go on.',
  interaction_required: 'There is something to do before you can go on. Log in, and follow what it says.',
  access_denied: 'You cannot log in here with this account. Ask support.',
  store_unavailable: 'This site cannot let anybody in at the moment. Try again in a few minutes.',
};
const otherwise = 'Log in again. If that does not help, tell us the code below.';

const style = `:root{color-scheme:light dark}
body{color:CanvasText;background:Canvas;font:1.1rem/1.5 system-ui,sans-serif;max-width:34rem;margin:0 auto;
padding:2rem 1rem;overflow-wrap:anywhere}
a{color:inherit;display:inline-block;padding:.6rem 1rem;border:2px solid;border-radius:.3rem}`;

/** The page of a refusal: what to do, a link to the login, and the code for support. It shows nothing from the payload. */
export function buildRefusalPage(
  refusal: Refusal,
  { loginUrl, homeUrl }: { loginUrl: string; homeUrl: string },
): Response {
  const code = [refusal.code, refusal.launchId]
    .filter(Boolean)
    .map((text) => `<code>${escapeHtml(text)}</code>`);
  // Most people who get one of these refusals have reloaded a page, and have a session already.
  const goOn = ['nonce_replayed', 'logout_token_wrong'].includes(refusal.code)
    ? `${link(homeUrl, 'Go on')}\n`
    : '';
  const content = `<p>${escapeHtml(sentences[refusal.code] ?? otherwise)}</p>
${goOn}${link(loginUrl, 'Log in')}
<p>Code: ${code.join(' · ')}</p>`;
  const title = refusal.code === 'logout_token_wrong' ? 'You are not logged out' : 'The login did not work';
  return buildPage(refusal.status, title, content);
}

const link = (url: string, words: string) => `<p><a href="${escapeHtml(url)}">${words}</a></p>`;

function buildPage(status: number, title: string, content: string): Response {
  const html = `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title}</title><style>${style}</style>
<main><h1>${title}</h1>
${content}</main></html>
`;
  const headers = {
    ...privateHeaders,
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    'X-Content-Type-Options': 'nosniff',
  };
  return new Response(html, { status, headers });
}

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escapeHtml = (text = '') => text.replace(/[&<>"']/g, (one) => entities[one] ?? '');
