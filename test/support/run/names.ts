// How a test name shows which of many values or requests it is about.
import type { SendOptions } from '../app/app.ts';

export type TestRequest = [path: string, options?: SendOptions];

/** The name of a request as a person would say it: `POST /profile (names) by a browser`. */
export function nameRequest(path: string, options: SendOptions = {}): string {
  const { form, json, body, headers = {} } = options;
  const method = options.method ?? (form || json !== undefined || body ? 'POST' : 'GET');
  return [
    `${method} ${path}`,
    form?.intent && `(${form.intent})`,
    headers['content-type'] && `as ${headers['content-type']}`,
    headers.origin && `from ${headers.origin}`,
    headers.accept?.includes('html') && 'by a browser',
  ]
    .filter(Boolean)
    .join(' ');
}

/** Requests with their names in front, for `it.each`. */
export const named = (requests: TestRequest[]) =>
  requests.map(([path, options = {}]) => [nameRequest(path, options), path, options] as const);

/** A value for a test name: short, with every invisible character escaped. */
export function quote(value: unknown): string {
  const text = JSON.stringify(value) ?? 'undefined';
  const visible = text.replace(/(?! )[\p{C}\p{Z}]/gu, (character) => {
    return `\\u{${character.codePointAt(0)?.toString(16)}}`;
  });
  if (visible.length <= 60) return visible;
  return `${Array.from(visible).slice(0, 20).join('')}… (${Array.from(String(value)).length} characters)`;
}

/** Values with their names in front, for `it.each`. */
export const quoted = <Value>(values: Value[]) => values.map((value) => [quote(value), value] as const);
