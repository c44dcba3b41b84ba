import { answerQuestions, giveWay } from '../../runtime/thread.ts';
import { findPasswordFault } from './password-fault.ts';

giveWay();
answerQuestions(findPasswordFault);
