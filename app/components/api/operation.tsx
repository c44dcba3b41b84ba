import { Fragment } from 'react';
import type { OpenApi } from '../../../server/doors/openapi/document.ts';
import type { Answer, Operation, Parameter, Reference } from '../../../server/doors/openapi/parts.ts';
import { AnswerList, Contents } from './answers.tsx';
import { Prose, Sample } from './prose.tsx';
import { Member, nameOf } from './schema.tsx';
import { listWorkedRequests, type WorkedRequest } from './worked-requests.ts';

/** A webhook has no `path`, because each client chooses the URL that gets its webhooks. */
export type Endpoint = { path: string | undefined; method: string; operation: Operation };

export function listEndpoints({ paths, webhooks }: OpenApi): Endpoint[] {
  const list = (items: OpenApi['paths'], isOurs: boolean) =>
    Object.entries(items).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => ({
        path: isOurs ? path : undefined,
        method: method.toUpperCase(),
        operation,
      })),
    );
  return [...list(paths, true), ...list(webhooks, false)];
}

export const securityAnchor = (scheme: string) => `security-${scheme}`;

export function OperationCard({ endpoint, document }: { endpoint: Endpoint; document: OpenApi }) {
  const { path, method, operation } = endpoint;
  const {
    operationId,
    summary,
    description,
    security = [],
    parameters = [],
    requestBody,
    responses,
  } = operation;
  const findAnswer = (answer: Answer | Reference) =>
    '$ref' in answer ? (document.components.responses[nameOf(answer.$ref)] as Answer) : answer;
  const requests = path === undefined ? [] : listWorkedRequests(path, method, operation, findAnswer);
  return (
    <article className="card operation" aria-labelledby={operationId}>
      <h3 id={operationId}>{summary}</h3>
      <p className="call">
        <code>
          {method} {path ?? '(your address)'}
        </code>
      </p>
      {description && <Prose text={description} />}
      <Security security={security} />
      {parameters.length > 0 && <Parameters parameters={parameters} />}
      {requestBody && (
        <>
          <h4>Body</h4>
          {requestBody.description && <Prose text={requestBody.description} />}
          <Contents content={requestBody.content} />
        </>
      )}
      {requests.length > 0 && <h4>Requests</h4>}
      {requests.map((request) => (
        <Request key={request.name} request={request} />
      ))}
      <h4>Answers</h4>
      <AnswerList answers={responses} />
    </article>
  );
}

function Security({ security }: { security: NonNullable<Operation['security']> }) {
  const schemes = security.flatMap((each) => Object.keys(each));
  if (schemes.length === 0) return null;
  const isOptional = security.some((each) => Object.keys(each).length === 0);
  return (
    <p>
      {isOptional ? 'Works with or without: ' : 'Needs: '}
      {schemes.map((scheme, index) => (
        <Fragment key={scheme}>
          {index > 0 && ', '}
          <a href={`#${securityAnchor(scheme)}`}>{scheme}</a>
        </Fragment>
      ))}
    </p>
  );
}

function Parameters({ parameters }: { parameters: Parameter[] }) {
  return (
    <>
      <h4>Parameters</h4>
      <dl className="members">
        {parameters.map(({ name, in: location, required = false, description, schema }) => (
          <Member
            key={name}
            name={name}
            schema={schema}
            isRequired={required}
            description={location === 'query' ? description : `In the ${location}. ${description}`}
          >
            {schema.contentSchema && (
              <Contents content={{ 'application/json': { schema: schema.contentSchema } }} />
            )}
          </Member>
        ))}
      </dl>
    </>
  );
}

function Request({ request: { name, method, path, headers, body, status } }: { request: WorkedRequest }) {
  const lines = [
    `${method} ${path}`,
    ...Object.entries(headers).map(([header, value]) => `${header}: ${value}`),
  ];
  return (
    <details>
      <summary>
        <code>{name}</code> gets {status}
      </summary>
      <Sample
        value={[lines.join('\n'), ...(body === undefined ? [] : [JSON.stringify(body, null, 2)])].join(
          '\n\n',
        )}
      />
    </details>
  );
}
