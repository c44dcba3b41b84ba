// The thread that makes documents: what that takes of a processor, no login waits for. It begins with the first document of a run of
// the job, and ends after the last (server/runtime/document-maker.ts).
import { makeFiles } from '../billing/documents/make-files.ts';
import { answerQuestions } from './thread.ts';

answerQuestions(makeFiles);
