// GET /dev/mail/{id}: shows the HTML of a mail that local mode keeps, as a mail program would.
import { z } from 'zod';
import { findKeptHtml } from '../../../db/tables/kept-mails.ts';
import { AppError } from '../../basics/errors.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { respond } from '../../web/answers.ts';

// Links in the mail open outside the frame of /dev/mail. The mail loads nothing, and runs no script.
const may = 'allow-popups allow-popups-to-escape-sandbox allow-top-navigation-by-user-activation';
const policy = `default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'; sandbox ${may}`;

/** Throws 404 `not_found` if there is no such mail, or if the service really sends mails. */
export async function keptMail({ config, db }: Dependencies, id: string): Promise<Response> {
  const isKept = config.mail === undefined && z.uuid().safeParse(id).success;
  const html = isKept ? await findKeptHtml(db, id) : undefined;
  if (html === undefined) throw new AppError('not_found');
  const headers = {
    'Content-Type': 'text/html; charset=utf-8',
    'Cache-Control': 'no-store',
    'Content-Security-Policy': policy,
    'X-Frame-Options': 'SAMEORIGIN',
    // A frame with a sandbox already has its own origin. Chromium complains if the page in the frame asks for its own origin,
    // too.
    'Origin-Agent-Cluster': '?0',
  };
  return respond(200, headers, html.replace('<head>', '<head><base target="_top">'));
}
