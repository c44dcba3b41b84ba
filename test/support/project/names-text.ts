// The names that programs rely on, as docs/names.md lists them: one a line, from the code.
import type { Argument } from 'commander';
import { z } from 'zod';
import { auditEventTypes } from '../../../db/tables/audit-event-types.ts';
import { mailKinds } from '../../../db/tables/mail-kinds.ts';
import { problems } from '../../../server/basics/problems.ts';
import { buildProgram } from '../../../server/doors/cli/program.ts';
import { appRouter } from '../../../server/doors/trpc/router.ts';
import { eventSchema } from '../../../server/events/describe-event.ts';
import { listSettings } from '../../../server/settings/config.ts';
import { readOurFile } from './documents.ts';

export const namesFile = 'docs/names.md';

const procedures = appRouter._def.procedures as unknown as Record<
  string,
  { _def: { type: string; inputs: z.ZodType[] } }
>;
const refusals: { code: string; status: number }[] = JSON.parse(readOurFile('clients/refusals.json'));

const code = (text: string) => `\`${text}\``;
const withDetails = (name: string, details: string[]) => [code(name), ...details].join(' ');

function describeInputs(inputs: z.ZodType[]): string[] {
  return inputs.flatMap((input) => {
    const { properties = {}, required = [] } = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' });
    return Object.keys(properties).map((name) => code(required.includes(name) ? name : `${name}?`));
  });
}

const writeArgument = (argument: Argument) =>
  argument.required ? `<${argument.name()}>` : `[${argument.name()}]`;

const lists: Record<string, string[]> = {
  'Procedures at /trpc': Object.entries(procedures).map(([name, { _def }]) =>
    withDetails(name, [_def.type, ...describeInputs(_def.inputs)]),
  ),
  Commands: buildProgram().commands.map((command) =>
    withDetails(
      [command.name(), ...command.registeredArguments.map(writeArgument)].join(' '),
      command.options.map(({ flags }) => code(flags)),
    ),
  ),
  'Codes of refusals': Object.entries(problems).map(([name, [status]]) => `${code(name)} ${status}`),
  'Codes with which a kit refuses a hand-off': refusals.map(
    ({ code: name, status }) => `${code(name)} ${status}`,
  ),
  'Events for clients': eventSchema.options.flatMap(({ shape: { type } }) =>
    ('options' in type ? type.options : [type.value]).map(code),
  ),
  'Audit events': Object.keys(auditEventTypes).map(code),
  Mails: mailKinds.map(code),
  Settings: listSettings().map(code),
};

/** The text of docs/names.md. */
export function buildNames(): string {
  const sections = Object.entries(lists).map(
    ([title, names]) =>
      `## ${title}\n\n${[...names]
        .sort()
        .map((name) => `- ${name}\n`)
        .join('')}`,
  );
  return `# Names

What programs and scripts may rely on by name. \`npm run names\` writes this file from the code. A name that goes or changes is in the [changelog](../CHANGELOG.md) under *Removed*.

${sections.join('\n')}`;
}

/** Returns names that the earlier file had and this one lacks. Leaves out the names that the changes of this version quote. */
export function findDropped(before: string, now: string, removed: string): string[] {
  const namesOf = (text: string) => [...text.matchAll(/^- (.+)$/gm)].map(([, name = '']) => name);
  const partsOf = (name: string) => name.split(/ (?=`)/);
  const left = new Map(namesOf(now).map((name) => [partsOf(name)[0], new Set(partsOf(name))]));
  const isLeft = (name: string) => partsOf(name).every((part) => left.get(partsOf(name)[0])?.has(part));
  return namesOf(before).filter((name) => !isLeft(name) && !removed.includes(name));
}
