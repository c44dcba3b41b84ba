import { Fragment } from 'react';
import type { Answer, Answers, Content, Headers } from '../../../server/doors/openapi/parts.ts';
import { Prose, Sample, Words } from './prose.tsx';
import { Kind, nameOf } from './schema.tsx';

export const answerAnchor = (code: string) => `answer-${code}`;

/** The operation's own answers, then the answers that every operation has. */
export function AnswerList({ answers }: { answers: Answers }) {
  const own: [string, Answer][] = [];
  const shared: [string, string][] = [];
  for (const [status, answer] of Object.entries(answers)) {
    if ('$ref' in answer) shared.push([status, nameOf(answer.$ref)]);
    else own.push([status, answer]);
  }
  return (
    <dl className="members">
      {own.map(([status, answer]) => (
        <div key={status}>
          <dt>
            <code>{status === 'default' ? 'others' : status}</code>
          </dt>
          <dd>
            <OneAnswer answer={answer} />
          </dd>
        </div>
      ))}
      {shared.length > 0 && (
        <div>
          <dt>As for every operation</dt>
          <dd>
            {shared.map(([status, code], index) => (
              <Fragment key={status}>
                {index > 0 && ', '}
                <a href={`#${answerAnchor(code)}`}>{status}</a>
              </Fragment>
            ))}
          </dd>
        </div>
      )}
    </dl>
  );
}

export function OneAnswer({ answer: { description, headers, content } }: { answer: Answer }) {
  return (
    <>
      <Prose text={description} />
      {headers && <HeaderList headers={headers} />}
      {content && <Contents content={content} />}
    </>
  );
}

function HeaderList({ headers }: { headers: Headers }) {
  const own = Object.entries(headers).flatMap(([name, header]) =>
    '$ref' in header ? [] : [{ name, ...header }],
  );
  if (own.length === 0) return null;
  return (
    <ul className="headers">
      {own.map(({ name, schema, required, description, examples = {} }) => (
        <li key={name}>
          <code>{name}</code>: <Kind schema={schema} />
          {required ? '' : ', not always'}
          {description && (
            <>
              . <Words text={description} />
            </>
          )}
          {Object.entries(examples).map(([each, { value }]) => (
            <Named key={each} name={each} value={value} />
          ))}
        </li>
      ))}
    </ul>
  );
}

/** Leaves out HTML pages, which are of no use to programs. */
export function Contents({ content }: { content: Content }) {
  return Object.entries(content)
    .filter(([type]) => type !== 'text/html' || Object.keys(content).length === 1)
    .map(([type, { schema, examples = {} }]) => (
      <Fragment key={type}>
        <p>
          <code>{type}</code>: <Kind schema={schema} />
        </p>
        {Object.entries(examples).map(([name, { value }]) => (
          <Named key={name} name={name} value={value} />
        ))}
      </Fragment>
    ));
}

const Named = ({ name, value }: { name: string; value: unknown }) => (
  <details>
    <summary>
      Example: <code>{name}</code>
    </summary>
    <Sample value={value} />
  </details>
);
