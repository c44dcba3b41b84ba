// What listening on a port takes and gives, the same on every runtime.

/**
 * What the runtime knows: the peer's address, whether the body of its request is still on the way, and, on Node, its own request and
 * response, which only the bundler of development uses.
 */
export type Peer = { address: string; isArriving?: () => boolean; node?: object };

export type Fetch = (request: Request, peer: Peer) => Response | Promise<Response>;

/** An answer that was made beforehand. */
export type Made = { status: number; headers: Record<string, string>; body: string };

/** The answer to a request whose line and headers are too large to be read (contract 9.151), for that `Accept`. */
export type RefuseHeaders = (accept: string) => Made;

export type ListenOptions = {
  host: string;
  port: number;
  /** The setting that the port comes from. */
  setting?: string;
  /** Without it, a request whose headers are too large gets 431 without a body. Deno, which has no such limit, never asks. */
  refuseHeaders?: RefuseHeaders;
};

export type Listener = {
  port: number;
  /** Refuses new connections, gives requests in progress and those just arriving `graceMs`, then leaves them. */
  close: (graceMs: number) => Promise<void>;
};

/** How long to wait for a request that is on its way on an open connection. */
export const lingerMs = 500;

/** An error with a message for the operator, without a stack. */
export class ListenError extends Error {
  constructor(code: string, { host, port, setting = 'PORT' }: ListenOptions) {
    const why: Record<string, string> = {
      EADDRINUSE: 'is already in use',
      AddrInUse: 'is already in use',
      EACCES: 'needs permissions that this process does not have',
      PermissionDenied: 'needs permissions that this process does not have',
    };
    super(
      `Port ${port} on ${host} ${why[code] ?? `cannot be opened (${code})`}. Set ${setting} to use another port.`,
    );
  }
}
