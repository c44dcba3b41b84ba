// GET /sso/profile (contract section 5): the profile as every product sees it, for who is logged in here.
import type { Services } from '../backend.ts';
import { AppError } from '../errors.ts';
import { requireMethod, respond } from '../http.ts';
import { findSession } from '../identity/sessions.ts';
import { buildStandardProfile } from '../identity/standard-profile.ts';

export async function ssoProfile(services: Services, request: Request): Promise<Response> {
  requireMethod(request, ['GET', 'HEAD']);
  const session = await findSession(services, request);
  if (!session || session === 'suspended')
    throw new AppError('login_required', { headers: { Vary: 'Cookie' } });

  const profile = buildStandardProfile(session.user);
  // The id too: two users of one browser may share an instant.
  const etag = `"${profile.id}.${profile.profile_updated_at}"`;
  const headers = { 'Cache-Control': 'private, no-cache', ETag: etag, Vary: 'Cookie' };
  if (matches(request.headers.get('if-none-match'), etag)) return respond(304, headers);
  return respond(200, { ...headers, 'Content-Type': 'application/json' }, JSON.stringify(profile));
}

/** RFC 9110 section 13.1.2: a list of entity tags, compared weakly, or `*`. */
function matches(ifNoneMatch: string | null, etag: string): boolean {
  if (ifNoneMatch === null) return false;
  return ifNoneMatch.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag);
}
