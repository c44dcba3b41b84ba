// The doctor's own proof, in Python.
import { describeLanguage } from '../doctor/harness/describe-language.ts';

describeLanguage('python');
