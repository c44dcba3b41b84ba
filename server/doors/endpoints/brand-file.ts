// GET /brand/{file}: serves a logo from the settings, or the stylesheet with the accent colour. The file's name contains a
// digest.
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
      // If an SVG is opened as a page, it must not run a script in our origin or load anything else.
      'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    },
  });
}
