import type { Procedures } from '../../../server/doors/trpc/router.ts';
import type { Refused } from '../../refused.ts';
import { group } from '../account/to-pay.tsx';
import { Badge, type Meaning } from '../badge.tsx';
import { Fact } from '../fact.tsx';
import { Instant } from '../instant.tsx';
import { Row, Rows } from '../rows.tsx';
import { Section } from '../section.tsx';
import { WhyField } from './acts.tsx';
import { Name, PersonLink } from './words.tsx';

type Described = Awaited<ReturnType<Procedures['billingForms']['settings']>>;
type Whole = NonNullable<Described['inForce']>;
type People = Described['people'];

function MadeBy({ actorId, madeBy, people }: Pick<Whole, 'actorId' | 'madeBy'> & { people: People }) {
  if (actorId)
    return (
      <>
        By <PersonLink known={people} id={actorId} />
      </>
    );
  return (
    <>
      By the operator <Name>{madeBy}</Name>
    </>
  );
}

export function PendingSettings({
  inForce,
  pending,
  people,
  seen,
  refused,
}: {
  inForce: Whole;
  pending: Whole;
  people: People;
  seen: string;
  refused: Refused | undefined;
}) {
  const lines: [string, (of: Whole) => string | undefined][] = [
    ['IBAN', ({ settings }) => settings.seller.iban && group(settings.seller.iban)],
    ['BIC', ({ settings }) => settings.seller.bic],
    ['Link to pay', ({ settings }) => settings.payment.link],
    ['Links after a trial', ({ settings }) => listPlanLinks(settings.plans)],
  ];
  return (
    <Section
      id="pending"
      title="A change waits"
      intro={
        <>
          From <Instant at={pending.countsFrom} /> customers pay in another way, or go on elsewhere after a
          trial. Until then any administrator can stop it.
        </>
      }
    >
      <dl className="facts">
        {lines
          .filter(([, read]) => read(inForce) !== read(pending))
          .map(([title, read]) => (
            <Fact key={title} name={title}>
              <div>Now: {read(inForce) ?? 'none'}</div>
              <div>
                Then: <strong>{read(pending) ?? 'none'}</strong>
              </div>
            </Fact>
          ))}
      </dl>
      <p>
        <MadeBy {...pending} people={people} />, <Instant at={pending.madeAt} />. Why:{' '}
        <Name>{pending.why}</Name>
      </p>
      <form method="post" data-intent="stop">
        <p data-notice>If you stop it, customers go on paying as now. All other settings stay as they are.</p>
        <input type="hidden" name="seen" value={seen} />
        <WhyField
          label="Why do you stop it?"
          hint="At least 3 characters. Kept with the settings, and in the audit."
          refused={refused}
          focusOnError={false}
        />
        <button type="submit" name="intent" value="stop" className="danger">
          Stop the change
        </button>
      </form>
    </Section>
  );
}

const listPlanLinks = (plans: Whole['settings']['plans']): string | undefined =>
  Object.entries(plans)
    .flatMap(([plan, { link }]) => (link ? `${plan}: ${link}` : []))
    .join(', ') || undefined;

const states: Record<Described['versions'][number]['state'], [words: string, meaning: Meaning]> = {
  in_force: ['In force', 'good'],
  pending: ['Waits', 'waiting'],
  stopped: ['Stopped', 'needs-you'],
  replaced: ['Replaced', 'neutral'],
};

export function SettingsVersions({
  versions,
  people,
  memberNames,
}: Pick<Described, 'versions' | 'people' | 'memberNames'>) {
  /** Lists what changed, such as "days to pay, plan starter". */
  const sayChanged = (changed: string[]) =>
    changed.map((each) => memberNames[each] ?? each.replace(/^plans\./, 'plan ')).join(', ');
  return (
    <Section
      id="versions"
      title="Versions"
      intro="The newest 30. An invoice names the version that it was issued by."
    >
      <Rows>
        {versions.map(({ version, state, countsFrom, changed, why, ...made }) => {
          const [words, meaning] = states[state];
          return (
            <Row
              key={version}
              title={`Version ${version}`}
              about={
                <>
                  {state === 'stopped' ? 'Was planned from ' : 'In force from '}
                  <Instant at={countsFrom} /> · <MadeBy {...made} people={people} />
                  {changed.length > 0 && (
                    <>
                      <br />
                      Changed: {sayChanged(changed)}
                    </>
                  )}
                  <br />
                  Why: <Name>{why}</Name>
                </>
              }
              end={<Badge meaning={meaning}>{words}</Badge>}
            />
          );
        })}
      </Rows>
    </Section>
  );
}
