// The thread that makes documents: what that takes of a processor, no login waits for (server/runtime/document-maker.ts).
import { type FilesToMake, makeFiles } from '../billing/documents/make-files.ts';
import { answerQuestions, readGiven } from './thread.ts';

const font = readGiven() as FilesToMake['font'];

answerQuestions((asked: Omit<FilesToMake, 'font'>) => makeFiles({ ...asked, font }));
