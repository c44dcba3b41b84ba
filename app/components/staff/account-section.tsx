import { Notice } from '../notice.tsx';
import { Section } from '../section.tsx';
import { Act, isOffered, type Person } from './act.tsx';
import { Name, personPath, roleWords } from './words.tsx';

/** Who it is. */
export function PersonFacts({ person }: { person: Person }) {
  const { id, email, role, account, emailVerifiedAt, holdsEmail } = person;
  return (
    <section aria-labelledby="who">
      <h2 id="who" className="visually-hidden">
        Who it is
      </h2>
      <div className="card">
        <dl className="facts">
          <dt>Email address</dt>
          <dd>
            <Name>{email}</Name>{' '}
            {emailVerifiedAt ? '(proved)' : holdsEmail ? '(not proved)' : '(only typed by somebody)'}
          </dd>
          <dt>Role</dt>
          <dd>{roleWords[role]}</dd>
          <dt>Account</dt>
          <dd>
            <Name>{account.name}</Name>
          </dd>
          <dt>Others in it</dt>
          <dd>
            {account.others.length === 0
              ? 'Nobody'
              : account.others.map((other) => (
                  <div key={other.id}>
                    <a className="alone" href={personPath(other.id)}>
                      <Name>{other.name}</Name>
                    </a>{' '}
                    <Name>{other.email}</Name>
                    {other.role !== 'user' && `, ${roleWords[other.role]}`}
                  </div>
                ))}
          </dd>
          <dt>User id</dt>
          <dd>
            <code>{id}</code>
          </dd>
        </dl>
        <div className="actions">
          <a href={`/admin/audit?person=${id}`}>See them in the audit</a>
          {role !== 'user' && <a href={`/admin/audit?staff=${id}`}>See what they did as staff</a>}
        </div>
      </div>
    </section>
  );
}

const otherRoles = (role: string) => Object.entries(roleWords).filter(([value]) => value !== role);

/** Suspending, roles and leaving: what changes the account as a whole. */
export function WholeAccount({ person }: { person: Person }) {
  const { name, role } = person;
  const intents = ['suspend', 'freeze', 'change-role', 'plan-deletion', 'keep'] as const;
  if (!intents.some((intent) => isOffered(person, intent))) return null;
  return (
    <Section id="whole" title="The account as a whole">
      <div className="acts">
        <Act
          intent="suspend"
          label="Suspend the account"
          button="Suspend the account"
          danger
          notice={
            <>
              We email <Name>{name}</Name> that the account is suspended, and log them out everywhere. They
              cannot log in or open any product until you end the suspension.
            </>
          }
        />
        <Act
          intent="freeze"
          label="Freeze the account"
          button="Freeze the account"
          danger
          notice={
            <>
              For an owner who says that somebody else has got in. We log <Name>{name}</Name> out everywhere,
              and email every address that the account has, or can have back, that it is frozen. Nobody can
              log in until an administrator ends the freeze, and says which address is the owner’s. We tell
              all other administrators.
            </>
          }
        />
        <Act
          intent="change-role"
          label="Change the role"
          button="Change the role"
          notice={
            <>
              We email <Name>{name}</Name> that the role has changed, and log them out everywhere. Managers
              can look at everybody and help customers. Administrators can do everything.
            </>
          }
          fields={(refused) => (
            <fieldset className="field">
              <legend>Role</legend>
              {/* Not the one they have: that would change nothing. */}
              {otherRoles(role).map(([value, words]) => (
                <label key={value} className="choice">
                  <input
                    type="radio"
                    name="role"
                    value={value}
                    required
                    defaultChecked={refused?.values.role === value}
                  />
                  {words}
                </label>
              ))}
              {refused?.errors.role && (
                <p className="error" role="alert">
                  {refused.errors.role}
                </p>
              )}
            </fieldset>
          )}
        />
        <Act
          intent="keep"
          label="Keep the account"
          button="Keep the account"
          notice={
            <>
              We email <Name>{name}</Name> that the account will not be deleted. They can open products again.
            </>
          }
        />
        <Act
          intent="plan-deletion"
          label="Delete the account in 14 days"
          button="Plan the deletion"
          danger
          notice={
            <>
              We email <Name>{name}</Name> that the account will be deleted in 14 days, with a link that takes
              it back. Until then they can log in and keep it, but cannot open any product. On that day
              profile and logins are deleted for good, and contracts are canceled.
            </>
          }
        />
      </div>
    </Section>
  );
}

/** The outcome of the form that led here. Each is true as well of somebody with whom there was nothing to do. */
const outcomes: Record<string, string> = {
  suspend: 'The account is suspended. They are logged out everywhere.',
  freeze: 'The account is frozen. They are logged out everywhere.',
  resume: 'The account is not suspended. They can log in.',
  'end-sessions': 'They are logged out everywhere.',
  'send-mail': 'The mail is on its way. Its state is below, under Mails.',
  'remove-factors': 'Passkeys, app and recovery codes are gone. The mail that sets a password is on its way.',
  verify: 'The account is verified.',
  unverify: 'The account is not verified.',
  grant: 'The account is allowed to do it.',
  revoke: 'The account is not allowed to do it.',
  undecide: 'The marketplace decides it from now on.',
  'change-role': 'The role has changed. They are logged out everywhere.',
  'plan-deletion': 'The account will be deleted in 14 days, unless they keep it.',
  keep: 'The account stays.',
  'change-email': 'The links are on their way. Nothing changes until the new address uses its link.',
  thaw: 'The account is neither frozen nor suspended any more.',
  'remove-link': 'The marketplace account is not connected any more.',
  'accept-country': 'Saved. Under Billing details you see the country that counts.',
  'check-vat-id': 'Saved. Under Billing details you see whether the VAT ID counts as checked.',
};

export function Outcome({ saved }: { saved: string | null }) {
  const words = saved !== null && Object.hasOwn(outcomes, saved) ? outcomes[saved] : undefined;
  if (!words) return null;
  return (
    <Notice kind="success" focus>
      {words}
    </Notice>
  );
}
