// Has documents made by a thread of their own, as they are built. From the source they are made in place: a thread cannot read it.
// A start loads nothing of what makes them.
import type { FilesToMake, MadeFiles } from '../billing/documents/make-files.ts';
import { findThread, readDefaultFont } from './files.ts';
import { openThread } from './thread.ts';

export type DocumentMaker = {
  /** Makes one document at a time. Throws an error whose message says why it cannot be made. */
  make: (files: Omit<FilesToMake, 'font'>) => Promise<MadeFiles>;
  close: () => Promise<void>;
};

/** `font` is a TTF, by default the one that comes with the service. */
export function openDocumentMaker(font: Uint8Array = readDefaultFont()): DocumentMaker {
  const file = findThread('document-thread');
  const thread = file && openThread<FilesToMake, MadeFiles>(file, { what: 'documents', longestMs: 30_000 });
  return {
    async make(files) {
      if (thread) return thread.ask({ ...files, font });
      const { makeFiles } = await import('../billing/documents/make-files.ts');
      return makeFiles({ ...files, font });
    },
    close: async () => thread?.close(),
  };
}
