// Unpacks Chromium into the temporary folder. Prints where Chromium is, and where the libraries that it needs are.
import chromium from '@sparticuz/chromium';

const executablePath = await chromium.executablePath();
process.stdout.write(JSON.stringify([executablePath, process.env.LD_LIBRARY_PATH]));
