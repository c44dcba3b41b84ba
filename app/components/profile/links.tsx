import { Form } from '@remix-run/react';
import { Field } from '../field.tsx';
import { Day } from '../instant.tsx';
import { SubmitButton } from '../submit-button.tsx';
import type { Refused } from './names-form.tsx';

type LinksProps = {
  links: { provider: string; externalId: string; createdAt: Date; isSleeping: boolean }[];
  hasPassword: boolean;
  refused?: Refused;
};

/** Accounts elsewhere that can log this person in. */
export function Links({ links, hasPassword, refused }: LinksProps) {
  return (
    <section aria-labelledby="links">
      <h2 id="links">Connected accounts</h2>
      <div className="card">
        <p>You can log in here from an account that is connected.</p>
        <ul className="rows">
          {links.map((link) => (
            <li key={link.externalId}>
              <div>
                <strong>Marketplace</strong>
                <p className="hint">
                  ID <code>{link.externalId}</code>, connected <Day at={link.createdAt} />
                  {link.isSleeping && '. It logs nobody in until you connect it again from the marketplace'}
                </p>
                {hasPassword && <RemoveLink {...link} refused={refused} />}
              </div>
              <span className={link.isSleeping ? 'tag' : 'tag on'}>{link.isSleeping ? 'Paused' : 'On'}</span>
            </li>
          ))}
        </ul>
        {!hasPassword && (
          <p className="hint">To remove a connected account, first set a password of your own.</p>
        )}
      </div>
    </section>
  );
}

function RemoveLink({
  provider,
  externalId,
  refused,
}: {
  provider: string;
  externalId: string;
  refused?: Refused;
}) {
  return (
    <details open={refused !== undefined}>
      <summary>Remove</summary>
      <Form method="post" preventScrollReset>
        <input type="hidden" name="provider" value={provider} />
        <input type="hidden" name="externalId" value={externalId} />
        <Field
          label="Current password"
          name="currentPassword"
          type="password"
          autoComplete="current-password"
          required
          error={refused?.errors.currentPassword}
        />
        <SubmitButton intent="remove-link" busy="Removing…" quiet>
          Remove the connected account
        </SubmitButton>
      </Form>
    </details>
  );
}
