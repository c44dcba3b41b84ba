// Proves the doctor on clients in TypeScript: it names the fault of each of thirty broken clients, and finds none in the right
// ones.
import { describeLanguage } from './harness/describe-language.ts';

describeLanguage('typescript');
