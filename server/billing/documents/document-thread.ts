// The thread that makes documents: what that takes of a processor, no login waits for (server/billing/documents/document-maker.ts).

import { answerQuestions, readGiven } from '../../runtime/thread.ts';
import { type FilesToMake, makeFiles } from './make-files.ts';

const font = readGiven() as FilesToMake['font'];

answerQuestions((asked: Omit<FilesToMake, 'font'>) => makeFiles({ ...asked, font }));
