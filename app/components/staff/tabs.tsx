type TabsProps = {
  label: string | undefined;
  pages: { path: string; title: string }[];
  current: string | undefined;
};

export const Tabs = ({ label, pages, current }: TabsProps) => (
  <nav className="tabs" aria-label={label}>
    <ul>
      {pages.map(({ path, title }) => (
        <li key={path}>
          <a href={path} aria-current={path === current ? 'page' : undefined}>
            {title}
          </a>
        </li>
      ))}
    </ul>
  </nav>
);
