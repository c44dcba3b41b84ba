// Proves the doctor on broken and right clients in PHP.
import { describeLanguage } from '../doctor/harness/describe-language.ts';

describeLanguage('php');
