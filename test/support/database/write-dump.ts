// `npx tsx test/support/database/write-dump.ts URL "what made it" > test/upgrades/<commit>.sql`: writes a dump of a database
// that a version of this code has made, for the test of upgrades.
import { dumpDatabase } from './dump.ts';

const [url = '', ...words] = process.argv.slice(2);
process.stdout.write(await dumpDatabase(url, `-- ${words.join(' ')}`));
