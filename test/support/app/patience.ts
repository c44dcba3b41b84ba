// Sends many requests at the same time, for tests of their results and not of their speed. So none of them may be refused
// because the machine is busy.
import { vi } from 'vitest';
import { Deadline } from '../../../server/web/deadline.ts';
import type { Answer } from './app.ts';

/** Asks again while a busy machine answers 503, which says that nothing was done. */
export async function retryWhileBusy(send: () => Promise<Answer>): Promise<Answer> {
  let answer = await send();
  for (let tries = 1; answer.status === 503 && tries <= 5; tries++) {
    await new Promise((again) => setTimeout(again, 200 * tries));
    answer = await send();
  }
  return answer;
}

/**
 * Sends all requests at the same time, without a deadline. After a 503, which says that nothing was done, a request is sent
 * again, as clients do.
 */
export async function sendPatiently(requests: (() => Promise<Answer>)[]): Promise<Answer[]> {
  const enforce = vi.spyOn(Deadline.prototype, 'enforce').mockImplementation((work) => work);
  const isNear = vi.spyOn(Deadline.prototype, 'isNear', 'get').mockReturnValue(false);
  try {
    const answers = await Promise.all(requests.map((send) => send()));
    for (const [at, send] of requests.entries())
      if (answers[at]?.status === 503) answers[at] = await retryWhileBusy(send);
    return answers;
  } finally {
    enforce.mockRestore();
    isNear.mockRestore();
  }
}
