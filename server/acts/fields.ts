// The fields of an act, and how each is read from what was typed.
import type { z } from 'zod';
import type { Database } from '../../db/postgres/client.ts';
import { AppError, type FieldError } from '../basics/errors.ts';
import { type FaultName, faultWords } from '../basics/fault-words.ts';
import type { TextName } from '../basics/text.ts';
import type { Dependencies } from '../ground/dependencies.ts';

export type Given = Partial<Record<TextName, string>>;

type With<Thing> = Pick<Dependencies, 'config' | 'now'> & { db: Database; thing: Thing; given: Given };

/** Reads what was typed into the field. Throws a `Fault`, or 422 `validation_failed` with a pointer. */
export interface Field<Thing, Value = unknown> {
  (typed: string, given: With<Thing>): Value | Promise<Value>;
  choices?: readonly string[];
}

export type Fields<Thing, Read> = { [Name in keyof Read]: Field<Thing, Read[Name]> };

class Fault extends Error {}

export const refuse = (name: FaultName): never => {
  throw new Fault(faultWords[name]);
};

/** Reads every field, so that one answer names every fault. Throws 422 `validation_failed`. */
export async function readFields<Thing, Read>(
  fields: Fields<Thing, Read>,
  given: { [name: string]: string | undefined },
  more: Omit<With<Thing>, 'given'>,
): Promise<Read> {
  const errors: FieldError[] = [];
  const read: [string, unknown][] = [];
  for (const [name, field] of Object.entries<Field<Thing>>(fields))
    try {
      read.push([name, await field(given[name] ?? '', { ...more, given })]);
    } catch (error) {
      if (error instanceof Fault) errors.push({ pointer: `/${name}`, detail: error.message });
      else if (error instanceof AppError && error.code === 'validation_failed') errors.push(...error.errors);
      else throw error;
    }
  if (errors.length > 0) throw new AppError('validation_failed', { errors });
  return Object.fromEntries(read) as Read;
}

export const readOneOf = <Choice extends string>(...choices: Choice[]) =>
  Object.assign(
    (typed: string): Choice => choices.find((choice) => choice === typed) ?? refuse('choice_missing'),
    { choices },
  );

export const readBy =
  <Value>(schema: z.ZodType<Value>, fault: FaultName) =>
  (typed: string): Value => {
    const read = schema.safeParse(typed);
    return read.success ? read.data : refuse(fault);
  };

export const readSome = (typed: string): string => typed || refuse('choice_missing');
