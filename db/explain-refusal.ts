// Errors of the database that are for the operator to mend.
import { SchemaError } from './schema-check.ts';

/**
 * What is wrong with the database, or the way to it, that no waiting mends, as a sentence for operators without a value of the settings;
 * undefined if it is something else.
 */
export function explainRefusal(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error instanceof SchemaError) return error.message;
  const { code = '' } = error as { code?: string };
  // Class 28: invalid authorization.
  if (code.startsWith('28'))
    return `The database refuses the user or the password in DATABASE_URL (${code}).`;
  if (code === '3D000') return 'The database that DATABASE_URL names does not exist.';
  if (code === '42501')
    return 'The role in DATABASE_URL may not do what the service needs: make it the owner of the database.';
  // First, because the name of the file may say certificate.
  if ((error as { syscall?: string }).syscall === 'open')
    return `A file that DATABASE_URL names cannot be read (${code}).`;
  if (/certificate|CERT/.test(`${code} ${error.message}`))
    return `The certificate of the database is not accepted (${code || error.message}).`;
  if (/does not support SSL/.test(error.message))
    return 'DATABASE_URL asks for TLS, which the database does not support.';
  return undefined;
}
