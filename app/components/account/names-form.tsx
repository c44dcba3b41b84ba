import type { FieldName } from '../../forms.ts';
import type { Refused } from '../../refused.ts';
import { Field } from '../field.tsx';
import { Notice } from '../notice.tsx';
import { Section } from '../section.tsx';
import { Outcome } from './outcome.tsx';

export const namesFields: FieldName[] = ['name', 'accountName', 'profile_updated_at'];

type NamesFormProps = {
  profile: { name: string; accountName: string; profile_updated_at: string };
  saved: string | null;
  refused: Refused | undefined;
};

export function NamesForm({ profile, saved, refused }: NamesFormProps) {
  const present = refused?.present;
  // The form sends the time of the profile that it shows. If the saved profile is newer when the form arrives, the form is
  // refused.
  const madeFrom =
    present?.profile_updated_at ?? refused?.values.profile_updated_at ?? profile.profile_updated_at;
  return (
    <Section id="about-you" title="Your details" bare>
      <form method="post" className="card">
        {present ? (
          <Notice kind="error" focus>
            Your details were changed somewhere else after you opened this page. They are now: name{' '}
            <strong>{present.name}</strong>, account name <strong>{present.accountName}</strong>. Choose Save
            to replace them with what you entered.
          </Notice>
        ) : (
          <Outcome intent="names" saved={saved} refused={refused}>
            Saved. Products will show your changes soon, or the next time you log in to them.
          </Outcome>
        )}
        <input type="hidden" name="profile_updated_at" value={madeFrom} />
        <Field
          label="Name"
          name="name"
          autoComplete="name"
          required
          defaultValue={refused?.values.name ?? profile.name}
          error={refused?.errors.name}
        />
        <Field
          label="Account name"
          hint="Your shop, company or household. Everyone in this account shares this name. If it is only you, leave it as it is."
          name="accountName"
          autoComplete="organization"
          required
          defaultValue={refused?.values.accountName ?? profile.accountName}
          error={refused?.errors.accountName}
          focusOnError={!refused?.errors.name}
        />
        <button type="submit" name="intent" value="names">
          Save
        </button>
      </form>
    </Section>
  );
}
