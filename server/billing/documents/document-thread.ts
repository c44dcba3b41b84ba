// Runs in a separate thread, so that logins do not wait for documents (server/billing/documents/document-maker.ts).

import { answerQuestions, readGiven } from '../../runtime/thread.ts';
import type { Asked } from './document-maker.ts';
import { makeFiles } from './make-files.ts';
import type { Look } from './sheet.ts';

const look = readGiven() as Look;

answerQuestions((asked: Asked) => makeFiles({ ...asked, look }));
