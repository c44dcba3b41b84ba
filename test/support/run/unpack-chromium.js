// Unpacks Chromium into the temporary folder. Prints where it is, and where the libraries are that it needs.
import chromium from '@sparticuz/chromium';

const executablePath = await chromium.executablePath();
process.stdout.write(JSON.stringify([executablePath, process.env.LD_LIBRARY_PATH]));
