// The procedures for acts. Each is built from the act's record (server/staff/acts.ts).
import { z } from 'zod';
import { type AnyAct, type Asked, actAsStaff, type Subject } from '../../acts/act.ts';
import type { Staff } from '../../acts/staff.ts';
import { textSchema } from '../../basics/text.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { staff, withRight } from './init.ts';

/**
 * A missing member becomes an empty text, which the schema accepts. The act refuses it later, in the order of contract 12.14.
 */
export const text = (name: Parameters<typeof textSchema>[0]) => textSchema(name).default('');

/** Accepts one of the given words. An empty text is accepted too, and means that no word was chosen. */
export const choice = <Choice extends string>(
  name: Parameters<typeof textSchema>[0],
  choices: readonly Choice[],
) =>
  textSchema(name)
    .refine((text) => text === '' || choices.some((each) => each === text))
    .transform((text) => (text || undefined) as Choice | undefined)
    .optional();

export const askedOf = ({ keys, mayLackSeen }: Pick<Subject<never>, 'keys' | 'mayLackSeen'>) => ({
  ...Object.fromEntries(keys.map((name) => [name, text(name)])),
  why: text('why'),
  seen: mayLackSeen ? textSchema('seen').optional() : text('seen'),
});

export const perform = async (ctx: Staff & { deps: Dependencies }, act: AnyAct, asked: Asked) =>
  act.about.answer(await actAsStaff(ctx.deps, ctx, act, asked));

/**
 * Makes a procedure for each act whose right begins with `part`. For example, with `people`, the act with the right
 * `people.freeze` becomes the procedure `freeze`.
 */
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
  const { why, seen, ...keys } = askedOf(act.about);
  return (act.about.isPerson ? staff : withRight(act.right))
    .input(
      z.object({
        ...keys,
        ...(!act.hasNoWhy && { why }),
        seen,
        // A field may be missing. Unless its act says otherwise, a missing field counts as empty.
        ...Object.fromEntries(fields.map((name) => [name, textSchema(name).optional()])),
      }),
    )
    .mutation(({ ctx, input }) => perform(ctx, act, input as Asked));
};
