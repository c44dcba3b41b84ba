import { existsSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { documents, files, findPublished } from '../../app/developers/publish/published.ts';
import { payloadSchema } from '../../server/sso/payload.ts';
import { isOurFile, readAnchors, readLinks, readOurFile } from '../support/project/documents.ts';

describe('docs/refusals.md', () => {
  type Refusal = { code: string; status: number; meaning: string; remedy: string };
  const refusals: Refusal[] = JSON.parse(readOurFile('clients/refusals.json'));

  it('explains each code of clients/refusals.json, and no other, and says what the operator does', () => {
    const explained = [
      ...readOurFile('docs/refusals.md').matchAll(
        /^### `(\w+)`\n\nStatus (\d+)\. (.+)\n\n(.+)\n\nOperator: \S/gm,
      ),
    ].map(([, code, status, meaning, remedy]) => ({ code, status: Number(status), meaning, remedy }));
    expect(refusals.length).toBeGreaterThan(20);
    const expected = refusals.map(({ code, status, meaning, remedy }) => ({ code, status, meaning, remedy }));
    expect(explained).toEqual(expected);
  });
});

it('docs/integrate.md says the form of each member of the payload, as the schema has it', () => {
  type Schema = { pattern?: string; required?: string[]; properties?: Record<string, Schema> };
  type Member = { name: string; isOptional: boolean; pattern: string | undefined };
  const listMembers = ({ properties = {}, required = [] }: Schema, prefix = ''): Member[] =>
    Object.entries(properties).flatMap(([name, member]) =>
      member.properties
        ? listMembers(member, `${prefix}${name}.`)
        : [{ name: prefix + name, isOptional: !required.includes(name), pattern: member.pattern }],
    );
  const [, section = ''] =
    /### The form of each member\n([\s\S]*?)\n### /.exec(readOurFile('docs/integrate.md')) ?? [];
  const members = listMembers(z.toJSONSchema(payloadSchema) as Schema);
  // The document describes the patterns of these two members in words.
  const inWords = ['profile.profile_updated_at', 'return_to'];
  const said = [...section.matchAll(/^\| `([\w.]+)` \| (.+) \|$/gm)].map(([, name = '', form = '']) => ({
    name,
    isOptional: form.startsWith('optional: '),
    pattern: /`(\S*\{\d\S*)`/.exec(form)?.[1],
  }));
  const byName = (one: Member, other: Member) => (one.name < other.name ? -1 : 1);
  expect(said.sort(byName)).toEqual(
    members
      .map(({ pattern, ...member }) => ({
        ...member,
        pattern: inWords.includes(member.name) ? undefined : pattern?.slice(1, -1),
      }))
      .sort(byName),
  );
});

describe('on the forge, a link', () => {
  it.each(documents.map(({ file }) => file))('resolves: %s', (file) => {
    const dead = readLinks(readOurFile(file)).filter((link) => {
      if (/^[a-z]+:/.test(link)) return false;
      const [name = '', anchor] = link.split('#');
      const target = name === '' ? file : posix.join(dirname(file), name);
      if (!isOurFile(target)) return true;
      return anchor !== undefined && !readAnchors(readOurFile(target)).includes(anchor);
    });
    expect(dead).toEqual([]);
  });
});

it('documents for operators, or for people who change this service, are not published', () => {
  for (const name of [
    'operate/README',
    'security/README',
    'asvs',
    'performance',
    'inside/architecture',
    'inside/decisions/README',
    'inside/recipes/README',
  ])
    expect([isOurFile(`docs/${name}.md`), findPublished(`docs/${name}.md`)]).toEqual([true, undefined]);
});

it('each kit has its page and its archive', () => {
  const kits = ['typescript', 'php', 'python', 'wordpress'];
  const root = new URL('../../clients/', import.meta.url);
  for (const kit of kits) {
    expect(existsSync(new URL(`${kit}/README.md`, root)), kit).toBe(true);
    const document = documents.find(({ slug }) => slug === kit);
    expect(files.map(({ name }) => name)).toContain(document?.archive);
    expect(document?.file).toBe(join('clients', kit, 'README.md'));
  }
});
