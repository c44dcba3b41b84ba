import type { ReactNode } from 'react';
import styles from '../../styles/demo.css?url';
import { Badge } from '../badge.tsx';

/** The `links` of each route of the demo clients. */
export const demoLinks = () => [{ rel: 'stylesheet', href: styles }];

const taglines: Record<string, string> = {
  marketplace: 'Good things from small shops',
  network_site: 'Stories from the network',
  crm_app: 'Customers, contracts, calls',
  'legacy-marketplace': 'Since 2004',
};

/** A page of a demo client, which looks like a separate product. */
export function DemoPage({
  client,
  title,
  heading,
  children,
}: {
  client: string;
  title: string;
  heading: string;
  children: ReactNode;
}) {
  return (
    <div className={`demo demo-${client}`}>
      <a className="skip" href="#main">
        Skip to content
      </a>
      <header className="bar">
        <div className="bar-inside">
          <span className="brand">
            {title}
            {taglines[client] && <span className="tagline">{taglines[client]}</span>}
          </span>
          <Badge>Demo client</Badge>
        </div>
      </header>
      <main id="main" tabIndex={-1} className="wide">
        <div className="heading">
          <h1>{heading}</h1>
        </div>
        {children}
      </main>
    </div>
  );
}
