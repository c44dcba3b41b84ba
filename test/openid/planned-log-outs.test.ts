// Which log-outs clients of OpenID Connect are told of (contract 14.70 and 14.71). A trigger plans them. So they are planned
// even if SQL or an older version ends something.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { recordLaunch } from '../../db/tables/launches.ts';
import { endAllSessions, endSessions } from '../../db/tables/sessions.ts';
import { openFreshDatabase } from '../support/database/database.ts';
import { connect } from '../support/database/postgres.ts';
import { addLaunch, addRow, addVisitor, listPlanned, setRole } from '../support/openid/log-outs.ts';
import { makeDue, runErasure } from '../support/people/leaving.ts';
import { addPerson, addSession } from '../support/people/staff.ts';
import { shared } from '../support/run/shared.ts';

const database = shared(openFreshDatabase);
const many = shared(async () => connect(database.url, { poolSize: 16 }));

const by = { by: 'service', cause: 'test' } as const;
const config = { issuer: 'http://localhost:3000' } as Parameters<typeof addSession>[0]['config'];

const ends: Record<string, (person: { id: string; sessionId: string }) => Promise<unknown>> = {
  'is ended by its person': ({ id, sessionId }) =>
    endSessions(database.db, id, { id: sessionId }, new Date()),
  'is ended with all of them': ({ id }) => endSessions(database.db, id, 'all', new Date()),
  'is ended by database:restored': () =>
    inTransaction(database.db, by, (trx) => endAllSessions(trx, new Date())),
  'is ended by SQL': ({ sessionId }) =>
    sql`update sessions set ended_at = now() where id = ${sessionId}`.execute(database.db),
  'is deleted by SQL': ({ sessionId }) =>
    sql`delete from sessions where id = ${sessionId}`.execute(database.db),
};

describe('a session that', () => {
  it.each(Object.entries(ends))(
    '%s is told of once to each client with a launch of it (contract 14.70)',
    async (_, end) => {
      const [wiki, desk, other] = [await addRow(database), await addRow(database), await addRow(database)];
      const person = await addVisitor(database, [wiki, desk]);
      await end(person);
      await end(person);
      expect(await listPlanned(database, wiki)).toEqual([person.sids[0]]);
      expect(await listPlanned(database, desk)).toEqual([person.sids[1]]);
      expect(await listPlanned(database, other)).toEqual([]);
    },
  );

  it('is ended by 16 at once is told of once (contract 14.70)', async () => {
    const wiki = await addRow(database);
    const { id, sessionId, sid } = await addVisitor(database, [wiki]);
    const end = () => endSessions(many.db, id, { id: sessionId }, new Date());
    const ended = await Promise.all(Array.from({ length: 16 }, end));
    expect(ended.reduce((sum, each) => sum + each)).toBe(1);
    expect(await listPlanned(database, wiki)).toEqual([sid]);
  });

  it('had expired is not told of, as it is no event (contract 10.9)', async () => {
    const wiki = await addRow(database);
    const { sessionId } = await addVisitor(database, [wiki]);
    await sql`update sessions set created_at = now() - interval '31 days' where id = ${sessionId}`.execute(
      database.db,
    );
    await sql`delete from sessions where id = ${sessionId}`.execute(database.db);
    expect(await listPlanned(database, wiki)).toEqual([]);
  });

  it('ends while its launch is recorded is told of, or has no launch (contract 4.26)', async () => {
    const wiki = await addRow(database);
    const { id } = await addPerson(database);
    for (let round = 0; round < 16; round++) {
      const { sessionId } = await addSession({ ...database, config }, id);
      const sid = `sid-${round}-${id}`;
      const [recorded] = await Promise.all([
        inTransaction(database.db, by, (trx) => recordLaunch(trx, { sessionId, client: wiki.name, sid })),
        endSessions(database.db, id, { id: sessionId }, new Date()),
      ]);
      expect((await listPlanned(database, wiki)).includes(sid), `round ${round}`).toBe(
        recorded !== undefined,
      );
    }
  });

  it('ends is told of to no client without an address, and to no hand-off', async () => {
    const silent = await addRow(database, {}, null);
    const person = await addVisitor(database, [silent, { name: 'marketplace' }]);
    await ends['is ended by its person']?.(person);
    expect(await listPlanned(database, silent)).toEqual([]);
    const { rows } = await sql`select from log_outs where user_id = ${person.id}`.execute(database.db);
    expect(rows).toEqual([]);
  });

  it('ends is told of although the client is off: the log-out waits (contract 14.76)', async () => {
    const wiki = await addRow(database);
    await sql`update clients set off_at = now() where id = ${wiki.id}`.execute(database.db);
    const person = await addVisitor(database, [wiki]);
    await ends['is ended by its person']?.(person);
    expect(await listPlanned(database, wiki)).toEqual([person.sid]);
  });
});

const suspend = (id: string) =>
  sql`update users set suspended_at = now() where id = ${id}`.execute(database.db);

describe('a person', () => {
  it('who is suspended or frozen is told of with each session, then alone (contract 14.71)', async () => {
    const wiki = await addRow(database);
    const [one, two] = [await addVisitor(database, [wiki]), await addVisitor(database, [wiki])];
    await suspend(one.id);
    await sql`update users set suspended_at = now(), frozen_at = now() where id = ${two.id}`.execute(
      database.db,
    );
    expect(await listPlanned(database, wiki)).toEqual([one.sid, null, two.sid, null]);
    // A freeze of somebody who is suspended already ends nothing more.
    await sql`update users set frozen_at = now() where id = ${one.id}`.execute(database.db);
    expect(await listPlanned(database, wiki)).toHaveLength(4);
  });

  it('who is erased is told of with each session, then alone, and nothing else of them is left (contract 14.71)', async () => {
    const wiki = await addRow(database);
    const { id, email, sid } = await addVisitor(database, [wiki]);
    await addLaunch(database, id, [wiki], { daysAgo: 29 });
    await makeDue(database.db, email);
    await runErasure(database.db);
    expect(await listPlanned(database, wiki)).toHaveLength(3);
    expect((await listPlanned(database, wiki)).at(-1)).toBe(null);
    expect(await listPlanned(database, wiki)).toContain(sid);
    const { rows } = await sql`select user_id, client_id from log_outs where client_id = ${wiki.id}`.execute(
      database.db,
    );
    expect(rows).toEqual(Array(3).fill({ user_id: id, client_id: wiki.id }));
  });

  it('who was last there over 30 days ago is not told of alone (contract 14.71)', async () => {
    const wiki = await addRow(database);
    const { id, sid } = await addVisitor(database, [wiki], { daysAgo: 31 });
    await suspend(id);
    expect(await listPlanned(database, wiki)).toEqual([sid]);
  });

  it('who was never there is not told of', async () => {
    const wiki = await addRow(database);
    const { id } = await addPerson(database);
    await suspend(id);
    expect(await listPlanned(database, wiki)).toEqual([]);
  });
});

describe('a role that may no longer enter', () => {
  it('is told of once, and again only after it could enter once more (contract 14.71)', async () => {
    const wiki = await addRow(database, { roles: ['admin'] });
    const everybody = await addRow(database);
    const person = await addPerson(database, { role: 'admin' });
    await addLaunch(database, person.id, [wiki, everybody]);
    await setRole(database, person.id, 'manager');
    expect(await listPlanned(database, wiki)).toEqual([]);
    await setRole(database, person.id, 'user');
    expect(await listPlanned(database, wiki)).toEqual([null]);
    for (const name of ['A', 'B', 'C'])
      await sql`update users set name = ${name} where id = ${person.id}`.execute(database.db);
    expect(await listPlanned(database, wiki)).toEqual([null]);
    await setRole(database, person.id, 'admin');
    await setRole(database, person.id, 'user');
    expect(await listPlanned(database, wiki)).toEqual([null, null]);
    expect(await listPlanned(database, everybody)).toEqual([]);
  });

  it('is that of a merchant who lost the last capability, or of a customer who got one', async () => {
    const [shops, homes] = [
      await addRow(database, { roles: ['merchant'] }),
      await addRow(database, { roles: ['customer'] }),
    ];
    const person = await addPerson(database);
    const grant = (names: string[]) =>
      inTransaction(database.db, { by: 'operator', cause: 'test' }, (trx) =>
        sql`update accounts set granted_here = ${names}::text[], capabilities = ${names}::text[]
          where id = ${person.accountId}`.execute(trx),
      );
    await addLaunch(database, person.id, [homes]);
    await grant(['manage_storefront']);
    expect(await listPlanned(database, homes)).toEqual([null]);
    await addLaunch(database, person.id, [shops]);
    await grant(['manage_storefront', 'sell_services']);
    expect(await listPlanned(database, shops)).toEqual([]);
    await grant([]);
    expect([await listPlanned(database, shops), await listPlanned(database, homes)]).toEqual([
      [null],
      [null],
    ]);
  });

  it('is told of if the role changes several times in one transaction, once', async () => {
    const wiki = await addRow(database, { roles: ['admin'] });
    const person = await addPerson(database, { role: 'admin' });
    await addLaunch(database, person.id, [wiki]);
    await inTransaction(database.db, by, async (trx) => {
      for (const role of ['manager', 'user'])
        await sql`update users set role = ${role} where id = ${person.id}`.execute(trx);
      await sql`update users set name = 'Another' where id = ${person.id}`.execute(trx);
    });
    expect(await listPlanned(database, wiki)).toEqual([null]);
  });

  it('is that of the person: other roles of the client end nothing (contract 14.78)', async () => {
    const wiki = await addRow(database);
    const { id } = await addVisitor(database, [wiki]);
    await sql`update clients set roles = '{admin}' where id = ${wiki.id}`.execute(database.db);
    await sql`update users set name = 'Another' where id = ${id}`.execute(database.db);
    expect(await listPlanned(database, wiki)).toEqual([]);
  });

  it('is told of if the events of before are gone', async () => {
    const wiki = await addRow(database, { roles: ['admin'] });
    const person = await addPerson(database, { role: 'admin' });
    await addLaunch(database, person.id, [wiki]);
    await sql`delete from events where user_id = ${person.id}`.execute(database.db);
    await setRole(database, person.id, 'user');
    expect(await listPlanned(database, wiki)).toEqual([null]);
  });
});
