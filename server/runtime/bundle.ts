// Builds the packages that we use into the bundle, because it would take half of the start to load their 800 files
// (docs/inside/decisions/run-what-is-built.md).
import { readdirSync, readFileSync } from 'node:fs';
import type { Plugin, UserConfig } from 'vite';

const licences = [
  'MIT',
  'MIT-0',
  'ISC',
  '0BSD',
  'BSD-3-Clause',
  'Apache-2.0',
  // Such a package may lack the text of Apache-2.0, because other packages in the bundle bring it.
  '(Apache-2.0 AND MIT)',
  // We use this package under MIT.
  'MIT or MPL-2.0',
];
/** Packages that name the MIT or ISC licence but lack its text. */
const withoutText = [
  '@web3-storage/multipart-parser',
  'brotli',
  'dfa',
  'dinero.js',
  'fontkit',
  'saxes',
  'stream-slice',
];
/** Packages that have the text of a licence without naming it. */
const withoutName: Record<string, string> = { 'png-js': 'MIT' };

export const bundle = {
  // Native code cannot be built in, and Vite is only for development.
  ssr: { noExternal: true, external: ['@node-rs/argon2', 'vite'] },
  // As ASCII, the file takes half the memory. The licences are in a file of their own.
  esbuild: { charset: 'ascii', legalComments: 'none' },
  build: {
    sourcemap: true,
    rollupOptions: { output: { sourcemapExcludeSources: true } },
    // Remix uses these packages only in a function that is never called. One of them, undici, has a megabyte.
    commonjsOptions: { ignore: ['undici', '@remix-run/web-fetch'] },
  },
} satisfies UserConfig;

const reactEntry = /\/node_modules\/(react(?:-dom)?)\/(index|jsx-runtime|server\.browser)\.js$/;
const isProduction = "process.env.NODE_ENV === 'production'";

/**
 * Builds only React for production into the bundle. React for development is four times as large, and is loaded from
 * node_modules.
 */
export function reactForProduction(): Plugin {
  return {
    name: 'react-for-production',
    enforce: 'pre',
    transform(code, id) {
      const [, name, entry] = reactEntry.exec(id) ?? [];
      if (!name) return undefined;
      if (!code.includes(isProduction)) this.error(`${id} does not choose by NODE_ENV.`);
      const path = entry === 'index' ? name : `${name}/${entry}`;
      const load = `require(${JSON.stringify('node:module')}).createRequire(import.meta.url)('${path}')`;
      const chosen = `if (${isProduction}) {\n${code.replaceAll(isProduction, 'true')}\n}`;
      return { code: `${chosen} else { module.exports = ${load}; }\n`, map: null };
    },
  };
}

/** Writes the licences of the bundled packages beside the bundle. Fails if a licence is missing or was not expected. */
export function thirdPartyLicences(): Plugin {
  return {
    name: 'third-party-licences',
    generateBundle(_, files) {
      const folders = new Set<string>();
      for (const file of Object.values(files))
        for (const [id, module] of Object.entries(file.type === 'chunk' ? file.modules : {})) {
          const [, folder] = /^\0?(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id) ?? [];
          if (folder && module.renderedLength > 0) folders.add(folder);
        }
      const source = [...folders]
        .map(describeLicence)
        .sort()
        .join(`\n${'-'.repeat(80)}\n\n`);
      this.emitFile({ type: 'asset', fileName: 'third-party-licences.txt', source });
    },
  };
}

function describeLicence(folder: string): string {
  const read = (name: string) => readFileSync(`${folder}/${name}`, 'utf8').trim();
  const { name, version, author, ...rest } = JSON.parse(read('package.json'));
  const license = rest.license ?? withoutName[name];
  if (!licences.includes(license))
    throw new Error(`The licence of ${name} is ${license}. May it be built in?`);
  const names = readdirSync(folder).sort();
  const texts = names.filter((file) => /^(licen[cs]e|copying|notice)/i.test(file)).map(read);
  // Some packages have the licence at the end of their README.
  const readme = names.filter((file) => /^readme/i.test(file)).map(read);
  if (texts.length === 0)
    texts.push(...readme.filter((text) => text.includes('Permission is hereby granted')));
  if (texts.length === 0 && withoutText.includes(name))
    texts.push(`Copyright ${author?.name ?? author}\n\n${license === 'ISC' ? isc : mit}`);
  if (texts.length === 0) throw new Error(`${name} has no text of its licence.`);
  return `${name} ${version} (${license})\n\n${texts.join('\n\n')}\n`;
}

const isc = `Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby
granted, provided that the above copyright notice and this permission notice appear in all copies.

THE SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES WITH REGARD TO THIS SOFTWARE INCLUDING ALL IMPLIED
WARRANTIES OF MERCHANTABILITY AND FITNESS. IN NO EVENT SHALL THE AUTHOR BE LIABLE FOR ANY SPECIAL, DIRECT, INDIRECT, OR
CONSEQUENTIAL DAMAGES OR ANY DAMAGES WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS, WHETHER IN AN ACTION OF
CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF OR IN CONNECTION WITH THE USE OR PERFORMANCE OF THIS SOFTWARE.`;

const mit = `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`;
