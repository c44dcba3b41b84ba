// GET /brand/{file}: a logo, or the stylesheet with the accent colour, from the settings. The name of a file contains a digest.
import { AppError } from '../../basics/errors.ts';
import type { Dependencies } from '../../ground/dependencies.ts';

/** Throws 404 `not_found` for an unknown name. */
export function brandFile({ config }: Dependencies, name: string): Response {
  const file = config.brandFiles.find(`/brand/${name}`);
  if (!file) throw new AppError('not_found');
  return new Response(file.bytes, {
    headers: {
      'Content-Type': file.type === 'text/css' ? 'text/css; charset=utf-8' : file.type,
      'Cache-Control': 'public, max-age=31536000, immutable',
      // An SVG that is opened as a page must not run a script in our origin, nor load anything else.
      'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    },
  });
}
