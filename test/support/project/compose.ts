// compose.yaml, and the files of its secrets.
import { join } from 'node:path';
import { parse } from 'yaml';
import { readOurFile } from './documents.ts';

type Service = {
  image?: string;
  build?: string;
  environment?: Record<string, string>;
  secrets?: string[];
  volumes?: string[];
  ports?: string[];
  depends_on?: Record<string, { condition: string }>;
  read_only?: boolean;
  healthcheck?: { test: string[] };
};
export type Compose = {
  services: Record<string, Service>;
  volumes: Record<string, null>;
  secrets: Record<string, { file: string }>;
};

/** Reads compose.yaml. Throws if it uses a variable, because it must need none. */
export function readCompose(): Compose {
  const text = readOurFile('compose.yaml');
  if (text.includes('$')) throw new Error('compose.yaml has a variable');
  return parse(text, { strict: true, uniqueKeys: true });
}

/**
 * The environment of a service whose secrets are files below `folder`. Throws if compose.yaml does not give the service a
 * secret that its environment names.
 */
export function environmentIn(folder: string, name: string): Record<string, string> {
  const { services, secrets } = readCompose();
  const { environment = {}, secrets: given = [] } = services[name] ?? {};
  return Object.fromEntries(
    Object.entries(environment).map(([setting, value]) => {
      const [, secret] = /^\/run\/secrets\/(.+)$/.exec(value) ?? [];
      if (secret === undefined) return [setting, value];
      const { file } = secrets[secret] ?? {};
      if (!file || !given.includes(secret)) throw new Error(`${name} does not get the secret ${secret}`);
      return [setting, join(folder, file)];
    }),
  );
}
