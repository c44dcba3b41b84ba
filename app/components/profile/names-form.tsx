import { Form } from '@remix-run/react';
import { Fragment } from 'react';
import { Field } from '../field.tsx';
import { SubmitButton } from '../submit-button.tsx';

export type Refused = { errors: Record<string, string>; values: Record<string, string> };

type NamesFormProps = {
  profile: { name: string; accountName: string; email: string; profile_updated_at: string };
  refused?: Refused;
};

export function NamesForm({ profile, refused }: NamesFormProps) {
  const madeFrom = refused?.values.profile_updated_at ?? profile.profile_updated_at;
  return (
    <section aria-labelledby="about-you">
      <h2 id="about-you">Your details</h2>
      <Form method="post" className="card" preventScrollReset>
        {/* New fields for a newer profile: old ones would keep their text, and undo what changed. */}
        <Fragment key={madeFrom}>
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
            hint="Your shop, company or household. Everyone on this account shares it."
            name="accountName"
            autoComplete="organization"
            required
            defaultValue={refused?.values.accountName ?? profile.accountName}
            error={refused?.errors.accountName}
            focusOnError={!refused?.errors.name}
          />
        </Fragment>
        <dl className="facts">
          <dt>Email address</dt>
          <dd>{profile.email}</dd>
        </dl>
        <SubmitButton intent="names" busy="Saving…">
          Save
        </SubmitButton>
      </Form>
    </section>
  );
}
