// GET /brand/{file}: a logo, the tab's icon, or the stylesheet with the accent colour. The name of a file contains a digest.
// GET /favicon.ico: the tab's icon, for browsers that show a file with no icon of its own, such as a PDF (contract 8.90).
import { AppError } from '../../basics/errors.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import type { BrandFile } from '../../settings/brand.ts';

/** Throws 404 `not_found` for an unknown name. */
export const brandFile = ({ config }: Dependencies, name: string): Response =>
  answer(config.brandFiles.find(`/brand/${name}`), 'public, max-age=31536000, immutable');

export const favicon = ({ config }: Dependencies): Response =>
  answer(config.brandFiles.find(config.brand.icons.at(-1)?.href ?? ''), 'public, max-age=86400');

function answer(file: BrandFile | undefined, caching: string): Response {
  if (!file) throw new AppError('not_found');
  return new Response(file.bytes, {
    headers: {
      'Content-Type': file.type === 'text/css' ? 'text/css; charset=utf-8' : file.type,
      'Cache-Control': caching,
      // If an SVG is opened as a page, it must not run a script in our origin or load anything else.
      'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    },
  });
}
