// The profile, read and edited by its owner.

import { z } from 'zod';
import { textSchema } from '../http/text.ts';
import { changePassword } from '../identity/password/change-password.ts';
import { buildOwnProfile, editProfile, profileEditSchema } from '../identity/person/profile.ts';
import { authenticated, router } from './init.ts';

export const profileRouter = router({
  get: authenticated.query(({ ctx }) => buildOwnProfile(ctx.session.user)),

  update: authenticated
    .input(profileEditSchema)
    .mutation(({ ctx, input }) => editProfile(ctx.deps, ctx, input)),

  changePassword: authenticated
    .input(
      z.object({ currentPassword: textSchema('currentPassword'), newPassword: textSchema('newPassword') }),
    )
    .mutation(async ({ ctx, input }) => {
      const setCookies = await changePassword(ctx.deps, ctx, input);
      for (const cookie of setCookies) ctx.headers.append('Set-Cookie', cookie);
    }),
});
