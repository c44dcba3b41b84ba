import { Fragment, type ReactNode } from 'react';
import type { JsonSchema } from '../../../server/doors/openapi/schemas.ts';
import { Prose } from './prose.tsx';

const schemaAnchor = (name: string) => `schema-${name}`;

/** The name of the schema that a `$ref` leads to. */
export const nameOf = (ref: string) => ref.slice(ref.lastIndexOf('/') + 1);

export function Kind({ schema }: { schema: JsonSchema }): ReactNode {
  const { $ref, type, format, items } = schema;
  if ($ref) return <a href={`#${schemaAnchor(nameOf($ref))}`}>{nameOf($ref)}</a>;
  if (schema.const !== undefined) return <code>{String(schema.const)}</code>;
  if (schema.enum)
    return (
      <Alternatives all={schema.enum.map((value) => <code key={String(value)}>{String(value)}</code>)} />
    );
  const several = schema.anyOf ?? schema.oneOf;
  if (several) {
    // biome-ignore lint/suspicious/noArrayIndexKey: a list that never changes
    return <Alternatives all={several.map((each, index) => <Kind key={index} schema={each} />)} />;
  }
  if (type === 'array' && items)
    return (
      <>
        array of <Kind schema={items} />
      </>
    );
  const words = Array.isArray(type) ? type.join(' or ') : (type ?? 'any value');
  return format ? `${words} (${format})` : words;
}

const Alternatives = ({ all }: { all: ReactNode[] }) =>
  all.map((each, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a list that never changes
    <Fragment key={index}>
      {index > 0 && ' or '}
      {each}
    </Fragment>
  ));

function Limits({ schema }: { schema: JsonSchema }) {
  const { minLength, maxLength, minimum, maximum, default: usual, pattern, format } = schema;
  // A schema may state the bounds of JavaScript's safe integers. They mean "no limit", so the page leaves them out.
  const isLimit = (value?: number) => value !== undefined && Math.abs(value) !== Number.MAX_SAFE_INTEGER;
  const limits = [
    minLength !== undefined && `At least ${minLength} characters.`,
    maxLength !== undefined && `At most ${maxLength.toLocaleString('en-GB')} characters.`,
    isLimit(minimum) && `At least ${minimum}.`,
    isLimit(maximum) && `At most ${maximum?.toLocaleString('en-GB')}.`,
    usual !== undefined && `Default: ${String(usual)}.`,
  ].filter(Boolean);
  if (limits.length === 0 && (!pattern || format)) return null;
  return (
    <p className="hint">
      {limits.join(' ')}
      {pattern && !format && (
        <>
          {' '}
          Matches <code>{pattern}</code>
        </>
      )}
    </p>
  );
}

export function Member({
  name,
  schema,
  isRequired,
  description,
  children,
}: {
  name: string;
  schema: JsonSchema;
  isRequired: boolean;
  description?: string;
  children?: ReactNode;
}) {
  const inside = [schema.items ?? schema, ...(schema.anyOf ?? [])].find(({ properties }) => properties);
  return (
    <div>
      <dt>
        <code>{name}</code>{' '}
        <span className="kind">
          <Kind schema={schema} />
          {isRequired ? '' : ', optional'}
        </span>
      </dt>
      <dd>
        {description && <Prose text={description} />}
        <Limits schema={schema} />
        {children}
        {inside && <Members schema={inside} />}
      </dd>
    </div>
  );
}

function Members({ schema }: { schema: JsonSchema }) {
  const { properties = {}, required = [] } = schema;
  return (
    <dl className="members">
      {Object.entries(properties).map(([name, member]) => (
        <Member
          key={name}
          name={name}
          schema={member}
          isRequired={required.includes(name)}
          description={member.description}
        />
      ))}
    </dl>
  );
}

export function NamedSchema({ name, schema }: { name: string; schema: JsonSchema }) {
  const id = schemaAnchor(name);
  return (
    <article className="card" aria-labelledby={id}>
      <h3 id={id}>{name}</h3>
      {schema.description && <Prose text={schema.description} />}
      {schema.properties && <Members schema={schema} />}
      {(schema.oneOf ?? schema.anyOf)?.map((variant) => (
        <Variant key={JSON.stringify(variant.properties?.type)} schema={variant} />
      ))}
    </article>
  );
}

function Variant({ schema }: { schema: JsonSchema }) {
  const { type } = schema.properties ?? {};
  return (
    <details>
      <summary>{type && <Kind schema={type} />}</summary>
      {schema.description && <Prose text={schema.description} />}
      <Members schema={schema} />
    </details>
  );
}
