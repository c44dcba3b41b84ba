// The command line for operators (`npm run cli -- <command>` or `identity <command>`).
import { CommanderError } from 'commander';
import { EmbeddedPostgresError } from '../db/embedded/files.ts';
import { explainRefusal } from '../db/explain-refusal.ts';
import { isDatabaseAway } from '../db/postgres/away.ts';
import { AppError } from './basics/errors.ts';
import { CommandError, describeRefusal, show, UsageError } from './doors/cli/command.ts';
import { buildProgram } from './doors/cli/program.ts';
import { DumpError } from './runtime/dump.ts';
import { FileError } from './runtime/files.ts';
import { endWith, endWithReader, exitWith } from './runtime/process.ts';
import { ConfigError } from './settings/reader.ts';

endWithReader();

const expectedErrors = [ConfigError, DumpError, EmbeddedPostgresError, CommandError];

await buildProgram()
  .parseAsync()
  .catch((error) => {
    // Commander has printed what is wrong and the usage. Asking for help is not an error.
    if (error instanceof CommanderError) return endWith(error.exitCode === 0 ? 0 : 2);
    if (error instanceof UsageError) endWith(2);
    if (error instanceof FileError) exitWith(show(error.message));
    if (expectedErrors.some((kind) => error instanceof kind)) exitWith(error.message);
    if (error instanceof AppError) exitWith(describeRefusal(error));
    const refusal = explainRefusal(error);
    if (refusal) exitWith(refusal);
    if (isDatabaseAway(error))
      exitWith(`Cannot reach the database (${error.code ?? error.message}). Check that it is running.`);
    exitWith(`Something went wrong. ${error instanceof Error ? error.stack : String(error)}`);
  });
