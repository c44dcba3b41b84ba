// Runs in a separate thread, so that logins do not wait while a document is made (server/billing/documents/document-maker.ts).

import { answerQuestions, readGiven } from '../../runtime/thread.ts';
import { type FilesToMake, makeFiles } from './make-files.ts';

const font = readGiven() as FilesToMake['font'];

answerQuestions((asked: Omit<FilesToMake, 'font'>) => makeFiles({ ...asked, font }));
