// Says which files there are for administrators (contract 12.143 to 12.161). server/doors/endpoints/staff-file.ts sends them.
import { z } from 'zod';
import { listFiles, readAskedFile } from '../../staff/files.ts';
import { text } from './acts.ts';
import { allowed, router } from './init.ts';

export const adminFilesRouter = router({
  list: allowed('files.list').query(({ ctx }) => listFiles(ctx.deps, ctx)),
});

export const filesFormsRouter = router({
  /** Throws 404 `not_found` for managers and unknown files, and 422 `validation_failed` for wrong days. */
  read: allowed('files.list')
    .input(z.object({ file: text('file'), from: text('from'), to: text('to') }))
    .query(({ ctx, input }) => readAskedFile(ctx.deps, input)),
});
