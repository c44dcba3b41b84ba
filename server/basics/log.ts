// The log that everything writes to; server/runtime/process.ts makes it.
export type Log = {
  info: (fields: object, message: string) => void;
  error: (fields: object, message: string) => void;
};
