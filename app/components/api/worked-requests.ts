// The worked requests of an operation. A worked request is made of the examples of parameters, body and answer that have one
// name in common.
import type { Answer, Answers, Content, Operation, Reference } from '../../../server/doors/openapi/parts.ts';

export type WorkedRequest = {
  name: string;
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: unknown;
  /** Undefined if no answer has an example with the request's name. */
  status: string | undefined;
};

export function listWorkedRequests(
  path: string,
  method: string,
  operation: Operation,
  findAnswer: (answer: Answer | Reference) => Answer,
): WorkedRequest[] {
  const { parameters = [], requestBody, responses } = operation;
  const bodies = requestBody?.content['application/json']?.examples ?? {};
  const names = new Set([
    ...parameters.flatMap(({ examples = {} }) => Object.keys(examples)),
    ...Object.keys(bodies),
  ]);
  return [...names].map((name) => {
    const given = parameters.flatMap(({ name: parameter, in: location, examples }) => {
      const example = examples?.[name];
      return example ? [{ parameter, location, value: String(example.value) }] : [];
    });
    const pick = (location: string) =>
      given
        .filter((each) => each.location === location)
        .map(({ parameter, value }): [string, string] => [parameter, value]);
    const query = new URLSearchParams(pick('query')).toString();
    const way = pick('path').reduce((all, [parameter, value]) => all.replace(`{${parameter}}`, value), path);
    return {
      name,
      method: method.toUpperCase(),
      path: query ? `${way}?${query}` : way,
      headers: Object.fromEntries(pick('header')),
      body: bodies[name]?.value,
      status: findStatus(responses, name, findAnswer),
    };
  });
}

function findStatus(
  responses: Answers,
  name: string,
  findAnswer: (answer: Answer | Reference) => Answer,
): string | undefined {
  return Object.keys(responses).find((status) => {
    const response = responses[status];
    if (!response) return false;
    const { headers = {}, content = {} } = findAnswer(response);
    const inHeaders = Object.values(headers).flatMap((header) => ('$ref' in header ? [] : [header.examples]));
    const inContent = Object.values(content as Content).map(({ examples }) => examples);
    return [...inHeaders, ...inContent].some((examples) => examples && name in examples);
  });
}
