// Requests at once that a busy machine may not refuse: for tests of their results, not of their speed.
import { vi } from 'vitest';
import { Deadline } from '../../../server/http/deadline.ts';
import type { Answer } from './app.ts';

/**
 * Sends all at once, without the deadline of a request. A sender that the database kept waiting for too long asks again, as a
 * client does: a 503 says that nothing was done.
 */
export async function sendPatiently(requests: (() => Promise<Answer>)[]): Promise<Answer[]> {
  const enforce = vi.spyOn(Deadline.prototype, 'enforce').mockImplementation((work) => work);
  const isNear = vi.spyOn(Deadline.prototype, 'isNear', 'get').mockReturnValue(false);
  try {
    const answers = await Promise.all(requests.map((send) => send()));
    for (const [at, send] of requests.entries())
      for (let tries = 0; answers[at]?.status === 503 && tries < 5; tries++) answers[at] = await send();
    return answers;
  } finally {
    enforce.mockRestore();
    isNear.mockRestore();
  }
}
