// Which files there are for administrators (contract 12.143 to 12.162). server/doors/endpoints/staff-file.ts sends them.
import { z } from 'zod';
import { textSchema } from '../../basics/text.ts';
import { listFiles, readAskedFile } from '../../staff/files.ts';
import { allowed, router } from './init.ts';

export const adminFilesRouter = router({
  list: allowed('files.list').query(({ ctx }) => listFiles(ctx.deps, ctx)),
});

const text = (name: Parameters<typeof textSchema>[0]) => textSchema(name).default('');

export const filesFormsRouter = router({
  /** What a form asks for. Throws 404 `not_found` for managers and for another file, and 422 `validation_failed` for the days. */
  read: allowed('files.list')
    .input(z.object({ file: text('file'), from: text('from'), to: text('to') }))
    .query(({ ctx, input }) => readAskedFile(ctx.deps, input)),
});
