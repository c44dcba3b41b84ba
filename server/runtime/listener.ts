/** `isArriving`: whether the body is still on its way. `node`: Node's request and response, for the bundler of development. */
export type Peer = { address: string; isArriving?: () => boolean; node?: object };

export type Fetch = (request: Request, peer: Peer) => Response | Promise<Response>;

export type Made = { status: number; headers: Record<string, string>; body: string };

/** The answer to a request whose line and headers are too large (contract 9.151), by its `Accept`. */
export type RefuseHeaders = (accept: string) => Made;

export type ListenOptions = {
  host: string;
  port: number;
  /** The setting that the port comes from. */
  setting?: string;
  /** Without it, headers that are too large get 431 without a body. Deno does not limit headers. */
  refuseHeaders?: RefuseHeaders;
};

export type Listener = {
  port: number;
  /** Refuses new connections. Requests that are under way or just arriving get `graceMs`, and are then abandoned. */
  close: (graceMs: number) => Promise<void>;
};

/** How long to wait for a request that is on its way on an open connection. */
export const lingerMs = 500;

/** The message is printed without a stack. */
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
