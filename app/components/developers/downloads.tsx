import { Icon } from '../icon.tsx';
import { Section } from '../section.tsx';

type DownloadsProps = { files: { name: string; size: number; sha256: string }[] };

export function Downloads({ files }: DownloadsProps) {
  return (
    <Section id="downloads" title={files.length > 1 ? 'Downloads' : 'Download'}>
      <ul className="rows">
        {files.map(({ name, size, sha256 }) => (
          <li key={name}>
            <div>
              <a href={`/developers/${name}`}>{name}</a>
              <p className="hint">
                SHA-256 <code>{sha256}</code>
              </p>
            </div>
            <span className="hint">
              <Icon name="download" /> {Math.ceil(size / 1_000)} kB
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}
