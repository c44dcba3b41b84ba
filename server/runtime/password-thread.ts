// The thread that checks new passwords, as long as the service runs.
import { platform, setPriority } from 'node:os';
import { findPasswordFault } from '../identity/password/password-fault.ts';
import { answerQuestions } from './thread.ts';

// It gives way to the thread that answers requests, as hashing does (start-node.cjs). Linux takes this for the thread alone.
const lowPriority = 10;
if (platform() === 'linux') setPriority(lowPriority);

answerQuestions(findPasswordFault);
