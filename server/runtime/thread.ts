// Runs a thread (`node:worker_threads`, also on Deno) that answers one question at a time.
import { platform, setPriority } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { parentPort, Worker, workerData } from 'node:worker_threads';

type Answered<Answer> = { answer: Answer } | { fault: string };

type Thread<Asked, Answer> = {
  /**
   * Ask one question at a time. Throws the error of the thread. If a thread died or hung, the next question starts a new
   * thread.
   */
  ask: (asked: Asked) => Promise<Answer>;
  close: () => Promise<void>;
};

export type ThreadOptions = {
  /** Names the thread in errors. */
  what: string;
  longestMs: number;
  /** This limit works only on Node. A thread that needs more memory dies. */
  heapMebibytes: number;
  /** If no question comes for this long, the thread ends. */
  idleMs?: number;
  /** `readGiven` returns this value in the thread. */
  given?: unknown;
};

// Memory for short-lived objects. There are few of them, because the thread answers one question at a time.
const maxYoungGenerationSizeMb = 8;

export function openThread<Asked, Answer>(
  file: URL,
  { what, longestMs, heapMebibytes, idleMs, given }: ThreadOptions,
): Thread<Asked, Answer> {
  let worker: Worker | undefined;
  let idle: ReturnType<typeof setTimeout> | undefined;
  const close = async () => {
    clearTimeout(idle);
    const last = worker;
    worker = undefined;
    await last?.terminate();
  };
  const start = () => {
    // Without this, a limit in NODE_OPTIONS would override the thread's own limit. The main thread keeps the limit that it
    // started with.
    setFlagsFromString('--max-old-space-size=0');
    const resourceLimits = {
      maxOldGenerationSizeMb: heapMebibytes - maxYoungGenerationSizeMb,
      maxYoungGenerationSizeMb,
    };
    const started = new Worker(file, { workerData: given, resourceLimits });
    // An error can also come between two questions, when nobody waits for an answer.
    started.on('error', () => undefined);
    started.on('exit', () => {
      if (worker === started) worker = undefined;
    });
    return started;
  };
  return {
    async ask(asked) {
      clearTimeout(idle);
      worker ??= start();
      const answered = await post<Answer>(worker, asked, { what, longestMs }).catch(async (error) => {
        await close();
        throw error;
      });
      if (idleMs !== undefined) idle = setTimeout(close, idleMs);
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

export const readGiven = (): unknown => workerData;

export function answerQuestions<Asked, Answer>(answer: (asked: Asked) => Promise<Answer>): void {
  parentPort?.on('message', async (asked: Asked) => {
    const answered: Answered<Answer> = await answer(asked).then(
      (given) => ({ answer: given }),
      (error) => ({ fault: error instanceof Error ? error.message : String(error) }),
    );
    parentPort?.postMessage(answered);
  });
}

// The threads that hash have the same priority (start-node.cjs).
const lowPriority = 10;

/** Lets this thread yield to the thread that answers requests. */
export function giveWay(): void {
  // On other systems, this would affect the whole process.
  if (platform() === 'linux') setPriority(lowPriority);
}
