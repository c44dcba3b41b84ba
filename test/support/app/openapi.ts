// Reads the OpenAPI document, and checks whether an answer is as the document describes it.
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { listWorkedRequests, type WorkedRequest } from '../../../app/components/api/worked-requests.ts';
import type { OpenApi } from '../../../server/doors/openapi/document.ts';
import type { Answer as Described, Operation, Reference } from '../../../server/doors/openapi/parts.ts';
import type { JsonSchema } from '../../../server/doors/openapi/schemas.ts';
import type { Answer, TestInstance } from './app.ts';

export async function readDocument({ send }: Pick<TestInstance, 'send'>): Promise<OpenApi> {
  return JSON.parse((await send('/openapi.json')).text);
}

export type Endpoint = { path: string; method: string; operation: Operation };

export const listOperations = (items: OpenApi['paths']): Endpoint[] =>
  Object.entries(items).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
  );

export const findAnswer =
  ({ components }: OpenApi) =>
  (answer: Described | Reference): Described => {
    if (!('$ref' in answer)) return answer;
    const found = components.responses[answer.$ref.replace('#/components/responses/', '')];
    if (!found) throw new Error(`${answer.$ref} leads nowhere`);
    return found;
  };

export const listWorked = (document: OpenApi, { path, method, operation }: Endpoint): WorkedRequest[] =>
  listWorkedRequests(path, method, operation, findAnswer(document));

export type Checker = {
  /** What is wrong with a value, in a word for each fault. */
  check: (schema: JsonSchema, value: unknown) => string[];
};

/** `closed`: a member that an object's schema does not name is a fault, too. */
export function createChecker(document: OpenApi, { closed = false } = {}): Checker {
  const toOwn = (value: unknown) =>
    JSON.parse(JSON.stringify(value).replaceAll('#/components/schemas/', '#/$defs/'));
  const $defs = toOwn(document.components.schemas);
  if (closed) for (const schema of Object.values($defs)) closeObjects(schema);
  // A schema names its type once, not in each of its parts.
  const ajv = new Ajv2020({
    allErrors: true,
    strict: true,
    strictTypes: false,
    strictRequired: false,
    allowUnionTypes: true,
  });
  addFormats(ajv);
  const compiled = new Map<string, ValidateFunction>();
  return {
    check(schema, value) {
      const key = JSON.stringify(schema);
      const validate = compiled.get(key) ?? ajv.compile({ ...toOwn(schema), $defs });
      compiled.set(key, validate);
      if (validate(value)) return [];
      return (validate.errors ?? []).map(({ instancePath, message, params }) =>
        [instancePath, message, JSON.stringify(params)].join(' '),
      );
    },
  };
}

function closeObjects(schema: unknown): void {
  if (typeof schema !== 'object' || schema === null) return;
  const { type, properties } = schema as JsonSchema;
  if (type === 'object' && properties) Object.assign(schema, { additionalProperties: false });
  for (const part of Object.values(schema)) closeObjects(part);
}

/** Returns the value of a header or parameter, in the type of its schema. */
export const readPlain = ({ type }: JsonSchema, text: string): unknown =>
  type === 'integer' && /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;

// Headers that every answer has. The document describes them in words.
const ofEveryAnswer = new Set([
  ...['content-type', 'content-length', 'content-security-policy', 'cross-origin-opener-policy'],
  ...['cross-origin-resource-policy', 'origin-agent-cluster', 'permissions-policy', 'x-content-type-options'],
  ...['strict-transport-security', 'x-frame-options', 'x-permitted-cross-domain-policies', 'connection'],
]);

/** The values of headers if an answer sets no other. Pages vary by `accept-encoding`, because they may be compressed. */
const usual: Record<string, string> = { 'referrer-policy': 'same-origin', vary: 'accept-encoding' };

/** Returns how an answer differs from the document's description of that operation. */
export function findFaults(
  document: OpenApi,
  checker: Checker,
  { responses }: Operation,
  { status, headers, text }: Answer,
): string[] {
  const response = responses[status];
  if (!response) return [`${status} is not described`];
  const { headers: described = {}, content = {} } = findAnswer(document)(response);
  const faults: string[] = [];
  const known = new Set(ofEveryAnswer);
  for (const [name, header] of Object.entries(described)) {
    known.add(name.toLowerCase());
    const { required, schema } = '$ref' in header ? resolveHeader(document, header.$ref) : header;
    const value = headers.get(name);
    if (value === null) faults.push(...(required ? [`${name} is missing`] : []));
    else faults.push(...checker.check(schema, readPlain(schema, value)).map((fault) => `${name}: ${fault}`));
  }
  for (const [name, value] of headers) {
    const isUsual = usual[name] === value.toLowerCase();
    if (!known.has(name) && !isUsual) faults.push(`${name} is not described`);
  }
  return [...faults, ...findBodyFaults(checker, content, headers, text)];
}

function resolveHeader({ components }: OpenApi, ref: string) {
  const header = components.headers[ref.replace('#/components/headers/', '')];
  if (!header) throw new Error(`${ref} leads nowhere`);
  return header;
}

function findBodyFaults(
  checker: Checker,
  content: NonNullable<Described['content']>,
  headers: Headers,
  text: string,
): string[] {
  const type = headers.get('content-type')?.split(';')[0] ?? '';
  if (text === '') return Object.keys(content).length > 0 ? ['no body'] : [];
  const body = content[type];
  if (!body) return [`a body of ${type || 'no type'} is not described`];
  const value = /json$/.test(type) ? JSON.parse(text) : text;
  return checker.check(body.schema, value);
}

/**
 * The codes that the document names for an operation, such as `401 invalid_token`. A status without a code, such as `303`, is
 * an answer that is no refusal.
 */
export function listOutcomes(document: OpenApi, { responses }: Operation): string[] {
  return Object.entries(responses).flatMap(([status, answer]) => {
    const { content = {} } = findAnswer(document)(answer);
    const codes = content['application/problem+json']?.schema.properties?.code?.enum;
    return codes ? codes.map((code) => `${status} ${code}`) : [status];
  });
}

export function outcomeOf({ status, headers, text }: Answer): string {
  const isProblem = headers.get('content-type') === 'application/problem+json' && text !== '';
  return isProblem ? `${status} ${JSON.parse(text).code}` : String(status);
}
