// Makes documents in a separate thread. If the service runs from source, it makes them in the main thread, because other
// threads cannot read the source. The process does not load pdfkit when it starts.

import { findThread } from '../../runtime/files.ts';
import { openThread } from '../../runtime/thread.ts';
import type { Config } from '../../settings/config.ts';
import type { FilesToMake, MadeFiles } from './make-files.ts';
import type { SampleToMake } from './pdf.ts';
import type { Look } from './sheet.ts';

export type Asked = Omit<FilesToMake, 'look'> | Omit<SampleToMake, 'look'>;

export const lookOf = ({ billingFonts, brand }: Pick<Config, 'billingFonts' | 'brand'>): Look => ({
  fonts: billingFonts,
  accent: brand.accent.onLight.text,
});

export type DocumentMaker = {
  /** Makes one document at a time. If one cannot be made, the message of the error says why. */
  make: <Files extends Asked>(files: Files) => Promise<MadeFiles>;
  close: () => Promise<void>;
};

// The longest text that our forms accept needs a tenth of this memory (see docs/operate/sizing.md).
const heapMebibytes = 72;
// Facts with more characters than this are refused. If many small objects fill the heap, only the thread ends. But one object
// that does not fit into the heap would end the whole process.
const maxFactsLength = 1_000_000;

/** The thread ends a minute after the last document, and starts again for the next one (contract 7.219). */
export function openDocumentMaker(look: Look): DocumentMaker {
  const file = findThread('document-thread');
  const options = { what: 'documents', longestMs: 30_000, heapMebibytes, idleMs: 60_000, given: look };
  const thread = file && openThread<Asked, MadeFiles>(file, options);
  return {
    async make(files) {
      if ('sealed' in files && files.sealed.length > maxFactsLength)
        throw new Error('The facts of this document take over 1 MB.');
      if (thread) return thread.ask(files);
      const { makeFiles } = await import('./make-files.ts');
      return makeFiles({ ...files, look });
    },
    close: async () => thread?.close(),
  };
}
