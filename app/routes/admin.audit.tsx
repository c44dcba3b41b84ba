import type { LoaderFunctionArgs } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { EmptyState } from '../components/empty-state.tsx';
import { Field } from '../components/field.tsx';
import { titled } from '../components/service-name.ts';
import { EventRow } from '../components/staff/event-row.tsx';
import { Filters, isFiltered, Pages } from '../components/staff/filters.tsx';
import { StaffPage } from '../components/staff/staff-page.tsx';
import { Select } from '../components/staff/words.tsx';
import { loadForStaff } from '../staff.ts';

export const meta = titled('Audit');

const isId = (text: string) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text);

export async function loader(args: LoaderFunctionArgs) {
  const { transport } = args.context;
  const query = transport.readQuery(args.request);
  const asked = {
    kind: query.get('kind') ?? '',
    person: query.get('person')?.trim() ?? '',
    staff: query.get('staff')?.trim() ?? '',
    client: query.get('client')?.trim() ?? '',
  };
  const before = query.get('before') ?? '';
  const day = /^\d{4}-\d\d-\d\d$/.test(before) && !Number.isNaN(Date.parse(before)) ? before : '';
  const faults = {
    person: asked.person !== '' && !isId(asked.person),
    staff: asked.staff !== '' && !isId(asked.staff),
  };
  // An id that is not valid belongs to nobody.
  const isNone = faults.person || faults.staff || (before !== '' && !day && !isId(before));
  const loaded = await loadForStaff(args, async (procedures) => {
    const kinds = await procedures.staffForms.auditKinds();
    if (isNone) return { kinds, events: [], people: [], next: null };
    const { kind, person, staff, client } = asked;
    const list = await procedures.admin.audit.list({
      ...(kind && { kind }),
      ...(person && { person }),
      ...(staff && { staff }),
      ...(client && { client }),
      ...(before && { before: day ? `${day}T23:59:59.999Z` : before }),
    });
    return { ...list, kinds };
  });
  return { ...loaded, asked, day, faults, isFirst: before === '' };
}

const notAnId = 'Enter the whole user id. It is on the page of the person.';

const path = '/admin/audit';

export default function Audit() {
  const { who, kinds, events, people, next, asked, day, faults, isFirst } = useLoaderData<typeof loader>();
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
          hint="A user id"
          name="person"
          defaultValue={asked.person}
          autoComplete="off"
          error={faults.person ? notAnId : undefined}
        />
        <Field
          label="By the member of staff"
          hint="A user id"
          name="staff"
          defaultValue={asked.staff}
          autoComplete="off"
          error={faults.staff ? notAnId : undefined}
        />
        <Field
          label="With the product"
          hint="Its short name, such as marketplace"
          name="client"
          defaultValue={asked.client}
          autoComplete="off"
        />
        <Field label="Until the day" hint="In UTC" name="before" type="date" defaultValue={day} />
      </Filters>
      <section aria-labelledby="events">
        <div className="section-heading">
          <h2 id="events">{isFirst ? 'Newest events' : 'Earlier events'}</h2>
        </div>
        <div className="card">
          {events.length === 0 ? (
            <EmptyState heading="h3" icon="clock" title={isFirst ? 'Nothing found' : 'Nothing earlier'}>
              <p>{isFiltered(asked) ? 'Try fewer filters.' : 'Nothing has happened yet.'}</p>
            </EmptyState>
          ) : (
            <ul className="rows audit">
              {events.map((event) => (
                <EventRow key={event.id} event={event} known={people} />
              ))}
            </ul>
          )}
        </div>
        <Pages path={path} {...{ asked, next, isFirst }} of="the audit" />
      </section>
    </StaffPage>
  );
}
