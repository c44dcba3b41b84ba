import { useRouteLoaderData } from '@remix-run/react';
import type { ReactNode } from 'react';
import type { loader } from '../root.tsx';

/** The frame of every page: who is logged in and a way to log out above, the content below. */
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
  const email = useRouteLoaderData<typeof loader>('root')?.email;
  return (
    <>
      <a className="skip" href="#main">
        Skip to content
      </a>
      <header className="bar">
        <a className="brand" href="/">
          Identity
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
    </>
  );
}
