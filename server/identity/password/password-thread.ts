// The thread that checks new passwords, as long as the service runs.
import { answerQuestions, giveWay } from '../../runtime/thread.ts';
import { findPasswordFault } from './password-fault.ts';

giveWay();
answerQuestions(findPasswordFault);
