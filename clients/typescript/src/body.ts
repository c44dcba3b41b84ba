// Reads bodies with a limit on their length, because strangers may send requests, and answers may be long.
import type { Bytes } from './bytes.ts';

export const maxBodyBytes = 65_536;

/** Returns undefined if the body is longer than the limit, and reads no further than the limit. */
export async function readBody(
  { body }: Request | Response,
  maxBytes = maxBodyBytes,
): Promise<Bytes | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = body?.getReader();
  for (let next = await reader?.read(); next?.value; next = await reader?.read()) {
    size += next.value.length;
    if (size > maxBytes) {
      // The cancel is not awaited, because it may wait for ever for a sender that never ends.
      void reader?.cancel().catch(() => {});
      return undefined;
    }
    chunks.push(next.value);
  }
  const read = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    read.set(chunk, at);
    at += chunk.length;
  }
  return read;
}
