// The HTML of the API's reference. It is made only one time, because it is long and the same for everybody.
import { renderToStaticMarkup } from 'react-dom/server.browser';
import type { OpenApi } from '../../../server/doors/openapi/document.ts';
import { Section } from '../section.tsx';
import { answerAnchor, OneAnswer } from './answers.tsx';
import { type Endpoint, listEndpoints, OperationCard, securityAnchor } from './operation.tsx';
import { Prose } from './prose.tsx';
import { NamedSchema } from './schema.tsx';

const made = new WeakMap<OpenApi, string>();

export function renderReference(document: OpenApi): string {
  const known = made.get(document);
  if (known !== undefined) return known;
  const html = renderToStaticMarkup(<Reference document={document} />);
  made.set(document, html);
  return html;
}

function Reference({ document }: { document: OpenApi }) {
  const { info, servers, tags, components } = document;
  const endpoints = listEndpoints(document);
  const endpointsOf = (tag: string) => endpoints.filter(({ operation }) => operation.tags.includes(tag));
  return (
    <>
      <div className="card reference">
        <p>
          Base URL: <code>{servers[0]?.url}</code>
        </p>
        <Prose text={info.description} />
        <p>
          The same for programs: <a href="/openapi.json">openapi.json</a> (OpenAPI 3.1)
        </p>
      </div>
      <Contents tags={tags.map(({ name }) => ({ name, endpoints: endpointsOf(name) }))} />
      {tags.map(({ name, description }) => (
        <Section key={name} id={toAnchor(name)} title={name} intro={description} bare>
          {endpointsOf(name).map((endpoint) => (
            <OperationCard key={endpoint.operation.operationId} endpoint={endpoint} document={document} />
          ))}
        </Section>
      ))}
      <Section id="every-operation" title="Every operation" intro="These answers can come to any request.">
        {Object.entries(components.responses).map(([code, answer]) => (
          <div key={code} className="shared" id={answerAnchor(code)}>
            <OneAnswer answer={answer} />
          </div>
        ))}
      </Section>
      <Section id="security" title="Credentials">
        <dl className="members">
          {Object.entries(components.securitySchemes).map(([scheme, { description }]) => (
            <div key={scheme} id={securityAnchor(scheme)}>
              <dt>{scheme}</dt>
              <dd>
                <Prose text={description} />
              </dd>
            </div>
          ))}
        </dl>
      </Section>
      <Section id="schemas" title="Schemas" bare>
        {Object.entries(components.schemas).map(([name, schema]) => (
          <NamedSchema key={name} name={name} schema={schema} />
        ))}
      </Section>
    </>
  );
}

const toAnchor = (name: string) => name.toLowerCase().replaceAll(' ', '-');

function Contents({ tags }: { tags: { name: string; endpoints: Endpoint[] }[] }) {
  return (
    <nav aria-label="Operations" className="operations">
      <ul>
        {tags.map(({ name, endpoints }) => (
          <li key={name}>
            <a href={`#${toAnchor(name)}`}>{name}</a>
            <ul>
              {endpoints.map(({ path, method, operation }) => (
                <li key={operation.operationId}>
                  <a href={`#${operation.operationId}`}>{operation.summary}</a>{' '}
                  <code>
                    {method} {path}
                  </code>
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ul>
    </nav>
  );
}
