import { useRouteLoaderData } from '@remix-run/react';
import type { ReactNode } from 'react';
import type { loader } from '../root.tsx';
import { ServiceName } from './service-name.ts';

/** The frame of every page: who is logged in and a way to log out above, the content, and the operator's links below. */
export function Page({
  title,
  intro,
  wide,
  children,
}: {
  title: string;
  intro?: ReactNode;
  wide?: boolean;
  children: ReactNode;
}) {
  const root = useRouteLoaderData<typeof loader>('root');
  const email = root?.email;
  const links = [
    { href: root?.supportUrl, words: 'Help' },
    { href: root?.privacyUrl, words: 'Privacy' },
    { href: root?.termsUrl, words: 'Terms' },
  ].filter(({ href }) => href !== undefined);
  return (
    <>
      <a className="skip" href="#main">
        Skip to content
      </a>
      <header className="bar">
        <a className="brand" href="/">
          <ServiceName />
        </a>
        {email && (
          <div className="visitor">
            <span className="visitor-email">{email}</span>
            <form method="post" action="/logout">
              <button type="submit" className="quiet">
                Log out
              </button>
            </form>
          </div>
        )}
      </header>
      <main id="main" tabIndex={-1} className={wide ? 'wide' : undefined}>
        <h1>{title}</h1>
        {intro && <p className="intro">{intro}</p>}
        {children}
      </main>
      {links.length > 0 && (
        <footer className="foot">
          {links.map(({ href, words }) => (
            <a key={words} href={href}>
              {words}
            </a>
          ))}
        </footer>
      )}
    </>
  );
}
