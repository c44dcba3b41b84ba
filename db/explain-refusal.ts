import { SchemaError } from './schema-check.ts';

/**
 * Explains an error that only an operator can fix, in one sentence that names no values of settings. Returns undefined for other
 * errors.
 */
export function explainRefusal(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error instanceof SchemaError) return error.message;
  const { code = '' } = error as { code?: string };
  if (code.startsWith('28'))
    return `The database refuses the user or the password in DATABASE_URL (${code}).`;
  if (code === '3D000') return 'The database that DATABASE_URL names does not exist.';
  if (code === '42501')
    return 'The role in DATABASE_URL may not do what the service needs: make it the owner of the database.';
  // This test comes before the test for "certificate", because the name of the file may contain that word.
  if ((error as { syscall?: string }).syscall === 'open')
    return `A file that DATABASE_URL names cannot be read (${code}).`;
  if (/certificate|CERT/.test(`${code} ${error.message}`))
    return `The certificate of the database is not accepted (${code || error.message}).`;
  if (/does not support SSL/.test(error.message))
    return 'DATABASE_URL asks for TLS, which the database does not support.';
  return undefined;
}
