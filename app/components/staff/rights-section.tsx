import { useContext } from 'react';
import type { ActForm } from '../../../server/staff/act-forms.ts';
import { capabilityNames, capabilityTitle } from '../account/access.tsx';
import { Badge, type Meaning } from '../badge.tsx';
import { Instant } from '../instant.tsx';
import { useRefused } from '../refused.ts';
import { Section } from '../section.tsx';
import { ActFields, ActsContext, isOf, type Person } from './acts.tsx';

/** A right of the account. `here` is our decision about it. `marketplace` is what the marketplace says in each link. */
type Right = {
  name: string;
  title: string;
  hint?: React.ReactNode;
  state: [words: string, meaning: Meaning];
  here: 'yes' | 'no' | 'undecided';
  marketplace: [externalId: string, says: string][];
};

const sayHere = (decision: boolean | null): Right['here'] =>
  decision === null ? 'undecided' : decision ? 'yes' : 'no';

function listRights({ account, links }: Person): Right[] {
  const { granted, active, verifiedAt, decided } = account;
  const waits = granted.includes('sell_products') && verifiedAt === null;
  const says = (said: boolean | null) => (said === null ? 'nothing' : said ? 'yes' : 'no');
  return [
    {
      name: 'verification',
      title: 'Verified',
      hint: verifiedAt ? (
        <>
          Since <Instant at={verifiedAt} />
        </>
      ) : (
        waits && 'The account may sell products once it is verified.'
      ),
      state: verifiedAt ? ['Verified', 'good'] : waits ? ['Waiting', 'waiting'] : ['No', 'neutral'],
      here: sayHere(decided.verified),
      marketplace: links.map(({ externalId, verified }) => [externalId, says(verified)]),
    },
    ...capabilityNames.map((name): Right => {
      const isGranted = granted.includes(name);
      const here = decided.granted.includes(name) ? true : decided.revoked.includes(name) ? false : null;
      return {
        name,
        title: capabilityTitle(name),
        state: active.includes(name)
          ? ['Active', 'good']
          : isGranted
            ? ['Waiting for verification', 'waiting']
            : ['No', 'neutral'],
        here: sayHere(here),
        marketplace: links.map(({ externalId, capabilities }) => [
          externalId,
          says(capabilities?.includes(name) ?? null),
        ]),
      };
    }),
  ];
}

const choices = (name: string): [value: Right['here'], words: string][] => [
  ['undecided', 'Marketplace decides'],
  ['yes', name === 'verification' ? 'Verified' : 'Allow'],
  ['no', name === 'verification' ? 'Not verified' : 'Forbid'],
];

export function RightsSection({ person }: { person: Person }) {
  const form = useContext(ActsContext).forms.find(({ intent }) => intent === 'decide');
  const table = <Rights rights={listRights(person)} form={form} />;
  return (
    <Section
      id="rights"
      title="What the account may do"
      intro={`${person.account.others.length > 0 ? 'It holds for everybody in the account. ' : ''}Our decision counts, whatever the marketplace says.`}
    >
      {form ? <ActFields form={form} first={table} /> : table}
    </Section>
  );
}

function Rights({ rights, form }: { rights: Right[]; form: ActForm | undefined }) {
  const any = useRefused();
  // If a colleague has decided since the form was shown, the choices of the refused form are dropped. Otherwise sending the
  // form again would undo the colleague's decisions.
  const isOfNow = form && isOf(any, form) && any?.values.seen === form.hidden.seen;
  const sent = isOfNow ? any?.values : undefined;
  return (
    <table className="rights">
      <thead>
        <tr>
          <th scope="col">Right</th>
          <th scope="col">Now</th>
          <th scope="col">Who decides</th>
        </tr>
      </thead>
      <tbody>
        {rights.map(({ name, title, hint, state: [words, meaning], here, marketplace }) => (
          <tr key={name} data-right={name}>
            <th scope="row">
              {title}
              {hint && <span className="hint">{hint}</span>}
              {marketplace.map(([externalId, says]) => (
                <span key={externalId} className="hint">
                  The marketplace says of <code>{externalId}</code>: {says}
                </span>
              ))}
            </th>
            <td>
              <Badge meaning={meaning}>{words}</Badge>
            </td>
            <td>
              {form ? (
                <fieldset>
                  <legend className="visually-hidden">Who decides: {title}</legend>
                  {choices(name).map(([value, choice]) => (
                    <label key={value} className="choice">
                      <input
                        type="radio"
                        name={name}
                        value={value}
                        defaultChecked={(sent?.[name] ?? here) === value}
                      />
                      {choice}
                    </label>
                  ))}
                </fieldset>
              ) : (
                choices(name).find(([value]) => value === here)?.[1]
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
