// The page /continue shows the hand-off that waits for a click.
import { confirmPending, describePending } from '../../../marketplace/pending-hand-off.ts';
import { anonymous, router, setCookies } from '../init.ts';

export const handOffRouter = router({
  describe: anonymous.query(({ ctx }) => describePending(ctx.deps, ctx.request, ctx.visit)),

  /** Returns where the browser goes next, or null if the user has to log in first. */
  confirm: anonymous.mutation(async ({ ctx }) => {
    const done = await confirmPending(ctx.deps, ctx.request, ctx.visit);
    if (done === 'login_needed') return null;
    setCookies(ctx, done.setCookies);
    return { next: done.next };
  }),
});
