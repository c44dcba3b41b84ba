import { Form } from '@remix-run/react';
import { Field } from '../field.tsx';
import { SubmitButton } from '../submit-button.tsx';

export type Refused = { errors: Record<string, string>; values: Record<string, string> };

type NamesFormProps = { profile: { name: string; accountName: string; email: string }; refused?: Refused };

export function NamesForm({ profile, refused }: NamesFormProps) {
  return (
    <section aria-labelledby="about-you">
      <h2 id="about-you">Your details</h2>
      <Form method="post" className="card" preventScrollReset>
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
