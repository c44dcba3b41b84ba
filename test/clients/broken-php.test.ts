// Shows that the doctor finds the faults of broken clients in PHP, and none in right clients.
import { describeLanguage } from '../doctor/harness/describe-language.ts';

describeLanguage('php');
