type Link = { group: string; path: string; name: string };

type ContentsProps = {
  menu: Link[];
  current: string;
  sections: { id: string; title: string }[];
};

/** Lists all pages beside the content. On a phone the list is above the content, and closed. */
export function Contents({ menu, current, sections }: ContentsProps) {
  const groups = [...new Set(menu.map(({ group }) => group))];
  return (
    <nav className="contents" aria-label="Documentation">
      <details>
        <summary>Contents</summary>
        <div className="contents-inside">
          {groups.map((group) => (
            <div key={group}>
              <p>{group}</p>
              <ul>
                {menu
                  .filter((link) => link.group === group)
                  .map(({ path, name }) => (
                    <li key={path}>
                      <a href={path} aria-current={path === current ? 'page' : undefined}>
                        {name}
                      </a>
                      {path === current && <Sections sections={sections} />}
                    </li>
                  ))}
              </ul>
            </div>
          ))}
        </div>
      </details>
    </nav>
  );
}

function Sections({ sections }: Pick<ContentsProps, 'sections'>) {
  if (sections.length < 2) return null;
  return (
    <ul>
      {sections.map(({ id, title }) => (
        <li key={id}>
          <a href={`#${id}`}>{title}</a>
        </li>
      ))}
    </ul>
  );
}
