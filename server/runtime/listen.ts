// The one place that asks which runtime this is.
import type { Fetch } from '../shell.ts';

export type ListenOptions = { host: string; port: number };

export type Listener = {
  port: number;
  /** Takes no more connections, lets requests under way finish for so long, then cuts them off. */
  close: (graceMs: number) => Promise<void>;
};

/** Told to the operator in one sentence. */
export class ListenError extends Error {
  constructor(code: string, { host, port }: ListenOptions) {
    const why: Record<string, string> = {
      EADDRINUSE: 'is in use by another process',
      AddrInUse: 'is in use by another process',
      EACCES: 'needs more rights than this process has',
      PermissionDenied: 'needs more rights than this process has',
    };
    super(
      `The port ${port} on ${host} ${why[code] ?? `cannot be listened on (${code})`}. Choose another with PORT.`,
    );
  }
}

export async function listen(fetch: Fetch, options: ListenOptions): Promise<Listener> {
  const runtime = 'Deno' in globalThis ? await import('./deno.ts') : await import('./node.ts');
  return runtime.listen(fetch, options);
}
