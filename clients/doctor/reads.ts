// Tests whether a client reads its events after it has accepted a nudge. The service's database shows the client's reads. The
// doctor appends no event, so the client only reads the events that it would read without the doctor.
import type { Exam } from './exam.ts';
import type { Reads } from './target.ts';

const withinMs = 5_000;
const pauseMs = 200;
/**
 * If the last read is more recent than this, the test proves nothing: the client reads all the time, or its new read may not
 * be noted yet.
 */
const oftenSeconds = 30;
const timerSeconds = 3_600;

/** `before` is how far the client had read before the nudge. */
export async function expectRead({ notes, tools }: Exam, before: Reads | string): Promise<void> {
  const miss = (why: string) => notes.miss('events_not_pulled', why);
  if (typeof before === 'string') return miss(before);
  if (isWithin(before, oftenSeconds)) return;
  const until = performance.now() + withinMs;
  while (performance.now() < until) {
    await new Promise((done) => setTimeout(done, pauseMs));
    const reads = (await tools.findReads?.()) ?? '';
    if (typeof reads === 'string') return miss(reads);
    if (reads.pulledAt?.getTime() !== before.pulledAt?.getTime()) return;
  }
  const saw = `It took a nudge, and read no events within ${withinMs / 1_000} seconds.`;
  const { behind, pulledAt } = before;
  const last = pulledAt ? `It read them last at ${pulledAt.toISOString()}` : 'It never read any.';
  if (isWithin(before, timerSeconds)) notes.find('events_pulled_late', { saw: `${saw} ${last}.` });
  else if (!pulledAt) notes.find('events_not_pulled', { saw: `${saw} ${last}` });
  else if (behind > 0)
    notes.find('events_not_pulled', { saw: `${saw} ${last}, and has ${behind} more to read.` });
  else miss(`${saw} ${last}, and there is nothing new for it: it may know that.`);
}

const isWithin = ({ pulledSeconds }: Reads, seconds: number) =>
  pulledSeconds !== null && pulledSeconds < seconds;
