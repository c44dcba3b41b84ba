import type { ReactNode } from 'react';
import { Icon, type IconName } from './icon.tsx';

export function Rows({ children }: { children: ReactNode }) {
  return <ul className="rows">{children}</ul>;
}

type RowProps = {
  icon?: IconName;
  /** A letter or picture in place of an icon. */
  mark?: ReactNode;
  title: ReactNode;
  /** If given, the whole row is a link to this URL. */
  href?: string | undefined;
  about?: ReactNode;
  /** Shown at the end of the row: the state, or a button. */
  end?: ReactNode;
  /** Shown below the row, such as a form that opens. */
  children?: ReactNode;
};

export function Row({ icon, mark, title, href, about, end, children }: RowProps) {
  return (
    <li className="row">
      {(icon || mark) && <div className="row-icon">{icon ? <Icon name={icon} /> : mark}</div>}
      <div className="row-body">
        <div className="row-text">
          {href ? (
            <a className="row-link" href={href}>
              {title}
            </a>
          ) : (
            <strong>{title}</strong>
          )}
          {about && <p className="hint">{about}</p>}
        </div>
        {end && <div className="row-end">{end}</div>}
        {children && <div className="row-more">{children}</div>}
      </div>
      {href && <Icon name="chevron" />}
    </li>
  );
}
