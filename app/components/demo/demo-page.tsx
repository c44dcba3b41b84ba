import type { ReactNode } from 'react';

/** The frame of a demo client, which must look like a separate site. */
export function DemoPage({
  title,
  heading,
  children,
}: {
  title: string;
  heading: string;
  children: ReactNode;
}) {
  return (
    <div className="demo">
      <a className="skip" href="#main">
        Skip to content
      </a>
      <header className="bar">
        <span className="brand">{title}</span>
        <span className="tag">Demo client</span>
      </header>
      <main id="main" tabIndex={-1} className="wide">
        <h1>{heading}</h1>
        {children}
      </main>
    </div>
  );
}
