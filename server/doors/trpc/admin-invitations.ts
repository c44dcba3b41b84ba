// Procedures for invitations to the staff (contract 12.210 to 12.221).
import { type Staff, searchAsStaff } from '../../acts/staff.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { invitationActs, listOpenInvitations } from '../../staff/invitations.ts';
import { proceduresOf } from './acts.ts';
import { allowed, router } from './init.ts';

/** The list names people, so it counts as a search. */
export const readInvitations = (ctx: Staff & { deps: Dependencies }) =>
  searchAsStaff(ctx, 'invitations', () => listOpenInvitations(ctx.deps));

export const invitationsRouter = router({
  list: allowed('invitations.list').query(({ ctx }) => readInvitations(ctx)),
  ...proceduresOf('invitations', invitationActs),
});
