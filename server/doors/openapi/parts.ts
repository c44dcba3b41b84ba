// The parts of OpenAPI 3.1 that our document needs, and the answers that operations share.
import { AppError, buildProblem } from '../../basics/errors.ts';
import { type ProblemCode, problems } from '../../basics/problems.ts';
import { type JsonSchema, schemaRef } from './schemas.ts';

export type Reference = { $ref: string };
type Examples = Record<string, { summary?: string; value: unknown }>;
export type Header = { description?: string; required?: boolean; schema: JsonSchema; examples?: Examples };
export type Headers = Record<string, Header | Reference>;
export type Content = Record<string, { schema: JsonSchema; examples?: Examples }>;
export type Answer = { description: string; headers?: Headers; content?: Content };
export type Answers = Record<string, Answer | Reference>;
export type Parameter = {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  description: string;
  schema: JsonSchema;
  examples?: Examples;
};
export type Operation = {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  security?: Record<string, string[]>[];
  parameters?: Parameter[];
  requestBody?: { description?: string; required: true; content: Content };
  responses: Answers;
};
export type PathItem = Partial<Record<'get' | 'head' | 'post', Operation>>;

export const text = (pattern?: string): JsonSchema => ({ type: 'string', ...(pattern && { pattern }) });

export const ifNoneMatch: Parameter = {
  name: 'If-None-Match',
  in: 'header',
  description: 'The `ETag` of an earlier answer.',
  schema: text(),
};

export const always = (value: string): Header => ({ required: true, schema: { const: value } });

export const noStore: Headers = { 'Cache-Control': always('no-store') };

/** The names in `examples` are the names of the requests that get this answer. */
export const location = (description: string, examples?: Record<string, string>): Header => ({
  description,
  required: true,
  schema: { type: 'string', format: 'uri-reference' },
  ...(examples && { examples: toExamples(examples) }),
});

export const json = (schema: JsonSchema, examples?: Record<string, unknown>): Content => ({
  'application/json': { schema, ...(examples && { examples: toExamples(examples) }) },
});

export const toExamples = (values: Record<string, unknown>): Examples =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { value }]));

/** The codes that any request can get. */
export const everywhere = [
  'invalid_request',
  'body_too_large',
  'internal_error',
  'unavailable',
] as const satisfies ProblemCode[];

const retryAfter = { 'Retry-After': { required: true, schema: { type: 'integer', minimum: 1 } } };

const headersOf: Partial<Record<ProblemCode, Headers>> = {
  login_required: { Vary: always('Cookie') },
  invalid_token: { 'WWW-Authenticate': always('Bearer') },
  rate_limited: retryAfter,
  request_in_progress: retryAfter,
  unavailable: retryAfter,
};

export type Refuse = (
  codes: ProblemCode[],
  more?: { headers?: Headers; examples?: Partial<Record<ProblemCode, AppError>> },
) => Answers;

/** Builds the answers of an operation that can be refused with these codes, and with the codes of `everywhere`. */
export const buildRefuse =
  (baseUrl: string): Refuse =>
  (codes, { headers, examples = {} } = {}) => {
    const all = [...new Set<ProblemCode>([...everywhere, ...codes])];
    const statuses = new Set(all.map((code) => problems[code][0]));
    return Object.fromEntries(
      [...statuses].map((status) => {
        const own = all.filter((code) => problems[code][0] === status);
        const isShared = !headers && own.every((code) => everywhere.some((each) => each === code));
        const errors = own.map((code) => examples[code] ?? new AppError(code));
        return [
          status,
          isShared ? { $ref: `#/components/responses/${own[0]}` } : describeRefusal(errors, baseUrl, headers),
        ];
      }),
    );
  };

/** Returns the answers that `buildRefuse` refers to. */
export const buildShared = (baseUrl: string): Record<string, Answer> =>
  Object.fromEntries(everywhere.map((code) => [code, describeRefusal([new AppError(code)], baseUrl)]));

/** Builds the answer of one status, for one or more codes. */
function describeRefusal(errors: AppError[], baseUrl: string, headers?: Headers): Answer {
  const codes = errors.map(({ code }) => code);
  const [first, ...others] = errors.map(({ code }) => headersOf[code]);
  const examples = errors.map((error) => [error.code, buildProblem(error, baseUrl)]);
  return {
    description: codes.map((code) => `\`${code}\`: ${problems[code][1]}.`).join('\n\n'),
    // A header that belongs to one of several codes is not always sent, so it is left out.
    headers: { ...noStore, ...headers, ...(others.length === 0 && first) },
    content: {
      'application/problem+json': {
        schema: { ...schemaRef('Problem'), properties: { code: { enum: codes } } },
        examples: toExamples(Object.fromEntries(examples)),
      },
      'text/html': { schema: text() },
    },
  };
}
