// Has documents made by a thread of their own, as they are built. From the source they are made in place: a thread cannot read it.
// A start loads nothing of what makes them.

import { findThread } from '../../runtime/files.ts';
import { openThread } from '../../runtime/thread.ts';
import type { FilesToMake, MadeFiles } from './make-files.ts';

type Asked = Omit<FilesToMake, 'font'>;

export type DocumentMaker = {
  /** Makes one document at a time. Throws an error whose message says why it cannot be made. */
  make: (files: Asked) => Promise<MadeFiles>;
  close: () => Promise<void>;
};

// Ten times what the longest text that our forms take needs (docs/operate/sizing.md has the figures).
const heapMebibytes = 72;
// The thread dies of too many small things, but too large a single one would end the process. Nothing that we issue comes near.
const maxFactsLength = 1_000_000;

/** `font` is a TTF. The thread ends a minute after the last document, and begins again with the next (contract 9.350). */
export function openDocumentMaker(font: Uint8Array): DocumentMaker {
  const file = findThread('document-thread');
  const options = { what: 'documents', longestMs: 30_000, heapMebibytes, idleMs: 60_000, given: font };
  const thread = file && openThread<Asked, MadeFiles>(file, options);
  return {
    async make(files) {
      if (files.sealed.length > maxFactsLength) throw new Error('The facts of this document take over 1 MB.');
      if (thread) return thread.ask(files);
      const { makeFiles } = await import('./make-files.ts');
      return makeFiles({ ...files, font });
    },
    close: async () => thread?.close(),
  };
}
