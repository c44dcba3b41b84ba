// Reads the trace that a request belongs to, as a proxy or client gives it (https://www.w3.org/TR/trace-context/, section 3.2).

import { readHeader } from '../basics/text.ts';

export type Trace = { traceId: string; parentSpanId: string };

const form = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-[\da-f]{2}(-.*)?$/;

/** Returns undefined if there is no valid trace. Only a later version of the format may have more text at the end. */
export function readTrace({ headers }: Request): Trace | undefined {
  const text = readHeader(headers, 'traceparent');
  if (text === null) return undefined;
  const [, version, traceId, parentSpanId, more] = form.exec(text) ?? [];
  if (!traceId || !parentSpanId || (version === '00' && more !== undefined)) return undefined;
  return { traceId, parentSpanId };
}
