// What listening on a port takes and gives, the same on every runtime.

export type ListenOptions = { host: string; port: number };

export type Listener = {
  port: number;
  /** Refuses new connections, gives requests in progress this long to finish, then cuts them off. */
  close: (graceMs: number) => Promise<void>;
};

/** The operator gets its message without a stack. */
export class ListenError extends Error {
  constructor(code: string, { host, port }: ListenOptions) {
    const why: Record<string, string> = {
      EADDRINUSE: 'is already in use',
      AddrInUse: 'is already in use',
      EACCES: 'needs permissions that this process does not have',
      PermissionDenied: 'needs permissions that this process does not have',
    };
    super(
      `Port ${port} on ${host} ${why[code] ?? `cannot be opened (${code})`}. Set PORT to use another port.`,
    );
  }
}
