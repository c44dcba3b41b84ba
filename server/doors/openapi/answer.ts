// GET /openapi.json: describes what this service offers to programs.
import { respond } from '../../web/answers.ts';
import { matchesTag } from '../../web/requests.ts';
import type { Published } from './document.ts';

export function openApi({ text, etag }: Published, request: Request): Response {
  const headers = { 'Cache-Control': 'public, max-age=300', ETag: etag };
  if (matchesTag(request, etag)) return respond(304, headers);
  return respond(200, { ...headers, 'Content-Type': 'application/json' }, text);
}
