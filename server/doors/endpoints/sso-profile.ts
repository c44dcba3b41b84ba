// GET /sso/profile (contract section 5): sends the profile of the person who is logged in here, as clients see it.
import { AppError } from '../../basics/errors.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { buildStandardProfile } from '../../identity/person/profile.ts';
import { findLiveSession } from '../../identity/session/sessions.ts';
import { respond } from '../../web/answers.ts';
import { matchesTag, type Visit } from '../../web/requests.ts';

export async function ssoProfile(deps: Dependencies, request: Request, visit: Visit): Promise<Response> {
  const session = await findLiveSession(deps, request, visit);
  if (!session) throw new AppError('login_required', { headers: { Vary: 'Cookie' } });

  const profile = buildStandardProfile(session.user);
  // The tag contains the user's id, because the profiles of two users of one browser may have changed at the same time.
  const etag = `"${profile.id}.${profile.profile_updated_at}"`;
  const headers = { 'Cache-Control': 'private, no-cache', ETag: etag, Vary: 'Cookie' };
  if (matchesTag(request, etag)) return respond(304, headers);
  return respond(200, { ...headers, 'Content-Type': 'application/json' }, JSON.stringify(profile));
}
