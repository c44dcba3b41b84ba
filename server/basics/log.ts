// The log that all code writes to. server/runtime/process.ts makes it.
export type Log = {
  info: (fields: object, message: string) => void;
  error: (fields: object, message: string) => void;
  /** Logs at every LOG_LEVEL. It is for lines that operators rely on or find nowhere else, such as what strangers try. */
  record: (fields: object, message: string) => void;
};
