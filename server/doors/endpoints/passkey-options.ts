// POST /passkeys/options: returns what a page's script passes to the browser to use or make a passkey. Stores nothing. The answer
// is the same for everybody who is not logged in.
import { base64url } from 'oslo/encoding';
import { type ListedPasskey, listPasskeys } from '../../../db/tables/passkeys.ts';
import type { User } from '../../../db/tables/users.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { requireNewcomer } from '../../identity/address/password-by-mail.ts';
import {
  type ChallengeUse,
  challengeSeconds,
  createChallenge,
} from '../../identity/passkey/passkey-challenges.ts';
import { algorithms } from '../../identity/passkey/passkey-registration.ts';
import { nameUser, rpIdOf } from '../../identity/passkey/webauthn.ts';
import { findFutureUser } from '../../identity/person/sign-up.ts';
import { requireNewAddress } from '../../identity/recovery/new-address.ts';
import { requireTakeBack } from '../../identity/recovery/take-back.ts';
import { requireOwnAllowance } from '../../identity/session/actor.ts';
import { findSession, requireLoggedIn } from '../../identity/session/sessions.ts';
import { respondJson } from '../../web/answers.ts';
import { invalidParameter, readForm, type Visit } from '../../web/requests.ts';

/**
 * Throws 401 `login_required` for `confirm` and `add`, 429 `rate_limited` for `add`, and 400 `invalid_request` for an unknown
 * purpose. Throws 404 `not_found` for `arrive`, `take-back` and `new-address` if there is no working token.
 */
export async function passkeyOptions(deps: Dependencies, request: Request, visit: Visit): Promise<Response> {
  const form = await readForm(request);
  const purpose = form.get('purpose');
  const token = form.get('token') ?? '';
  if (purpose === 'login') return answer(deps, request, { purpose }, { rpId: rpIdOf(deps), ...asked });
  if (purpose === 'arrive') {
    const newcomer = (await findFutureUser(deps, token)) ?? (await requireNewcomer(deps, token));
    return answer(deps, request, { purpose, userId: newcomer.id }, describeNew(deps, newcomer));
  }
  if (purpose === 'take-back' || purpose === 'new-address') {
    const requireLink = purpose === 'take-back' ? requireTakeBack : requireNewAddress;
    const { user, left } = await requireLink(deps, token);
    const options = { rpId: rpIdOf(deps), allowCredentials: left.passkeys.map(nameCredential), ...asked };
    return answer(deps, request, { purpose, userId: user.id }, options);
  }
  if (purpose !== 'confirm' && purpose !== 'add')
    throw invalidParameter('purpose', 'It must be login, confirm, add, arrive, take-back or new-address.');
  const session = requireLoggedIn(await findSession(deps, request, visit));
  const { user } = session;
  if (purpose === 'add') await requireOwnAllowance(deps, { session }, 'passkey.added');
  const own = await listPasskeys(deps.db, user.id);
  const credentials = own.map(nameCredential);
  const use = { purpose, userId: user.id } as const;
  if (purpose === 'confirm')
    return answer(deps, request, use, {
      rpId: rpIdOf(deps),
      allowCredentials: credentials,
      ...asked,
    });
  return answer(deps, request, use, { ...describeNew(deps, user), excludeCredentials: credentials });
}

const nameCredential = ({ credentialId, transports }: ListedPasskey) => ({
  type: 'public-key',
  id: credentialId,
  transports,
});

const asked = { userVerification: 'required', timeout: challengeSeconds * 1_000 };

/** Returns WebAuthn's PublicKeyCredentialCreationOptions without the challenge. */
const describeNew = (deps: Dependencies, user: Pick<User, 'id' | 'email' | 'name'>) => ({
  rp: { id: rpIdOf(deps), name: deps.config.name },
  user: {
    id: nameUser(user.id),
    name: user.email,
    displayName: user.name,
  },
  pubKeyCredParams: algorithms.map((alg) => ({ type: 'public-key', alg })),
  // A browser can find a resident passkey before anybody types an email address.
  authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
  attestation: 'none',
  timeout: challengeSeconds * 1_000,
});

async function answer(
  deps: Dependencies,
  request: Request,
  use: ChallengeUse,
  options: object,
): Promise<Response> {
  const { challenge, setCookie } = await createChallenge(deps, request, use);
  const bytes = new TextEncoder().encode(challenge);
  return respondJson({ ...options, challenge: base64url.encode(bytes, { includePadding: false }) }, [
    setCookie,
  ]);
}
