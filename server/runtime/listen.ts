import type { Fetch, Listener, ListenOptions } from './listener.ts';

export async function listen(fetch: Fetch, options: ListenOptions): Promise<Listener> {
  const runtime = 'Deno' in globalThis ? await import('./deno.ts') : await import('./node.ts');
  return runtime.listen(fetch, options);
}
