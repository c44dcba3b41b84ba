// What the service logs, kept for tests to read.
import type { Log } from '../../../server/basics/log.ts';

export type LogLine = {
  level: 'info' | 'error';
  fields: Record<string, unknown>;
  message: string;
  /** Set if the line is logged at every LOG_LEVEL. */
  isKept?: true;
};

/** Returns a log that adds each line to the end of `logged`. */
export function recordLog(): { log: Log; logged: LogLine[] } {
  const logged: LogLine[] = [];
  const at =
    (level: LogLine['level'], kept: Pick<LogLine, 'isKept'> = {}) =>
    (fields: object, message: string) => {
      logged.push({ level, fields: { ...fields }, message, ...kept });
    };
  return { log: { info: at('info'), error: at('error'), record: at('info', { isKept: true }) }, logged };
}
