// Checking what somebody gives as their second factor, after their password: a code, or a recovery code. Each works once.

import type { Database } from '../../../db/postgres/client.ts';
import { consumeRecoveryCode } from '../../../db/tables/recovery-codes.ts';
import type { CodeFactor } from '../../../db/tables/users.ts';
import type { Dependencies } from '../../instance/dependencies.ts';
import { allCodeFactors, codeFactorRules } from './code-factors.ts';
import { hashRecoveryCode } from './recovery-codes.ts';

export type FactorUse = {
  kind: CodeFactor | 'recovery_code';
  /** Uses the factor up: true for exactly one caller. `trx` has locked the user. */
  consume: (trx: Database) => Promise<boolean>;
};

/** The factor that was typed, or undefined if it is wrong. Uses nothing up. */
export async function readFactor(
  deps: Dependencies,
  userId: string,
  typed: string,
  /** Only codes of these kinds count, and recovery codes that were not made after `madeBy`. */
  { kinds = allCodeFactors, madeBy }: { kinds?: CodeFactor[]; madeBy?: Date | undefined } = {},
): Promise<FactorUse | undefined> {
  const code = typed.replace(/\s/g, '');
  const alike = kinds.filter((kind) => codeFactorRules[kind].isCode(code));
  for (const kind of alike) {
    const consume = await codeFactorRules[kind].read(deps, userId, code);
    if (consume) return { kind, consume };
  }
  if (alike.length > 0) return undefined;
  const codeHash = hashRecoveryCode(userId, typed);
  return { kind: 'recovery_code', consume: (trx) => consumeRecoveryCode(trx, { userId, codeHash, madeBy }) };
}
