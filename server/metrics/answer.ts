// GET /metrics on its own port, for Prometheus. It is not for the internet (docs/operate/watch.md).
import { isForThisMachine, pathOf } from '../web/incoming.ts';
import type { Metrics } from './metrics.ts';

/** In local mode, answers only requests for a name of this machine. */
export async function answerMetrics(
  { registry, read }: Metrics,
  request: Request,
  { production }: { production: boolean },
): Promise<Response> {
  if (!production && !isForThisMachine(request)) return new Response(null, { status: 400 });
  if (request.method !== 'GET' || pathOf(request.url) !== '/metrics')
    return new Response(null, { status: 404 });
  await read();
  const headers = { 'Content-Type': registry.contentType, 'Cache-Control': 'no-store' };
  return new Response(await registry.metrics(), { headers });
}
