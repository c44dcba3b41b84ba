import { z } from 'zod';
import { textSchema } from '../../basics/text.ts';
import { changePassword } from '../../identity/password/change-password.ts';
import { buildOwnProfile, editProfile, profileEditSchema } from '../../identity/person/profile.ts';
import { person, router, setCookies } from './init.ts';

export const profileRouter = router({
  get: person.query(({ ctx }) => buildOwnProfile(ctx.session.user)),

  update: person.input(profileEditSchema).mutation(({ ctx, input }) => editProfile(ctx.deps, ctx, input)),

  changePassword: person
    .input(
      z.object({ currentPassword: textSchema('currentPassword'), newPassword: textSchema('newPassword') }),
    )
    .mutation(async ({ ctx, input }) => {
      setCookies(ctx, await changePassword(ctx.deps, ctx, input));
    }),
});
