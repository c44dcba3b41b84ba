import type { LoaderFunctionArgs, MetaFunction } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { findNext, NextThing } from '../components/next-thing.tsx';
import { Page } from '../components/page.tsx';
import { buildTitle } from '../components/service-name.ts';
import { sayWait } from '../components/too-many.tsx';
import { otherLoginPath } from '../log-in-first.ts';
import { useRootData } from '../root-data.ts';

export const meta: MetaFunction<typeof loader> = ({ data, matches }) => [
  { title: buildTitle(data?.title ?? 'Problem', matches) },
];

export async function loader({ params, context }: LoaderFunctionArgs) {
  const { title, explanation, status } = context.site.explainProblem(params.code ?? '');
  return {
    code: params.code,
    title,
    status,
    explanation,
    detail: context.problem?.detail,
    isHere: !context.problem,
    supportUrl: context.site.supportUrl,
    minutes: context.minutes,
    otherLogin: context.refusedRequest && otherLoginPath(context.refusedRequest),
    sender: context.refusedRequest && context.site.findSender(context.refusedRequest),
  };
}

export default function ProblemPage() {
  const { code, title, status, explanation, detail, isHere, supportUrl, minutes, otherLogin, sender } =
    useLoaderData<typeof loader>();
  const root = useRootData();
  // app/root.tsx looks for the visitor only after a 404.
  const isStranger = (isHere || status === 404) && !root?.email;
  // If the page only explains a code, no request was refused.
  const next = findNext({
    code: isHere ? undefined : code,
    status,
    supportUrl,
    otherLogin,
    sender,
    isStranger,
  });
  return (
    <Page title={title}>
      <div className="card">
        {minutes && <p>Try again in {sayWait(minutes)}.</p>}
        <p>
          <WithSupport words={detail ?? explanation} url={supportUrl} isLink={next.href !== supportUrl} />
        </p>
        {isHere && (
          <p>
            Programs receive this as status <code>{status}</code> with the code <code>{code}</code>.{' '}
            <a href="/developers">For developers</a>
          </p>
        )}
        <NextThing next={next} sender={sender} />
        {!isHere && (
          <p className="hint">
            {status} <code>{code}</code>
          </p>
        )}
      </div>
    </Page>
  );
}

/** Makes "Contact support" a link. If no contact is set, leaves that sentence out. */
function WithSupport({ words, url, isLink }: { words: string; url: string | undefined; isLink: boolean }) {
  const contact = 'Contact support';
  const [before, after] = words.split(contact);
  if (after === undefined) return words;
  if (!url) return before?.trim();
  if (!isLink) return words;
  return (
    <>
      {before}
      <a href={url}>{contact}</a>
      {after}
    </>
  );
}
