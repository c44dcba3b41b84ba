// The doctor's own proof, in TypeScript: each of thirty broken clients is found out by name, and the right ones are let be.
import { describeLanguage } from './harness/describe-language.ts';

describeLanguage('typescript');
