import type { ReactNode } from 'react';

/** `bare`: the section draws no card, because its children draw their own cards or need none. */
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
