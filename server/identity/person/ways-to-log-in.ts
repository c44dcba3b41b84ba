import { listPasskeys } from '../../../db/tables/passkeys.ts';
import { countRecoveryCodes } from '../../../db/tables/recovery-codes.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import type { Actor } from '../session/actor.ts';
import { asksForCode } from '../session/second-factor.ts';

export async function describeWaysToLogIn({ db }: Dependencies, { session }: Actor) {
  const { id, hasPasskey } = session.user;
  const [passkeys, codes] = await Promise.all([
    hasPasskey ? listPasskeys(db, id) : [],
    asksForCode(session.user) ? countRecoveryCodes(db, id) : undefined,
  ]);
  return {
    passkeys: passkeys.length,
    codesLeft: codes,
  };
}
