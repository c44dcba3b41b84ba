import type { ReactNode } from 'react';

/** A part of a page: its heading, and a card unless it brings cards of its own. */
export function Section({
  id,
  title,
  intro,
  bare,
  children,
}: {
  id: string;
  title: string;
  intro?: ReactNode;
  bare?: boolean;
  children: ReactNode;
}) {
  return (
    <section aria-labelledby={id}>
      <div className="section-heading">
        <h2 id={id}>{title}</h2>
        {intro && <p>{intro}</p>}
      </div>
      {bare ? children : <div className="card">{children}</div>}
    </section>
  );
}
