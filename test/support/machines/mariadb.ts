// A MariaDB of Debian's package, in a temporary folder, as an unprivileged user if root runs the tests.
import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
