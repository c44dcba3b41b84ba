// Refusals. Programs get them as a problem document (RFC 9457). Only logs and the audit get `reason`.
import { z } from 'zod';
import { type ProblemCode, problems } from './problems.ts';

const fieldErrorSchema = z.object({
  pointer: z
    .string()
    .describe('An RFC 6901 pointer to the member, or a slash and the name of the parameter.'),
  detail: z.string().describe('What is wrong with it, for people.'),
});

export type FieldError = z.infer<typeof fieldErrorSchema>;

export function toFieldErrors({ issues }: z.core.$ZodError): FieldError[] {
  return issues.map(({ path, message }) => ({ pointer: writePointer(path), detail: message }));
}

export const writePointer = (path: PropertyKey[]): string =>
  path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

/** A refusal. Anything else that is thrown is our fault and answered as `internal_error`, without details. */
export class AppError extends Error {
  readonly code: ProblemCode;
  readonly status: number;
  readonly detail: string;
  readonly errors: FieldError[];
  readonly headers: Record<string, string>;
  readonly reason: string | undefined;
  readonly oldest: number | undefined;
  /** If true, the refusal is not logged as an error, although its status says that something failed. */
  isExpected = false;

  constructor(
    code: ProblemCode,
    options: {
      detail?: string;
      errors?: FieldError[];
      headers?: Record<string, string>;
      reason?: string;
      /** Only for `events_gone`: the number of the oldest event that we keep. */
      oldest?: number;
      cause?: unknown;
    } = {},
  ) {
    super(code, { cause: options.cause });
    this.code = code;
    this.status = problems[code][0];
    this.detail = options.detail ?? problems[code][2];
    this.errors = options.errors ?? [];
    this.headers = { ...options.headers };
    this.reason = options.reason;
    this.oldest = options.oldest;
  }

  /** The wait after `rate_limited`, in whole minutes. */
  get minutes(): number | undefined {
    if (this.code !== 'rate_limited') return undefined;
    return Math.max(1, Math.ceil(Number(this.headers['Retry-After']) / 60));
  }

  asExpected(): this {
    this.isExpected = true;
    return this;
  }

  with(headers: Record<string, string>): this {
    Object.assign(this.headers, headers);
    return this;
  }
}

export const unavailable = (cause?: unknown) =>
  new AppError('unavailable', { headers: { 'Retry-After': '5' }, cause });

export const problemSchema = z
  .object({
    type: z.string().meta({ format: 'uri' }).describe('A page that explains the code.'),
    title: z.string(),
    status: z.int().min(400).max(599),
    detail: z.string().describe('What is wrong, for people.'),
    code: z.enum(Object.keys(problems) as [ProblemCode, ...ProblemCode[]]).describe('For programs.'),
    errors: z.array(fieldErrorSchema).min(1).optional(),
    oldest: z.int().min(1).optional().describe('Of `events_gone`: go on from the number before it.'),
  })
  .describe('Why a request was refused (RFC 9457).');

export type Problem = z.infer<typeof problemSchema>;

export function buildProblem(error: AppError, baseUrl: string): Problem {
  return {
    type: `${baseUrl}/problems/${error.code}`,
    title: problems[error.code][1],
    status: error.status,
    detail: error.detail,
    code: error.code,
    ...(error.errors.length > 0 && { errors: error.errors }),
    ...(error.oldest !== undefined && { oldest: error.oldest }),
  };
}

/** 422 `validation_failed` for one member, by its JSON pointer. */
export const invalidMember = (pointer: string, detail: string): AppError =>
  new AppError('validation_failed', { errors: [{ pointer, detail }] });
