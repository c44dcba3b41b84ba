import type { LoaderFunctionArgs } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import type { Procedures } from '../../server/doors/trpc/router.ts';
import { EmptyState } from '../components/empty-state.tsx';
import { Field } from '../components/field.tsx';
import { Row, Rows } from '../components/rows.tsx';
import { titled } from '../components/service-name.ts';
import { EventRow } from '../components/staff/event-row.tsx';
import { Filters, isFiltered, Pages, pathOf } from '../components/staff/filters.tsx';
import { StaffPage } from '../components/staff/staff-page.tsx';
import { Name, PersonLink, roleWords, Select } from '../components/staff/words.tsx';
import { loadForStaff } from '../staff.ts';

export const meta = titled('Audit');

const isId = (text: string) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text);

type Found = Awaited<ReturnType<Procedures['staffForms']['findPeople']>>;
/** `fault` is set if nobody matches the typed text. `choices` are several people who match. */
type Whom = { typed: string; id: string; fault?: string; choices?: Found };

export async function loader(args: LoaderFunctionArgs) {
  const { transport, visit } = args.context;
  const query = transport.readQuery(args.request);
  const kind = query.get('kind') ?? '';
  const client = query.get('client')?.trim() ?? '';
  const looks = query.get('looks') === 'yes' ? 'yes' : '';
  const before = query.get('before') ?? '';
  const day = /^\d{4}-\d\d-\d\d$/.test(before) && !Number.isNaN(Date.parse(before)) ? before : '';

  async function find(procedures: Procedures, q: string, isStaff: boolean): Promise<Whom> {
    const typed = q.trim();
    if (typed === '' || isId(typed)) return { typed, id: typed };
    try {
      const choices = await procedures.staffForms.findPeople({ q: typed, isStaff });
      const [first, ...others] = choices.people;
      if (!first) return { typed, id: '', fault: isStaff ? noStaff : nobody };
      return others.length > 0 ? { typed, id: '', choices } : { typed, id: first.id };
    } catch (error) {
      const { code, errors } = transport.readRefusal(error, visit);
      if (code !== 'validation_failed') throw error;
      return { typed, id: '', fault: errors[0]?.detail ?? nobody };
    }
  }

  const loaded = await loadForStaff(args, async (procedures) => {
    const [kinds, person, staff] = await Promise.all([
      procedures.staffForms.auditKinds(),
      find(procedures, query.get('person') ?? '', false),
      find(procedures, query.get('staff') ?? '', true),
    ]);
    const named = { kinds, person, staff };
    const isOpen = [person, staff].some(({ typed, id }) => typed !== id && id === '');
    // No event can match an id that is not valid.
    if (isOpen || (before !== '' && !day && !isId(before)))
      return { ...named, lines: [], people: [], next: null };
    const list = await procedures.staffForms.audit({
      hasLooks: looks !== '',
      ...(kind && { kind }),
      ...(person.id && { person: person.id }),
      ...(staff.id && { staff: staff.id }),
      ...(client && { client }),
      ...(before && { before: day ? `${day}T23:59:59.999Z` : before }),
    });
    return { ...list, ...named };
  });
  const keep = ({ id, typed }: Whom) => id || typed;
  const asked = { kind, person: keep(loaded.person), staff: keep(loaded.staff), client, looks };
  return { ...loaded, asked, day, isFirst: before === '' };
}

const nobody = 'Nobody was found. Enter the beginning of a name or an address, or a user id.';
const noStaff = 'Nobody of the staff was found. Enter the beginning of a name or an address, or a user id.';

const path = '/admin/audit';

export default function Audit() {
  const { who, kinds, person, staff, lines, people, next, asked, day, isFirst } =
    useLoaderData<typeof loader>();
  const hasChoices = Boolean(person.choices || staff.choices);
  return (
    <StaffPage
      title="Audit"
      intro={
        who.role === 'admin'
          ? 'What happened, newest first: by people, by staff and by the service.'
          : 'What happened, newest first. Only administrators see events about staff.'
      }
      who={who}
      current={path}
    >
      <Filters path={path} asked={asked}>
        <Select
          label="What happened"
          name="kind"
          value={asked.kind}
          options={[
            ['', 'Anything'],
            ...kinds.map(({ kind, words }): [string, string] => [kind, words]),
            ...(kinds.some(({ kind }) => kind === asked.kind || asked.kind === '')
              ? []
              : [[asked.kind, asked.kind] as [string, string]]),
          ]}
        />
        <Field
          label="About the person"
          hint="A name, address or user id"
          name="person"
          defaultValue={person.typed}
          autoComplete="off"
          error={person.fault}
        />
        <Field
          label="By the member of staff"
          hint="A name, address or user id"
          name="staff"
          defaultValue={staff.typed}
          autoComplete="off"
          error={staff.fault}
          focusOnError={!person.fault}
        />
        <Field
          label="With the product"
          hint="Its short name, such as marketplace"
          name="client"
          defaultValue={asked.client}
          autoComplete="off"
        />
        <Field label="Until the day" hint="In UTC" name="before" type="date" defaultValue={day} />
        <label className="choice">
          <input type="checkbox" name="looks" value="yes" defaultChecked={asked.looks !== ''} />
          Also looks and searches
        </label>
      </Filters>
      {person.choices && (
        <Choices id="persons" title="About whom?" name="person" {...{ asked, found: person.choices }} />
      )}
      {staff.choices && (
        <Choices id="staff" title="By whom?" name="staff" {...{ asked, found: staff.choices }} />
      )}
      {!hasChoices && (
        <section aria-labelledby="events">
          <div className="section-heading">
            <h2 id="events">{isFirst ? 'Newest events' : 'Earlier events'}</h2>
            {(person.id || staff.id) && (
              <p>
                {person.id && (
                  <>
                    About <PersonLink known={people} id={person.id} />
                  </>
                )}
                {person.id && staff.id && ', '}
                {staff.id && (
                  <>
                    {person.id ? 'by' : 'By'} <PersonLink known={people} id={staff.id} />
                  </>
                )}
              </p>
            )}
          </div>
          <div className="card">
            {lines.length === 0 ? (
              <EmptyState heading="h3" icon="clock" title={isFirst ? 'Nothing found' : 'Nothing earlier'}>
                <p>{isFiltered(asked) ? 'Try fewer filters.' : 'Nothing has happened yet.'}</p>
              </EmptyState>
            ) : (
              <ul className="rows audit">
                {lines.map(({ event, same }) => (
                  <EventRow key={event.id} event={event} same={same} known={people} />
                ))}
              </ul>
            )}
          </div>
          <Pages path={path} {...{ asked, next, isFirst }} of="the audit" />
        </section>
      )}
    </StaffPage>
  );
}

type ChoicesProps = {
  id: string;
  title: string;
  name: 'person' | 'staff';
  asked: Record<string, string>;
  found: Found;
};

/** The people who match the typed text. Each link leads to the events of one person. */
function Choices({ id, title, name, asked, found }: ChoicesProps) {
  return (
    <section aria-labelledby={id}>
      <div className="section-heading">
        <h2 id={id}>{title}</h2>
        <p>
          {found.more
            ? 'Many people fit. Choose one, or type more.'
            : `${found.people.length} people fit. Choose one.`}
        </p>
      </div>
      <div className="card">
        <Rows>
          {found.people.map((each) => (
            <Row
              key={each.id}
              href={pathOf(path, { ...asked, [name]: each.id })}
              title={<Name>{each.name}</Name>}
              about={
                <>
                  <Name>{each.email}</Name> · {roleWords[each.role] ?? each.role}
                </>
              }
            />
          ))}
        </Rows>
      </div>
    </section>
  );
}
