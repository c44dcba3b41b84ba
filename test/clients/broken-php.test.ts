// The doctor's own proof, in PHP.
import { describeLanguage } from '../doctor/harness/describe-language.ts';

describeLanguage('php');
