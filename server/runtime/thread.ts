// A thread of ours, by `node:worker_threads`, which Deno has, too: it answers one question at a time.
import { parentPort, Worker } from 'node:worker_threads';

type Answered<Answer> = { answer: Answer } | { fault: string };

export type Thread<Asked, Answer> = {
  /**
   * Throws an error whose message says what went wrong there. A thread that dies, or takes too long, is ended, and the next
   * question begins another one. The caller waits for an answer before the next question.
   */
  ask: (asked: Asked) => Promise<Answer>;
  close: () => Promise<void>;
};

/** A thread that begins with the first question. `file` is its script, and `what` names it in errors. */
export function openThread<Asked, Answer>(
  file: URL,
  { what, longestMs }: { what: string; longestMs: number },
): Thread<Asked, Answer> {
  let worker: Worker | undefined;
  const close = async () => {
    const last = worker;
    worker = undefined;
    await last?.terminate();
  };
  const start = () => {
    const started = new Worker(file);
    // Also between two questions, when nobody waits for it.
    started.on('error', () => undefined);
    started.on('exit', () => {
      if (worker === started) worker = undefined;
    });
    return started;
  };
  return {
    async ask(asked) {
      worker ??= start();
      const answered = await post<Answer>(worker, asked, { what, longestMs }).catch(async (error) => {
        // Nobody knows what it is doing now.
        await close();
        throw error;
      });
      if ('fault' in answered) throw new Error(answered.fault);
      return answered.answer;
    },
    close,
  };
}

function post<Answer>(
  worker: Worker,
  asked: unknown,
  { what, longestMs }: { what: string; longestMs: number },
): Promise<Answered<Answer>> {
  return new Promise((done, failed) => {
    const listeners = {
      message: end(done),
      error: end(failed),
      exit: end((code) => failed(new Error(`The thread of ${what} ended (${code}).`))),
    };
    const timer = setTimeout(
      end(() => failed(new Error(`The thread of ${what} took over ${longestMs} ms.`))),
      longestMs,
    );
    function end<Given>(settle: (given: Given) => void) {
      return (given: Given) => {
        clearTimeout(timer);
        for (const [event, listener] of Object.entries(listeners)) worker.off(event, listener);
        settle(given);
      };
    }
    for (const [event, listener] of Object.entries(listeners)) worker.on(event, listener);
    worker.postMessage(asked);
  });
}

/** The other end, in the script of the thread. */
export function answerQuestions<Asked, Answer>(answer: (asked: Asked) => Promise<Answer>): void {
  parentPort?.on('message', async (asked: Asked) => {
    const answered: Answered<Answer> = await answer(asked).then(
      (given) => ({ answer: given }),
      (error) => ({ fault: error instanceof Error ? error.message : String(error) }),
    );
    parentPort?.postMessage(answered);
  });
}
