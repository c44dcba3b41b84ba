// Proves the doctor on broken and right clients in Python.
import { describeLanguage } from '../doctor/harness/describe-language.ts';

describeLanguage('python');
