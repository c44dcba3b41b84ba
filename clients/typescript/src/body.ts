// Reads bodies that may be of any length: of requests that anybody sent, and of answers.
import type { Bytes } from './bytes.ts';

export const maxBodyBytes = 65_536;

/** Undefined if the body is longer. It reads no more than that, and the rest is dropped. */
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
      // Not awaited: a sender that never ends must not hold this up.
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
