import { Fragment } from 'react';
import { capabilityTitle } from './access.tsx';

/** What changed in the members of a payload, by the name of the member. */
type MemberChanges = Record<string, { from: unknown; to: unknown }>;

type Line = { what: string; from: string; to: string };

const titles: Record<string, string> = {
  name: 'Your name',
  email: 'Email address',
  email_verified: 'Email address verified',
  'account.name': 'Account name',
  'account.verified': 'Account verified',
};

const yesOrNo = (is: boolean) => (is ? 'yes' : 'no');
const say = (value: unknown) => (typeof value === 'boolean' ? yesOrNo(value) : String(value));
const namesIn = (value: unknown) => (Array.isArray(value) ? value.map(String) : []);

/** Each capability that is added or removed gets its own line. */
function listLines(changes: MemberChanges): Line[] {
  return Object.entries(changes).flatMap(([member, { from, to }]) => {
    if (member !== 'account.capabilities')
      return [{ what: titles[member] ?? member, from: say(from), to: say(to) }];
    const [before, after] = [namesIn(from), namesIn(to)];
    return [...new Set([...before, ...after])]
      .filter((name) => before.includes(name) !== after.includes(name))
      .sort()
      .map((name) => ({
        what: capabilityTitle(name),
        from: yesOrNo(before.includes(name)),
        to: yesOrNo(after.includes(name)),
      }));
  });
}

/** `nothing` is shown if there are no changes. */
export function MemberChanges({
  title,
  changes,
  nothing,
}: {
  title: string;
  changes: MemberChanges;
  nothing: string;
}) {
  const lines = listLines(changes);
  if (lines.length === 0) return <p>{nothing}</p>;
  return (
    <>
      <div className="section-heading">
        <h2>{title}</h2>
      </div>
      <dl className="facts">
        {lines.map(({ what, from, to }) => (
          <Fragment key={what}>
            <dt>{what}</dt>
            <dd>
              from <bdi>{from}</bdi> to <bdi>{to}</bdi>
            </dd>
          </Fragment>
        ))}
      </dl>
    </>
  );
}
