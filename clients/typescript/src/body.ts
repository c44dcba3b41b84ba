// Reads the body of a request that anybody may have sent.
import type { Bytes } from './bytes.ts';

export const maxBodyBytes = 65_536;

/** Undefined if the body is longer. It reads no more than that, and the server drops the rest. */
export async function readBody({ body }: Request): Promise<Bytes | undefined> {
  const read = new Uint8Array(maxBodyBytes);
  let size = 0;
  const reader = body?.getReader();
  for (let next = await reader?.read(); next?.value; next = await reader?.read()) {
    if (size + next.value.length > maxBodyBytes) return undefined;
    read.set(next.value, size);
    size += next.value.length;
  }
  return read.subarray(0, size);
}
