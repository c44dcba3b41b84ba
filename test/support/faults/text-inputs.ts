// Finds in the schemas all strings of the JSON that the service accepts.
import { readdirSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import type { appRouter } from '../../../server/doors/trpc/router.ts';

type Shape = {
  type?: string;
  const?: unknown;
  enum?: unknown[];
  format?: string;
  pattern?: string;
  maxLength?: number;
  items?: Shape;
  properties?: Record<string, Shape>;
  anyOf?: Shape[];
};

export const readShape = (schema: z.ZodType) =>
  z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Shape;

/** Returns the name of each procedure with the schema of its input. */
export function readInputs(router: typeof appRouter): [string, Shape][] {
  const { procedures } = router._def as unknown as {
    procedures: Record<string, { _def: { inputs: z.ZodType[] } }>;
  };
  return Object.entries(procedures).flatMap(([name, { _def }]) =>
    _def.inputs.map((schema): [string, Shape] => [name, readShape(schema)]),
  );
}

/** Returns each text that a procedure accepts: the procedure, the member, and values for the other members. */
export function listTextInputs(router: typeof appRouter): [string, string, Record<string, unknown>][] {
  return readInputs(router).flatMap(([name, { properties = {}, anyOf }]) => {
    const members = anyOf?.find((each) => each.properties)?.properties ?? properties;
    const others = Object.fromEntries(
      Object.entries(members).map(([member, shape]) => [member, shape.const ?? 'x']),
    );
    return Object.entries(members).flatMap(([member, shape]): [string, string, Record<string, unknown>][] =>
      shape.const === undefined ? [[name, member, others]] : [],
    );
  });
}

/** The paths of strings that have no bound. A pattern that counts characters is a bound. */
export function listUnbounded(shape: Shape, path: string): string[] {
  const { type, maxLength, pattern, format, items, properties = {}, anyOf = [] } = shape;
  const isFixed = shape.const !== undefined || shape.enum !== undefined;
  const isBounded =
    isFixed || maxLength !== undefined || format === 'uuid' || /\{\d+(?:,\d+)?\}\$$/.test(pattern ?? '');
  return [
    ...(type === 'string' && !isBounded ? [path] : []),
    ...(items ? listUnbounded(items, `${path}[]`) : []),
    ...Object.entries(properties).flatMap(([name, member]) => listUnbounded(member, `${path}.${name}`)),
    ...anyOf.flatMap((each) => listUnbounded(each, path)),
  ];
}

/** The path of a route's file, as `app/pages.ts` has it. */
export const pathOfRoute = (file: string) =>
  `/${file.replace(/\.tsx?$/, '')}`
    .replaceAll(/\[(.)\]/g, '\u0000')
    .replaceAll('_.', '/')
    .replaceAll('.', '/')
    .replaceAll('$', ':')
    .replaceAll('\u0000', '.')
    .replace(/\((:\w+)\)/, '$1?')
    .replace(/(.)\/_index$|_index$/, '$1');

/** Returns the fields of forms and the parameters of URLs that routes read, as path and name. Leaves out routes of the demo. */
export function listReadFields(): { forms: string[]; addresses: string[] } {
  const routes = readdirSync('app/routes')
    .filter((file) => !file.startsWith('demo.'))
    .map((file) => ({ path: pathOfRoute(file), text: readFileSync(`app/routes/${file}`, 'utf8') }));
  const names = (text: string, call: RegExp) => [...text.matchAll(call)].map(([, name]) => name ?? '');
  const forms = routes
    .filter(({ path, text }) => /^export (async function|const) action\b/m.test(text) && !/[:*]/.test(path))
    .filter(({ path }) => !path.startsWith('/integrations/'))
    .flatMap(({ path, text }) => {
      const read = [
        ...names(text, /\bform\.(?:get|has)\('(\w+)'\)/g),
        ...names(text, /\btext\(form, '(\w+)'\)/g),
        ...names(text, /readForm\(request\)\)\.get\('(\w+)'\)/g),
        ...(/\banswerIntents\(|\bisAgain\(/.test(text) ? ['intent'] : []),
        ...(/\bconfirm\.ask(?:WhileSettingUp)?\(/.test(text)
          ? ['confirmPassword', 'confirmCode', 'confirmPasskey']
          : []),
      ];
      return [path, ...new Set(read.map((name) => `${path} ${name}`))];
    });
  const addresses = routes.flatMap(({ path, text }) => {
    const read = [
      ...names(text, /\b(?:query|readQuery\(request\))\.(?:get|has)\('(\w+)'\)/g),
      ...(/\btokenOf\(request/.test(text) ? ['token'] : []),
      ...(/\bnextOf\(request/.test(text) ? ['next'] : []),
      ...(/\bloadAccount\(/.test(text) ? ['saved'] : []),
    ];
    return [...new Set(read.map((name) => `${path} ${name}`))];
  });
  return { forms, addresses };
}
