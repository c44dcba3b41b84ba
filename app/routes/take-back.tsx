import { type ActionFunctionArgs, data, type LoaderFunctionArgs } from '@remix-run/node';
import { useFormAction, useLoaderData } from '@remix-run/react';
import type { TakeBackPage } from '../../server/identity/recovery/take-back.ts';
import { explainLink, noReferrer, tokenOf } from '../answers.ts';
import { changeWords, sayCodeFactors } from '../components/account/account-pages.ts';
import { ButtonLink, type Ended, EndedLink } from '../components/dead-link.tsx';
import { Instant } from '../components/instant.tsx';
import { LeftFactorForm } from '../components/left-factor-form.tsx';
import { Page } from '../components/page.tsx';
import { Row, Rows } from '../components/rows.tsx';
import { titled } from '../components/service-name.ts';
import { answerForm, text } from '../forms.ts';

export const meta = titled('Take your account back');

/** Does not use up the link, because a mail program may open it before the person does. */
export async function loader({ request, context }: LoaderFunctionArgs) {
  const { procedures, transport, site } = context;
  const { supportUrl } = site;
  if (transport.readQuery(request).get('saved') === 'frozen')
    return data({ isFrozen: true, page: null, ended: null, supportUrl });
  const page = await procedures.takeBack.find({ token: tokenOf(request, context) });
  const ended = await explainLink({ request, context }, 'undo_email_change', page !== null);
  return data({ isFrozen: false, page, ended, supportUrl }, { status: page ? 200 : 404 });
}

export const action = (args: ActionFunctionArgs) =>
  answerForm(args, {
    async act(form, procedures) {
      const token = tokenOf(args.request, args.context);
      if (form.get('intent') === 'freeze') {
        await procedures.takeBack.freeze({ token });
        return '/take-back?saved=frozen';
      }
      if (form.has('intent'))
        throw args.context.transport.invalidParameter('intent', 'It must be an action of this page.');
      await procedures.takeBack.use({
        token,
        newPassword: text(form, 'newPassword'),
        code: form.get('code'),
        passkey: form.get('passkey'),
      });
      return '/profile?saved=taken-back';
    },
  });

export const headers = noReferrer;

export default function TakeBack() {
  const { isFrozen, page, ended, supportUrl } = useLoaderData<typeof loader>();
  if (isFrozen) return <Frozen supportUrl={supportUrl} />;
  if (!page) return <Dead link={ended} supportUrl={supportUrl} />;
  const { email, happened, asks, mayFreeze } = page;
  return (
    <Page title="Take your account back" intro={`For ${email}`}>
      <section aria-labelledby="happened">
        <h2 id="happened">What has happened since</h2>
        {happened.earlier > 0 && (
          <p>
            These are the latest {happened.shown.length}. There were {happened.earlier} more before them.
          </p>
        )}
        <Rows>
          {happened.shown.map(({ what, at, device }) => (
            <Row
              key={`${what} ${at.toISOString()}`}
              title={changeWords[what]}
              about={
                <>
                  <Instant at={at} />
                  {device && ` · ${device}`}
                </>
              }
            />
          ))}
        </Rows>
      </section>
      <section aria-labelledby="take-back">
        <h2 id="take-back">If any of this was not you</h2>
        <LeftFactorForm
          purpose="take-back"
          email={email}
          asks={asks}
          act="Take your account back"
          toAct="To take the account back"
          meanwhile={
            <>
              <li>use the link in another of our emails about a change to your account</li>
              {mayFreeze && (
                <li>
                  <a className="alone" href="#freeze">
                    freeze the account
                  </a>
                </li>
              )}
            </>
          }
        >
          <p>
            Set a new password that only you know. Your account will have this email address again. You will
            be logged in here, and everyone else will be logged out.
          </p>
          <p>
            We will remove passkeys and {sayCodeFactors('many', ' and ')} added since then
            {asks && ', except the one that you use here'}, and all recovery codes. If deletion of the account
            has been requested since then, we will cancel it.
          </p>
        </LeftFactorForm>
      </section>
      {asks && <WithoutFactor asks={asks} mayFreeze={mayFreeze} supportUrl={supportUrl} />}
    </Page>
  );
}

type WithoutFactorProps = {
  asks: NonNullable<TakeBackPage['asks']>;
  mayFreeze: boolean;
  supportUrl: string | undefined;
};

function WithoutFactor({ asks, mayFreeze, supportUrl }: WithoutFactorProps) {
  const takesCode = asks.codeFactors.length > 0;
  const formAction = useFormAction();
  const missing = takesCode && asks.passkey ? 'a code or a passkey' : takesCode ? 'a code' : 'a passkey';
  return (
    <section aria-labelledby="freeze">
      <h2 id="freeze">If you do not have {missing}</h2>
      {mayFreeze ? (
        <form method="post" action={formAction} className="card">
          <p>
            You can freeze the account. Then nobody, including you, can log in to it until our support team
            knows who the owner is. Nothing else changes.
          </p>
          <button type="submit" name="intent" value="freeze" className="danger">
            Freeze the account
          </button>
        </form>
      ) : (
        <p className="card">
          We emailed another address of the account first. Only the link in that email can freeze the account.
          {supportUrl && (
            <>
              {' '}
              If someone else has got into your account, <a href={supportUrl}>contact support</a>.
            </>
          )}
        </p>
      )}
    </section>
  );
}

function Frozen({ supportUrl }: { supportUrl: string | undefined }) {
  return (
    <Page title="You have frozen the account">
      <div className="card">
        <p>
          Everyone is logged out, and nobody can log in until our support team knows who the owner is.
          {!supportUrl && ' Contact the people who run this service.'}
        </p>
        {supportUrl && (
          <div className="actions">
            <ButtonLink href={supportUrl}>Contact support</ButtonLink>
          </div>
        )}
      </div>
    </Page>
  );
}

function Dead({ link, supportUrl }: { link: Ended; supportUrl: string | undefined }) {
  return (
    <EndedLink
      link={link}
      says={{
        used: 'You used it to take your account back. Log in with the password that you set.',
        expired: 'It worked for 7 days after the change that we emailed you about.',
      }}
      otherwise={<ButtonLink href="/login">Log in</ButtonLink>}
    >
      {supportUrl && (
        <>
          {' '}
          If someone else has got into your account, <a href={supportUrl}>contact support</a>.
        </>
      )}
    </EndedLink>
  );
}
