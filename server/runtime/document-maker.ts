// Has documents made by a thread of their own, as they are built. From the source they are made in place: a thread cannot read it.
// A start loads nothing of what makes them.
import { Worker } from 'node:worker_threads';
import type { FilesToMake, MadeFiles } from '../billing/documents/make-files.ts';
import type { ThreadAnswer } from './document-thread.ts';
import { findThread, readDefaultFont } from './files.ts';

export type DocumentMaker = {
  /** Makes one document at a time. Throws an error whose message says why it cannot be made. */
  make: (files: Omit<FilesToMake, 'font'>) => Promise<MadeFiles>;
  close: () => Promise<void>;
};

const longestMs = 30_000;

/** `font` is a TTF, by default the one that comes with the service. */
export function openDocumentMaker(font: Uint8Array = readDefaultFont()): DocumentMaker {
  const file = findThread('document-thread');
  let thread: Worker | undefined;
  const close = async () => {
    const last = thread;
    thread = undefined;
    await last?.terminate();
  };
  return {
    async make(files) {
      if (!file) {
        const { makeFiles } = await import('../billing/documents/make-files.ts');
        return makeFiles({ ...files, font });
      }
      thread ??= new Worker(file);
      const answer = await ask(thread, { ...files, font }).catch(async (error) => {
        // Nobody knows what it is doing now: the next document gets another one.
        await close();
        throw error;
      });
      if ('fault' in answer) throw new Error(answer.fault);
      return answer.made;
    },
    close,
  };
}

function ask(thread: Worker, files: FilesToMake): Promise<ThreadAnswer> {
  return new Promise((done, failed) => {
    const listeners = {
      message: end(done),
      error: end(failed),
      exit: end((code) => failed(new Error(`The thread of documents ended (${code}).`))),
    };
    const timer = setTimeout(
      end(() => failed(new Error(`A document took over ${longestMs} ms.`))),
      longestMs,
    );
    function end<Given>(settle: (given: Given) => void) {
      return (given: Given) => {
        clearTimeout(timer);
        for (const [event, listener] of Object.entries(listeners)) thread.off(event, listener);
        settle(given);
      };
    }
    for (const [event, listener] of Object.entries(listeners)) thread.on(event, listener);
    thread.postMessage(files);
  });
}
