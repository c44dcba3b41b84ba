// The log that everything writes to; server/runtime/process.ts makes it.
export type Log = {
  info: (fields: object, message: string) => void;
  error: (fields: object, message: string) => void;
  /** At every LOG_LEVEL: a line that is kept nowhere else, such as what strangers try, or that operators rely on. */
  record: (fields: object, message: string) => void;
};
