/**
 * `isArriving` says whether the body is still arriving. `node` has Node's request and response, for the bundler of development.
 */
export type Peer = { address: string; isArriving?: () => boolean; node?: object };

export type Fetch = (request: Request, peer: Peer) => Response | Promise<Response>;

export type Made = { status: number; headers: Record<string, string>; body: string };

/**
 * Makes the answer to a request whose line and headers are too large (contract 9.151), in the form that its `Accept` asks for.
 */
export type RefuseHeaders = (accept: string) => Made;

export type ListenOptions = {
  host: string;
  port: number;
  /** The name of the setting that the port comes from. */
  setting?: string;
  /** Without this, headers that are too large get 431 without a body. Deno does not limit headers. */
  refuseHeaders?: RefuseHeaders;
};

export type Listener = {
  port: number;
  /** Refuses new connections. Requests that are running or just arriving get `graceMs`, and are abandoned after that. */
  close: (graceMs: number) => Promise<void>;
};

/** How long to wait for a request that may be arriving on an open connection. */
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
