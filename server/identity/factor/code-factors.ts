// The kinds of second factor that need a code after the password. All code for them uses this list. Recovery codes are separate.
import type { Database } from '../../../db/postgres/client.ts';
import { deleteAuthenticator, findAuthenticator } from '../../../db/tables/authenticators.ts';
import type { CodeFactor } from '../../../db/tables/users.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { type OtherTime, readAuthenticatorCode } from './authenticator-code.ts';
import { isCode } from './totp.ts';

type Rules = {
  name: string;
  find: (
    db: Database,
    userId: string,
  ) => Promise<{ addedAt: Date; fromEstablishedBrowser: boolean } | undefined>;
  isCode: (text: string) => boolean;
  /**
   * Returns undefined for a wrong code. For a right code, returns a function that uses the code up. That function gives true
   * only the first time.
   */
  read: (
    deps: Dependencies,
    userId: string,
    code: string,
  ) => Promise<((trx: Database) => Promise<boolean>) | OtherTime | undefined>;
  /** With `since`, deletes the factor only if it was added since then. */
  delete: (db: Database, userId: string, since?: Date) => Promise<unknown>;
};

export const codeFactorRules: Record<CodeFactor, Rules> = {
  authenticator: {
    name: 'authenticator app',
    find: findAuthenticator,
    isCode,
    read: readAuthenticatorCode,
    delete: deleteAuthenticator,
  },
};

export const allCodeFactors = Object.keys(codeFactorRules) as CodeFactor[];

export const nameCodeFactors = (kinds: CodeFactor[], between: 'and' | 'or') =>
  kinds.map((kind) => codeFactorRules[kind].name).join(` ${between} `);
