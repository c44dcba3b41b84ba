import type { LoaderFunctionArgs } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { Fragment } from 'react';
import { Instant } from '../components/instant.tsx';
import { Page } from '../components/page.tsx';
import { titled } from '../components/service-name.ts';

export const meta = titled('Emails');

/** Local mode: the emails that were not sent. */
export async function loader({ context }: LoaderFunctionArgs) {
  return { mails: await context.procedures.keptMails.list() };
}

export default function DevMail() {
  const { mails } = useLoaderData<typeof loader>();
  return (
    <Page title="Emails" intro="Local mode keeps emails here instead of sending them. Newest first." wide>
      {mails.length === 0 && <p>No emails yet. New ones take a second or two to appear.</p>}
      {mails.map((mail) => (
        <article key={mail.id} className="card mail" aria-labelledby={mail.id}>
          <h2 id={mail.id}>{mail.subject}</h2>
          <p className="hint">
            To {mail.recipient}, <Instant at={mail.sentAt} />
          </p>
          <pre>
            <Linked text={mail.text} />
          </pre>
          <details>
            <summary>As HTML</summary>
            <iframe
              title={`${mail.subject}, as HTML`}
              src={`/dev/mail/${mail.id}`}
              loading="lazy"
              sandbox="allow-popups allow-popups-to-escape-sandbox allow-top-navigation-by-user-activation"
            />
          </details>
        </article>
      ))}
    </Page>
  );
}

function Linked({ text }: { text: string }) {
  return text.split(/(https?:\/\/\S+)/).map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text, which never changes
    <Fragment key={index}>{index % 2 === 1 ? <a href={part}>{part}</a> : part}</Fragment>
  ));
}
