// The kit for PHP and the plugin for WordPress run on PHP 8.1 to 8.4. Debian has only one version, so a parser reads the code
// as each version does.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Engine } from 'php-parser';
import { expect, it } from 'vitest';

const clients = fileURLToPath(new URL('../../clients/', import.meta.url));
const files = ['php', 'wordpress'].flatMap((folder) =>
  readdirSync(join(clients, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.php'))
    .map((name) => join(clients, folder, name)),
);

/** Functions that came after PHP 8.1. */
const newer =
  /^(?:json_validate|mb_(?:str_pad|l?r?trim|[ul]cfirst)|array_(?:find(?:_key)?|any|all)|str_(?:in|de)crement|curl_upkeep|ini_parse_quantity|request_parse_body|(?:mysqli_)?execute_query)$/;

/** Finds code that PHP 8.1 does not know, although the parser accepts it. */
function findNewer(node: unknown): string[] {
  if (typeof node !== 'object' || node === null) return [];
  const inside = Object.values(node).flatMap(findNewer);
  const { kind, isReadonly, body, type, nullable, what } = node as Record<string, unknown>;
  const isAlone = (part: unknown) =>
    ['true', 'false', 'null'].includes((part as { raw?: string } | null)?.raw ?? '') && nullable === false;
  const hasConstant =
    kind === 'trait' && (body as { kind: string }[]).some((part) => part.kind === 'classconstant');
  if (isReadonly === true && kind === 'class') inside.push('a class that is readonly');
  if (hasConstant) inside.push('a constant of a trait');
  if (isAlone(type)) inside.push('a type of one value');
  const called = (what as { name?: unknown } | undefined)?.name;
  if (kind === 'call' && newer.test(String(called))) inside.push(String(called));
  return inside;
}

function findFaults(code: string, version: string): string[] {
  try {
    const engine = new Engine({ parser: { version, suppressErrors: false } });
    const program = engine.parseCode(code, 'it');
    return version === '8.1' ? findNewer(program) : [];
  } catch (error) {
    return [String(error)];
  }
}

it.each(['8.1', '8.2', '8.3', '8.4'])('all code of the kit and the plugin is right in PHP %s', (version) => {
  expect(files.length).toBeGreaterThan(80);
  const faults = files.flatMap((file) =>
    findFaults(readFileSync(file, 'utf8'), version).map((fault) => `${file}: ${fault}`),
  );
  expect(faults).toEqual([]);
});

it.each([
  ['8.1', 'final readonly class A {}'],
  ['8.1', 'trait A { const B = 1; }'],
  ['8.1', 'function a(): true {}'],
  ['8.1', 'json_validate("");'],
  ['8.1', 'function a((B&C)|null $d) {}'],
  ['8.2', 'class A { const string B = ""; }'],
  ['8.3', 'class A { public string $b { get => 1; } }'],
  ['8.3', 'new A()->b();'],
  ['8.4', '$a |> b(...);'],
])('PHP %s does not take %s', (version, code) => {
  expect(findFaults(`<?php ${code}`, version)).not.toEqual([]);
});
