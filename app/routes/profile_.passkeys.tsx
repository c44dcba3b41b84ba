import type { ActionFunctionArgs, LoaderFunctionArgs } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { Confirm } from '../components/confirm.tsx';
import { Disclosure } from '../components/disclosure.tsx';
import { Field } from '../components/field.tsx';
import { Instant } from '../components/instant.tsx';
import { Notice } from '../components/notice.tsx';
import { Page } from '../components/page.tsx';
import { PasskeySignals } from '../components/passkey-signals.tsx';
import { useRefused } from '../components/refused.ts';
import { Row, Rows } from '../components/rows.tsx';
import { titled } from '../components/service-name.ts';
import { TooMany } from '../components/too-many.tsx';
import { answerForm, requireNoAsks, text } from '../forms.ts';
import { whenLoggedIn } from '../log-in-first.ts';
import type { Refused } from '../refused.ts';

export const meta = titled('Passkeys');

export async function loader({ request, context }: LoaderFunctionArgs) {
  const described = await whenLoggedIn({ request, context }, async (procedures) => ({
    ...(await procedures.passkeys.describe()),
    signals: await procedures.passkeys.signals(),
  }));
  return { ...described, saved: context.transport.readQuery(request).get('saved') };
}

export const action = (args: ActionFunctionArgs) =>
  answerForm(args, {
    keeps: ['id', 'name'],
    async act(form, procedures) {
      const intent = form.get('intent');
      if (intent !== 'rename' && intent !== 'remove' && intent !== 'add')
        throw args.context.transport.invalidParameter('intent', 'It must be an action of this page.');
      const change = intent === 'add' ? 'passkey.added' : undefined;
      requireNoAsks(await procedures.confirm.askWhileSettingUp({ form, change }));
      const id = text(form, 'id');
      if (intent === 'add') return '/profile/passkeys/add';
      if (intent === 'rename') await procedures.passkeys.rename({ id, name: text(form, 'name') });
      else await procedures.passkeys.remove({ id });
      return `/profile/passkeys?saved=${intent}`;
    },
  });

export const headers = ({ actionHeaders }: { actionHeaders: Headers }) => actionHeaders;

const savedNotices = new Map(
  Object.entries({
    added: 'You have added a passkey. You can now log in with it.',
    rename: 'The name has been saved.',
    remove: 'The passkey has been removed. If your password manager still shows it, delete it there too.',
  }),
);

type Listed = ReturnType<typeof useLoaderData<typeof loader>>['passkeys'][number];

const buttons = new Map([
  ['add', 'Add a passkey'],
  ['rename', 'Save the name'],
  ['remove', 'Remove this passkey'],
]);

export default function Passkeys() {
  const { email, hasPassword, passkeys, signals, refused: cannotAdd, saved } = useLoaderData<typeof loader>();
  const notice = saved ? savedNotices.get(saved) : undefined;
  const refused = useRefused();
  if (refused?.asks)
    return (
      <Confirm
        refused={refused}
        asks={refused.asks}
        to={buttons.get(refused.values.intent ?? '')}
        danger={refused.values.intent === 'remove'}
      />
    );
  const message = refused?.message ?? refused?.errors.id ?? refused?.errors.passkey;
  return (
    <Page
      title="Passkeys"
      intro="Log in with your fingerprint, face or screen lock, without typing a password."
      wide
    >
      {!refused && notice && <Notice kind="success">{notice}</Notice>}
      {refused?.minutes && <TooMany minutes={refused.minutes} />}
      {message && <Notice kind="error">{message}</Notice>}
      <div className="card">
        {passkeys.length === 0 && <p>You do not have a passkey yet.</p>}
        {passkeys.length > 0 && (
          <Rows>
            {passkeys.map((passkey) => (
              <PasskeyRow
                key={passkey.id}
                passkey={passkey}
                refused={refused?.values.id === passkey.id ? refused : undefined}
              />
            ))}
          </Rows>
        )}
        <AddPasskey cannotAdd={cannotAdd} />
      </div>
      {passkeys.length > 0 && (
        <section aria-labelledby="lost">
          <h2 id="lost">If you lose a passkey</h2>
          <div className="card">
            <p>
              {hasPassword
                ? 'Log in with your password and remove the passkey here.'
                : 'You do not have a password. If you cannot use any of your passkeys, choose “Forgot your password” on the login page.'}{' '}
              {!hasPassword && (
                <>
                  We will email a link to <strong>{email}</strong> so that you can log in again.
                </>
              )}
            </p>
            {!hasPassword && <p>To avoid that, add a second passkey on another device.</p>}
          </div>
        </section>
      )}
      <p className="aside">
        <a href="/profile/security">Back to Security</a>
      </p>
      <PasskeySignals own={signals} />
    </Page>
  );
}

function AddPasskey({ cannotAdd }: { cannotAdd: 'unproved' | 'too_many' | undefined }) {
  if (cannotAdd === 'unproved')
    return (
      <p>
        You can add a passkey once you have verified your email address.{' '}
        <a href="/verify-email">Verify it now</a>
      </p>
    );
  if (cannotAdd === 'too_many')
    return <p className="hint">You cannot have more passkeys than this. Remove one to add another.</p>;
  return (
    <form method="post">
      <button type="submit" name="intent" value="add">
        Add a passkey
      </button>
    </form>
  );
}

function PasskeyRow({ passkey, refused }: { passkey: Listed; refused: Refused | undefined }) {
  const { id, name, backedUp, createdAt, lastUsedAt } = passkey;
  return (
    <Row
      icon="key"
      title={name}
      about={
        <>
          Added <Instant at={createdAt} />.{' '}
          {lastUsedAt ? (
            <>
              Last used <Instant at={lastUsedAt} />.
            </>
          ) : (
            'Not used yet.'
          )}
          <br />
          {backedUp ? 'Saved in your password manager.' : 'Saved on one device only.'}
        </>
      }
    >
      <div className="row-end">
        <Disclosure label={<Of name={name}>Rename</Of>} open={refused?.errors.name !== undefined}>
          <form method="post">
            <input type="hidden" name="id" value={id} />
            <Field
              label="Name"
              name="name"
              required
              maxLength={400}
              defaultValue={refused?.values.name || name}
              error={refused?.errors.name}
            />
            <button type="submit" name="intent" value="rename">
              Save the name<span className="visually-hidden"> of passkey {name}</span>
            </button>
          </form>
        </Disclosure>
        <Disclosure label={<Of name={name}>Remove</Of>}>
          <form method="post">
            <input type="hidden" name="id" value={id} />
            <p>You will no longer be able to log in with it.</p>
            <button type="submit" name="intent" value="remove" className="danger">
              Remove this passkey<span className="visually-hidden">, {name}</span>
            </button>
          </form>
        </Disclosure>
      </div>
    </Row>
  );
}

/** Names the passkey for people who cannot see in which row the button is. */
const Of = ({ name, children }: { name: string; children: string }) => (
  <>
    {children}
    <span className="visually-hidden"> passkey {name}</span>
  </>
);
