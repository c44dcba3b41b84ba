// `npx tsx test/support/database/write-dump.ts URL "what made it" > test/upgrades/<commit>.sql`: a dump for the test of upgrades.
import { dumpDatabase } from './dump.ts';

const [url = '', ...words] = process.argv.slice(2);
process.stdout.write(await dumpDatabase(url, `-- ${words.join(' ')}`));
