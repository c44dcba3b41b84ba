// `npm run names`: writes docs/names.md.
import { writeFileSync } from 'node:fs';
import { buildNames, namesFile } from './names-text.ts';

writeFileSync(namesFile, buildNames());
