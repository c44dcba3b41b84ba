// The thread that makes documents: what that takes of a processor, no login waits for. It begins with the first document of a run of
// the job, and ends after the last (server/runtime/document-maker.ts).
import { parentPort } from 'node:worker_threads';
import { type FilesToMake, type MadeFiles, makeFiles } from '../billing/documents/make-files.ts';

export type ThreadAnswer = { made: MadeFiles } | { fault: string };

parentPort?.on('message', async (files: FilesToMake) => {
  const answer: ThreadAnswer = await makeFiles(files).then(
    (made) => ({ made }),
    (error) => ({ fault: error instanceof Error ? error.message : String(error) }),
  );
  parentPort?.postMessage(answer);
});
