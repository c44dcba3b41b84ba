// compose.yaml as `docker compose` reads it: with the variables of .env put in.
import { parse } from 'yaml';
import { readOurFile } from './documents.ts';

type Service = {
  image?: string;
  build?: string;
  environment?: Record<string, string>;
  volumes?: string[];
  ports?: string[];
  depends_on?: Record<string, { condition: string }>;
  read_only?: boolean;
  healthcheck?: object;
};
export type Compose = { services: Record<string, Service>; volumes: Record<string, null> };

/** Throws if a variable that the file requires is missing. */
export function readCompose(variables: Record<string, string>): Compose {
  const text = readOurFile('compose.yaml').replaceAll(
    /\$\{(\w+):\?[^}]*\}/g,
    (_, name: string) => variables[name] ?? fail(name),
  );
  if (text.includes('$')) throw new Error('compose.yaml has a variable of another form');
  return parse(text, { strict: true, uniqueKeys: true });
}

function fail(name: string): never {
  throw new Error(`compose.yaml needs ${name}`);
}

/** The lines `NAME=value` of a file such as .env. */
export const readEnvLines = (text: string): Record<string, string> =>
  Object.fromEntries([...text.matchAll(/^([A-Z0-9_]+)=(.*)$/gm)].map(([, name, value]) => [name, value]));
