// `--client NAME=CALLBACK` at the start, in local mode (contract 13.100 to 13.105).
import { sql } from 'kysely';
import { describe, expect, inject, it } from 'vitest';
import { keepLocalClients, MisuseError, readLocalClients } from '../../server/clients/local.ts';
import { readConfig } from '../../server/settings/config.ts';
import { sign } from '../../server/sso/hmac.ts';
import { runCli } from '../support/app/cli.ts';
import { entryOf, findFreePort, type RunningProcess, type Runtime, run } from '../support/app/process.ts';
import { cloneDatabase, connect } from '../support/database/postgres.ts';

const callback = 'http://localhost:4000/sso/callback';
const urlForm = /IDENTITY_URL=(http:\/\/(\w+):(idsec_[A-Za-z0-9_-]{49})@localhost:\d+)$/gm;

describe.each<Runtime>(['node', 'deno'])('on %s, a client that the start names', (runtime) => {
  const start = (url: string, port: number, ...args: string[]) =>
    run(runtime, [entryOf[runtime], ...args], { PORT: String(port), DATABASE_URL: url });
  const untilUp = (service: RunningProcess) =>
    expect.poll(service.output, { timeout: 60_000 }).toContain('Press Ctrl-C');
  const stop = async ({ child, exited, output }: RunningProcess) => {
    child.kill('SIGTERM');
    expect(await exited, output()).toBe(0);
  };
  const urlsIn = (service: RunningProcess) => [...service.output().matchAll(urlForm)].map(([, all]) => all);

  it('is launched with the printed secret, the same at each start (contract 13.100 to 13.104)', async () => {
    const { url, drop } = await cloneDatabase(inject('templateUrl'));
    const { db, close } = connect(url);
    const port = await findFreePort();
    const base = `http://localhost:${port}`;
    const first = start(
      url,
      port,
      '--client',
      `shop=${callback}`,
      '--client=kiosk_2=http://127.0.0.1:4100/in?a=b',
    );
    await untilUp(first);
    const printed = urlsIn(first);
    expect(printed.map((each = '') => new URL(each).username)).toEqual(['shop', 'kiosk_2']);
    const secretOf = (name: string) =>
      new URL(printed.find((each = '') => each.includes(`//${name}:`)) ?? '').password;
    expect(secretOf('shop')).not.toBe(secretOf('kiosk_2'));

    const login = await fetch(`${base}/login`, {
      method: 'POST',
      body: new URLSearchParams({ email: 'customer@example.test', password: 'local demo password' }),
      headers: { origin: base },
      redirect: 'manual',
    });
    const cookie = login.headers.get('set-cookie')?.split(';')[0] ?? '';
    const launch = async (name: string) => {
      const answer = await fetch(`${base}/sso/launch/${name}`, { headers: { cookie }, redirect: 'manual' });
      return new URL(answer.headers.get('location') ?? 'http://none.test');
    };
    for (const name of ['shop', 'kiosk_2']) {
      const { searchParams } = await launch(name);
      const payload = searchParams.get('payload') ?? '';
      expect(searchParams.get('signature')).toBe(await sign(secretOf(name), payload));
    }
    expect((await launch('kiosk_2')).href).toMatch(/^http:\/\/127\.0\.0\.1:4100\/in\?a=b&payload=/);
    const readRows = async () =>
      (
        await sql`select name, title, callback_url, login_url, events_url, roles, off_at from clients order by 1`.execute(
          db,
        )
      ).rows;
    const roles = ['admin', 'merchant', 'customer'];
    const shop = {
      ...{ name: 'shop', title: 'Shop', callback_url: callback, login_url: 'http://localhost:4000/login' },
      ...{ events_url: 'http://localhost:4000/sso/events', roles, off_at: null },
    };
    const kiosk = {
      ...{ name: 'kiosk_2', title: 'Kiosk 2', callback_url: 'http://127.0.0.1:4100/in?a=b' },
      ...{ login_url: 'http://127.0.0.1:4100/login', events_url: 'http://127.0.0.1:4100/sso/events' },
      ...{ roles, off_at: null },
    };
    expect(await readRows()).toEqual([kiosk, shop]);
    await stop(first);

    const readVersion = async () =>
      (await sql<{ version: string }>`select version from client_changes`.execute(db)).rows[0]?.version;
    const version = await readVersion();
    const second = start(
      url,
      port,
      '--client',
      `shop=${callback}`,
      '--client',
      'kiosk_2=http://127.0.0.1:4100/in?a=b',
    );
    await untilUp(second);
    expect(urlsIn(second)).toEqual(printed);
    expect(await readVersion()).toBe(version);
    await stop(second);

    // Whatever somebody did to the row since the last start, the next start makes the client work again.
    const why = ['--why', 'a test'];
    const cli = (...args: string[]) => runCli(url, [...args, ...why], '', 'test', { PORT: String(port) });
    for (const outcome of [
      await cli(
        'client:set',
        'shop',
        '--callback',
        'http://localhost:9/',
        '--login-url',
        'none',
        '--roles',
        'admin',
      ),
      await cli('client:rotate', 'shop'),
      await cli('client:end-secret', 'shop', 'first'),
      await cli('client:off', 'shop'),
    ])
      expect(outcome).toMatchObject({ code: 0, err: '' });
    await sql`insert into restores default values`.execute(db);
    const third = start(url, port, '--client', `shop=${callback}`);
    await untilUp(third);
    expect(urlsIn(third)).toEqual(printed.slice(0, 1));
    expect(await readRows()).toEqual([kiosk, { ...shop, roles: ['admin'] }]);
    const { rows } = await sql`select 1 from client_secrets s join clients c on c.id = s.client_id
      where c.name = 'shop'`.execute(db);
    expect(rows).toHaveLength(1);
    // The refusal is only about this customer, which shows that the row is on and confirmed.
    expect((await launch('shop')).host).toBe('none.test');
    const refused = await fetch(`${base}/sso/launch/shop`, { headers: { cookie }, redirect: 'manual' });
    expect(await refused.json()).toMatchObject({ code: 'client_not_allowed' });
    await stop(third);

    // The commands above made these events and mails.
    const { rows: told } = await sql`select type from audit_events where details->>'client' is not null
      and details->>'by' <> 'cli'`.execute(db);
    expect(told).toEqual([]);
    const { rows: mails } = await sql<{ what: string }>`select distinct details->>'what' as what from mails
      where kind = 'client_changed' order by 1`.execute(db);
    expect(mails.map(({ what }) => what)).toEqual(['end_secret', 'off', 'rotate', 'set']);
    await close();
    await drop();
  });

  it('makes nothing start if it is wrong, and every fault is named (contract 13.103)', async () => {
    const args = [
      ...['shop', '=http://localhost/', 'Shop=http://localhost:4000/', 'none=http://localhost:4000/'],
      ...['marketplace=http://localhost:4000/', 'a=https://shop.example.com/', 'b=ftp://localhost/'],
      ...[
        'c=http://localhost:4000',
        'd=http://localhost:4000/?state=1',
        'e=http://localhost:4000/',
        'e=http://localhost:1/',
      ],
      'f/../g=http://shop.example.com/',
    ].map((value) => `--client=${value}`);
    const service = start('postgres://nobody@127.0.0.1:1/none', await findFreePort(), ...args, '--client');
    expect(await service.exited).toBe(2);
    const [heading, ...lines] = service.output().trimEnd().split('\n');
    expect(heading).toBe('These clients are wrong:');
    const form = 'Write it as NAME=CALLBACK, such as shop=http://localhost:4000/sso/callback.';
    const name = 'Use 1 to 63 lower-case letters, digits and underscores. The first one must be a letter.';
    const elsewhere =
      'In local mode, the URL must be on localhost, 127.0.0.1, [::1] or host.docker.internal.';
    const reserved = 'This name is reserved, or the settings of this service have a client with this name.';
    expect(lines).toEqual([
      `  --client "shop": ${form}`,
      `  --client "=http://localhost/": ${name}`,
      `  --client "Shop=http://localhost:4000/": ${name}`,
      `  --client "none=http://localhost:4000/": ${reserved}`,
      `  --client "marketplace=http://localhost:4000/": ${reserved}`,
      `  --client "a=https://shop.example.com/": ${elsewhere}`,
      '  --client "b=ftp://localhost/": Enter a URL that starts with http:// or https://.',
      expect.stringMatching(/^ {2}--client "c=http:\/\/localhost:4000": /),
      expect.stringMatching(/^ {2}--client "d=http:\/\/localhost:4000\/\?state=1": /),
      '  --client "e=http://localhost:1/": This name is given twice.',
      `  --client "f/../g=http://shop.example.com/": ${name}`,
      `  --client "f/../g=http://shop.example.com/": ${elsewhere}`,
      `  --client "": ${form}`,
    ]);
  });

  it('is refused in production, even before other faults (contract 13.100)', async () => {
    const service = run(runtime, [entryOf[runtime], '--client', `shop=${callback}`], {
      NODE_ENV: 'production',
    });
    expect(await service.exited).toBe(2);
    expect(service.output()).toBe('--client is only for local mode. In production, use client:add.\n');
  });

  it('is one row if several start at once on one database (contract 13.105)', async () => {
    const { url, drop } = await cloneDatabase(inject('templateUrl'));
    const { db, close } = connect(url);
    const issuer = { IDENTITY_ISSUER: 'http://localhost:3999' };
    const begin = async (callbackUrl: string) =>
      run(runtime, [entryOf[runtime], '--client', `shop=${callbackUrl}`], {
        ...{ PORT: String(await findFreePort()), DATABASE_URL: url, ...issuer },
      });
    const services = await Promise.all(Array.from({ length: 4 }, () => begin(callback)));
    for (const service of services) await untilUp(service);
    const { rows } = await sql`select c.name, count(*)::int as secrets from clients c
      join client_secrets s on s.client_id = c.id group by 1`.execute(db);
    expect(rows).toEqual([{ name: 'shop', secrets: 1 }]);
    expect(new Set(services.map((service) => urlsIn(service).join())).size).toBe(1);
    for (const service of services) await stop(service);
    await close();
    await drop();
  });
});

it('a client that 16 starts name at once is one row, with one secret (contract 13.105)', async () => {
  const { url, drop } = await cloneDatabase(inject('templateUrl'));
  const { db, close } = connect(url, { poolSize: 16 });
  const config = readConfig({});
  const clients = await readLocalClients([`shop=${callback}`, 'kiosk=http://localhost:4100/'], config);
  const start = (asked = clients) => keepLocalClients({ config, db, now: () => new Date() }, asked);
  const count = async () =>
    (
      await sql`select c.name, count(s.id)::int as secrets from clients c left join client_secrets s
        on s.client_id = c.id group by 1 order by 1`.execute(db)
    ).rows;
  const once = ['kiosk', 'shop'].map((name) => ({ name, secrets: 1 }));
  await Promise.all(Array.from({ length: 16 }, () => start()));
  expect(await count()).toEqual(once);
  // Each start replaces a secret that was made after the start before.
  await sql`update client_secrets set sealed = 'x'`.execute(db);
  await Promise.all(Array.from({ length: 16 }, (_, n) => start(n % 2 ? clients : [...clients].reverse())));
  expect(await count()).toEqual(once);
  // No client can be added, because there are 200.
  await sql`insert into clients (id, issuer, name, title, callback_url, listed, roles, restores, created_at, changed_at)
    select gen_random_uuid(), issuer, 'full_' || n, title, callback_url, listed, roles, 0, now(), now()
    from clients, generate_series(1, 198) n where name = 'shop'`.execute(db);
  await start();
  const more = await readLocalClients([`another=${callback}`], config);
  await expect(start(more)).rejects.toThrow(
    new MisuseError('There are 200 clients in the database already.'),
  );
  await close();
  await drop();
});
