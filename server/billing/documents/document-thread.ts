// Runs in a separate thread, so that logins do not wait for documents (server/billing/documents/document-maker.ts).

import { answerQuestions, readGiven } from '../../runtime/thread.ts';
import type { Asked } from './document-maker.ts';
import { type FilesToMake, makeFiles } from './make-files.ts';

const fonts = readGiven() as FilesToMake['fonts'];

answerQuestions((asked: Asked) => makeFiles({ ...asked, fonts }));
