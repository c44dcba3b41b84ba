import { Instant } from '../instant.tsx';
import { Row, Rows } from '../rows.tsx';
import { Section } from '../section.tsx';
import { Acts, type Person } from './acts.tsx';
import { Newest } from './records.tsx';
import { Name } from './words.tsx';

export function NotesSection({ person: { notes, authors } }: { person: Person }) {
  return (
    <Section id="notes" title="Notes" intro="What staff should know who help this person next.">
      {notes.length > 0 && (
        <Newest
          rows={notes}
          first={3}
          draw={(rows) => (
            <Rows>
              {rows.map(({ id, text, at, authorId }) => {
                const author = authors.find((each) => each.id === authorId);
                return (
                  <Row
                    key={id}
                    title={<Name>{text}</Name>}
                    about={
                      <>
                        {author ? <Name>{author.name}</Name> : 'An operator, or somebody who has left'}
                        {' · '}
                        <Instant at={at} />
                      </>
                    }
                    end={<Acts at="note" about={{ note: id }} named={text} isBare />}
                  />
                );
              })}
            </Rows>
          )}
        />
      )}
      <Acts at="notes" />
      {notes.length === 0 && <p className="hint">Nobody has left a note.</p>}
    </Section>
  );
}
