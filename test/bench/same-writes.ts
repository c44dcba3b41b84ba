// Holds the floor to what it says of itself: for one request it writes the same rows as the service does.
import type { Asked } from './population.ts';
import type { Server } from './servers.ts';

export type RunSql = (text: string) => Promise<{ rows: unknown[] }>;

// The jobs that send mails and number events write to these on their own, whatever is asked.
const watch = `
  create table writes (what text not null);
  create function note_write() returns trigger language plpgsql as $$ begin
    insert into writes values (tg_op || ' ' || tg_table_name);
    return null;
  end $$;
  do $$ declare name text; begin
    for name in select tablename from pg_tables where schemaname = 'public'
        and tablename not in ('writes', 'mail_tokens', 'event_sequences') loop
      execute format('create trigger note_write after %s on %I for each row execute function note_write()',
        case when name in ('mails', 'events') then 'insert' else 'insert or update or delete' end, name);
    end loop;
  end $$`;
const unwatch = 'drop function note_write cascade; drop table writes';

/** Throws where they do not. */
export async function requireSameWrites(
  runSql: RunSql,
  ask: () => Asked,
  { floor, service }: { floor: Server; service: Server },
): Promise<void> {
  const listWrites = async (server: Server) => {
    await runSql('delete from writes');
    const { method, path, headers, body } = ask();
    await fetch(server.url + path, { method, headers, body, redirect: 'manual' });
    const { rows } = await runSql(
      `select coalesce(string_agg(what, ', ' order by what), 'nothing') as list from writes`,
    );
    return (rows[0] as { list: string }).list;
  };
  await runSql(watch);
  try {
    const [ofFloor, ofService] = [await listWrites(floor), await listWrites(service)];
    if (ofFloor !== ofService)
      throw new Error(`The floor writes ${ofFloor}, but the service ${ofService} (${ask().path})`);
  } finally {
    await runSql(unwatch);
  }
}
