// GET /profile/data.json: sends everything kept about the logged-in person as one file. The file is written while it is sent, a
// page of rows at a time, so that no transaction waits for the reader.

import { type OwnRow, readOwnRows, sections } from '../../../db/own-data.ts';
import { inTransactionOf } from '../../../db/postgres/transactions.ts';
import type { User } from '../../../db/tables/users.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { notify } from '../../identity/ground/notices.ts';
import { recordActorEvent } from '../../identity/session/actor.ts';
import { findLiveSession, isConfirmed } from '../../identity/session/sessions.ts';
import { redirect, respond } from '../../web/answers.ts';
import { isFromElsewhere, isSpeculative, type Visit } from '../../web/requests.ts';

const rowsAtOnce = 200;

/** If the last credential is older than ten minutes, redirects to the page that asks for one. Throws 429 `rate_limited`. */
export async function downloadData(deps: Dependencies, request: Request, visit: Visit): Promise<Response> {
  if (isSpeculative(request)) return respond(204);
  const { db } = deps;
  const session = await findLiveSession(deps, request, visit);
  if (!session || !isConfirmed(deps, session) || isFromElsewhere(request)) return redirect('/profile/data');
  const { user } = session;
  await inTransactionOf(visit, db, async (trx) => {
    await recordActorEvent(trx, { session, request, visit }, { type: 'data.downloaded' });
    await notify(trx, deps, user, 'data_downloaded', request);
  });
  return new Response(toStream(deps, visit, writeData(deps, user)), {
    headers: {
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Disposition': 'attachment; filename="your-data.json"',
      'Cache-Control': 'no-store',
    },
  });
}

async function* writeData({ db, now, config }: Dependencies, user: User): AsyncGenerator<string> {
  yield `{\n"service": ${JSON.stringify(config.issuer)},\n"written_at": ${JSON.stringify(now())}`;
  for (const section of sections) {
    if (section.needsProof && !user.emailVerifiedAt) continue;
    yield `,\n${JSON.stringify(section.name)}: [`;
    let rows: OwnRow[] = [];
    do {
      const after = rows.at(-1)?.key;
      rows = await readOwnRows(db, section, user.id, { after, limit: rowsAtOnce });
      if (rows.length > 0) yield `${after ? ',' : ''}\n${rows.map(({ row }) => row).join(',\n')}`;
    } while (rows.length === rowsAtOnce);
    yield '\n]';
  }
  yield '\n}\n';
}

/**
 * Reads rows only as fast as the browser accepts them. If something fails, the download breaks off, so that nobody mistakes
 * half a file for the whole.
 */
function toStream(
  { log }: Dependencies,
  { requestId }: Visit,
  parts: AsyncGenerator<string>,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let isCanceled = false;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await parts.next();
          if (isCanceled) return;
          if (done) controller.close();
          else controller.enqueue(encoder.encode(value));
        } catch (err) {
          log.error({ requestId, err }, 'download broken off');
          controller.error(err);
        }
      },
      async cancel() {
        isCanceled = true;
        await parts.return(undefined);
      },
    },
    { highWaterMark: 1 },
  );
}
