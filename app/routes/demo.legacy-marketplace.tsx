import { type ActionFunctionArgs, type LoaderFunctionArgs, redirect } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { DemoPage, demoLinks } from '../components/demo/demo-page.tsx';
import { EmailField, Field } from '../components/field.tsx';
import { ServiceName } from '../components/service-name.ts';

export const meta = () => [{ title: 'Legacy marketplace (demo)' }];

export const links = demoLinks;

export async function loader({ context }: LoaderFunctionArgs) {
  context.demo.requireLocalMode();
  return { capabilities: context.demo.capabilities };
}

/** Signs the profile as the marketplace would, and redirects with it. */
export async function action({ request, context }: ActionFunctionArgs) {
  context.demo.requireLocalMode();
  const form = new URLSearchParams(await request.text());
  const text = (name: string) => form.get(name) ?? '';
  const ageSeconds = Number(text('age')) || 0;
  const changedAt = new Date(Date.now() - (Number(text('changed')) || 0) * 1_000);
  const link = await context.demo.buildHandOffUrl(
    {
      id: text('id'),
      email: text('email'),
      emailVerified: form.has('email_verified'),
      name: text('name'),
      role: text('role'),
      capabilities: form.getAll('capabilities'),
      profileUpdatedAt: changedAt,
    },
    new Date(Date.now() - ageSeconds * 1_000),
  );
  return redirect(link, 303);
}

export default function LegacyMarketplace() {
  const { capabilities } = useLoaderData<typeof loader>();
  return (
    <DemoPage client="legacy-marketplace" title="Legacy marketplace" heading="Hand over a user">
      <p>
        This page plays the part of the old marketplace during the migration: it signs a user’s profile and
        sends the browser to <ServiceName /> with it.
      </p>
      <form method="post" className="card">
        <Field label="Marketplace ID" name="id" required defaultValue="m-1001" />
        <EmailField
          label="Email address"
          name="email"
          autoComplete="off"
          required
          defaultValue="lena@example.test"
        />
        <Field label="Name" name="name" required defaultValue="Lena Lang" />
        <div className="field">
          <label htmlFor="role">Role</label>
          <select id="role" name="role" defaultValue="customer">
            <option>customer</option>
            <option>merchant</option>
            <option>admin</option>
          </select>
        </div>
        <fieldset className="field">
          <legend>Capabilities</legend>
          {capabilities.map((name) => (
            <label key={name} className="choice">
              <input type="checkbox" name="capabilities" value={name} /> {name}
            </label>
          ))}
        </fieldset>
        <label className="choice field">
          <input type="checkbox" name="email_verified" defaultChecked /> The marketplace has verified this
          address
        </label>
        <div className="field">
          <label htmlFor="changed">Profile changed</label>
          <select id="changed" name="changed">
            <option value="0">just now</option>
            <option value="86400">yesterday</option>
            <option value="-86400">tomorrow (refused)</option>
          </select>
        </div>
        <div className="field">
          <label htmlFor="age">Hand-off signed</label>
          <select id="age" name="age">
            <option value="0">just now</option>
            <option value="240">four minutes ago</option>
            <option value="3600">an hour ago (refused)</option>
          </select>
        </div>
        <button type="submit">Hand over</button>
      </form>
    </DemoPage>
  );
}
