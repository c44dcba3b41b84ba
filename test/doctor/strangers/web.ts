// What the strangers need of the web: questions, replies, cookies, HTML, and the code of a refusal.
import type { IncomingMessage } from 'node:http';

export type Question = {
  request: IncomingMessage;
  method: string;
  url: URL;
  /** The last part of the path, such as `login`. It is empty for the home page. */
  page: string;
  cookies: Map<string, string>;
  body: Buffer;
};

export type Reply = { status: number; headers?: Record<string, string | string[]>; text?: string };

const statuses = {
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
  person_refused: 403,
  login_required: 403,
  interaction_required: 403,
  access_denied: 403,
  error_unknown: 400,
  method_not_allowed: 405,
  nudge_malformed: 400,
  nudge_signature_wrong: 401,
  nudge_too_old: 401,
};

export type Code = keyof typeof statuses;

export class Refusal extends Error {
  readonly code: Code;
  readonly status: number;

  constructor(code: Code) {
    super(code);
    this.code = code;
    this.status = statuses[code];
  }
}

/** A cookie that is not of the form `name=value` is somebody else's, so it is no reason to refuse the request. */
export function readCookies(header = ''): Map<string, string> {
  const pairs = header.split(';').map((pair): [string, string] => {
    const at = pair.indexOf('=');
    return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
  });
  return new Map(pairs);
}

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (one) => entities[one] ?? '');

/** Browsers and chat programs open links before anybody clicks. */
export const isSpeculative = ({ method, request }: Question): boolean =>
  method === 'HEAD' || /\bprefetch\b/i.test(String(request.headers['sec-purpose'] ?? ''));

/** Every answer is about one person. So no cache may keep it, and no other site may see its URL. */
export const commonHeaders: Record<string, string> = {
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy':
    "default-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
};

/** A path may have characters that no header may have. Its dots stay, because `/.//x` without them would be another host. */
export const redirect = (location: string, cookies: string[] = []): Reply => ({
  status: 303,
  headers: {
    Location: location.replace(/[^!-~]/gu, encodeURIComponent),
    ...(cookies.length > 0 && { 'Set-Cookie': cookies }),
  },
});

export const showHtml = (status: number, title: string, body: string, language = 'en'): Reply => ({
  status,
  headers: { 'Content-Type': 'text/html; charset=utf-8' },
  text: `<!doctype html>
<html lang="${language}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)}</title></head>
<body><main><h1>${escapeHtml(title)}</h1>
${body}
</main></body></html>
`,
});
