// `npm run settings`: writes the tables of docs/operate/settings.md, and .env.example.
import { writeFileSync } from 'node:fs';
import { readOurFile } from './documents.ts';
import { buildExample, buildSettings, exampleFile, settingsFile } from './settings-text.ts';

writeFileSync(settingsFile, buildSettings(readOurFile(settingsFile)));
writeFileSync(exampleFile, buildExample());
