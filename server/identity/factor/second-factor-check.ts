import type { Database } from '../../../db/postgres/client.ts';
import { consumeRecoveryCode } from '../../../db/tables/recovery-codes.ts';
import type { CodeFactor } from '../../../db/tables/users.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import type { OtherTime } from './authenticator-code.ts';
import { allCodeFactors, codeFactorRules } from './code-factors.ts';
import { hashRecoveryCode } from './recovery-codes.ts';
import { readTypedCode } from './typed-code.ts';

export type FactorUse = {
  kind: CodeFactor | 'recovery_code';
  /** Returns true only the first time. The caller has locked the user. */
  consume: (trx: Database) => Promise<boolean>;
};

/** Returns undefined if the factor is wrong. Uses nothing up. */
export async function readFactor(
  deps: Dependencies,
  userId: string,
  typed: string,
  /** Recovery codes made after `madeBy` are refused. */
  { kinds = allCodeFactors, madeBy }: { kinds?: CodeFactor[]; madeBy?: Date | undefined } = {},
): Promise<FactorUse | OtherTime | undefined> {
  const code = readTypedCode(typed);
  const alike = kinds.filter((kind) => codeFactorRules[kind].isCode(code));
  for (const kind of alike) {
    const read = await codeFactorRules[kind].read(deps, userId, code);
    if (read) return read === 'other_time' ? read : { kind, consume: read };
  }
  if (alike.length > 0) return undefined;
  const codeHash = hashRecoveryCode(userId, typed);
  return { kind: 'recovery_code', consume: (trx) => consumeRecoveryCode(trx, { userId, codeHash, madeBy }) };
}
