// POST /passkeys/options: what the script of a page passes to the browser, to use a passkey or to make one. Stores nothing,
// and says the same to everybody who is not logged in.
import { base64url } from 'oslo/encoding';
import { type ListedPasskey, listPasskeys } from '../../db/passkeys.ts';
import type { User } from '../../db/users.ts';
import { respondJson } from '../http/answers.ts';
import { invalidParameter, readForm, type Visit } from '../http/requests.ts';
import { requireActor, requireOwnAllowance } from '../identity/actor.ts';
import { type ChallengeUse, challengeSeconds, createChallenge } from '../identity/passkey-challenges.ts';
import { algorithms } from '../identity/passkey-registration.ts';
import { requireNewcomer } from '../identity/password-by-mail.ts';
import { findFutureUser } from '../identity/sign-up.ts';
import { requireTakeBack } from '../identity/take-back.ts';
import { rpIdOf, userHandleOf } from '../identity/webauthn.ts';
import type { Services } from '../services.ts';

/**
 * Throws 401 `login_required` for `confirm` and `add`, 404 `not_found` for `arrive` and `take-back` without a token that
 * works, 429 `rate_limited` for `add`, and 400 `invalid_request` for an unknown purpose.
 */
export async function passkeyOptions(services: Services, request: Request, visit: Visit): Promise<Response> {
  const form = await readForm(request);
  const purpose = form.get('purpose');
  const token = form.get('token') ?? '';
  if (purpose === 'login')
    return answer(services, request, { purpose }, { rpId: rpIdOf(services), ...asked });
  if (purpose === 'arrive') {
    const newcomer = (await findFutureUser(services, token)) ?? (await requireNewcomer(services, token));
    return answer(services, request, { purpose, userId: newcomer.id }, describeNew(services, newcomer));
  }
  if (purpose === 'take-back') {
    const { user, left } = await requireTakeBack(services, token);
    const options = { rpId: rpIdOf(services), allowCredentials: left.passkeys.map(nameCredential), ...asked };
    return answer(services, request, { purpose, userId: user.id }, options);
  }
  if (purpose !== 'confirm' && purpose !== 'add')
    throw invalidParameter('purpose', 'It must be login, confirm, add, arrive or take-back.');
  const actor = await requireActor(services, request, visit);
  const { user } = actor.session;
  if (purpose === 'add') await requireOwnAllowance(services, actor, 'passkey.added');
  const own = await listPasskeys(services.db, user.id);
  const credentials = own.map(nameCredential);
  const use = { purpose, userId: user.id } as const;
  if (purpose === 'confirm')
    return answer(services, request, use, {
      rpId: rpIdOf(services),
      allowCredentials: credentials,
      ...asked,
    });
  return answer(services, request, use, { ...describeNew(services, user), excludeCredentials: credentials });
}

const nameCredential = ({ credentialId, transports }: ListedPasskey) => ({
  type: 'public-key',
  id: credentialId,
  transports,
});

const asked = { userVerification: 'required', timeout: challengeSeconds * 1_000 };

/** PublicKeyCredentialCreationOptions of WebAuthn, but for the challenge. */
const describeNew = (services: Services, user: Pick<User, 'id' | 'email' | 'name'>) => ({
  rp: { id: rpIdOf(services), name: services.config.name },
  user: {
    id: base64url.encode(userHandleOf(user.id), { includePadding: false }),
    name: user.email,
    displayName: user.name,
  },
  pubKeyCredParams: algorithms.map((alg) => ({ type: 'public-key', alg })),
  // It can be found without an address typed first.
  authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
  attestation: 'none',
  timeout: challengeSeconds * 1_000,
});

async function answer(
  services: Services,
  request: Request,
  use: ChallengeUse,
  options: object,
): Promise<Response> {
  const { challenge, setCookie } = await createChallenge(services, request, use);
  const bytes = new TextEncoder().encode(challenge);
  return respondJson({ ...options, challenge: base64url.encode(bytes, { includePadding: false }) }, [
    setCookie,
  ]);
}
