// The procedures of acts, each made from its record (server/staff/acts.ts).
import { z } from 'zod';
import { type AnyAct, type Asked, actAsStaff, type Subject } from '../../acts/act.ts';
import type { Staff } from '../../acts/staff.ts';
import { textSchema } from '../../basics/text.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { staff, withRight } from './init.ts';

/** What each act asks for. A member that is missing is refused in its turn (contract 12.14), not before. */
export const askedOf = ({ keys, mayLackSeen }: Pick<Subject<never>, 'keys' | 'mayLackSeen'>) => ({
  ...Object.fromEntries(keys.map((name) => [name, textSchema(name).default('')])),
  why: textSchema('why').default(''),
  seen: mayLackSeen ? textSchema('seen').optional() : textSchema('seen').default(''),
});

/** Does it. The result is what programs get. */
export const perform = async (ctx: Staff & { deps: Dependencies }, act: AnyAct, asked: Asked) =>
  act.about.answer(await actAsStaff(ctx.deps, ctx, act, asked));

/** The procedures of these acts whose right is of that part of `admin`, by what follows in its name. */
export const proceduresOf = <Part extends string, Acts extends Record<string, AnyAct>>(
  part: Part,
  acts: Acts,
): ProceduresOf<Part, Acts> =>
  Object.fromEntries(
    Object.values(acts)
      .filter(({ right }) => right.name.startsWith(`${part}.`))
      .map((act) => [act.right.name.slice(part.length + 1), buildProcedure(act)]),
  ) as ProceduresOf<Part, Acts>;

type ProceduresOf<Part extends string, Acts extends Record<string, AnyAct>> = {
  [Intent in keyof Acts as Acts[Intent]['right']['name'] extends `${Part}.${infer Name}`
    ? Name
    : never]: ReturnType<typeof buildProcedure>;
};

const buildProcedure = (act: AnyAct) => {
  const fields = Object.keys(act.fields) as Parameters<typeof textSchema>[0][];
  return (act.about.isPerson ? staff : withRight(act.right))
    .input(
      z.object({
        ...askedOf(act.about),
        ...Object.fromEntries(fields.map((name) => [name, textSchema(name).default('')])),
      }),
    )
    .mutation(({ ctx, input }) => perform(ctx, act, input as Asked));
};
