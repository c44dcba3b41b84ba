// The keys that sign ID tokens (contract 14.80 to 14.87).
import { sql } from 'kysely';
import { describe, expect, it, vi } from 'vitest';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { openBook } from '../../server/clients/book.ts';
import {
  findSigningKey,
  listForHints,
  listPublished,
  makeKey,
  rotateKeys,
} from '../../server/clients/keys.ts';
import { type Config, readConfig } from '../../server/settings/config.ts';
import { openApp, type TestApp, type TestInstance } from '../support/app/app.ts';
import { recordLog } from '../support/app/log.ts';
import { production } from '../support/app/settings.ts';
import { type Browser, logIn } from '../support/app/visitor.ts';
import {
  addOpenIdClient,
  alterJwt,
  authorizePath,
  decodeJwt,
  exchange,
  getCode,
  logInTo,
  type OpenIdClient,
  readJwks,
  readUserinfo,
  sentBack,
  tokensOf,
  verifyJwt,
} from '../support/openid/client.ts';
import { addPerson, addSession } from '../support/people/staff.ts';
import { shared } from '../support/run/shared.ts';

const dayMs = 24 * 60 * 60 * 1_000;
const encryptionKeys = {
  old: production.IDENTITY_ENCRYPTION_KEY ?? '',
  new: '09XvpblbwjQDcvVKHhqQW2n02rczeIvpyw9Ccox9K4U=',
};

/** Does what each instance does every second by itself. */
function openKeys(app: Pick<TestApp, 'db'>, config: Config, now = () => new Date()) {
  const { log, logged } = recordLog();
  const book = openBook({ config, db: app.db, log, now });
  return {
    keys: () => book.keys(),
    logged,
    refresh: () => book.refresh(),
    /** Makes the keys that are due, and deletes keys that have served their time. */
    async keepUp() {
      await book.refresh();
      await book.keepUp(new AbortController().signal);
      await book.refresh();
    },
  };
}

const listKids = async ({ db }: Pick<TestApp, 'db'>): Promise<string[]> =>
  (await db.selectFrom('oidc_keys').select('kid').orderBy('used_from').execute()).map(({ kid }) => kid);

const kidsOf = (keys: readonly { kid: string }[]) => keys.map(({ kid }) => kid);

/** Adds a client by SQL alone, so that no instance of the service takes part. */
async function openAlone() {
  const app = await openApp();
  await addOpenIdClient(app);
  const { config } = await app.startInstance();
  return { app, config, close: app.close };
}

describe('the keys of an issuer', () => {
  it('begin with one, whichever of 16 instances needs it first (contract 14.81 and 14.85)', async () => {
    const app = await openApp();
    const books = Array.from({ length: 16 }, () => openKeys(app, app.config));
    expect((await app.send('/oauth/jwks')).status).toBe(404);
    await Promise.all(books.map(({ refresh }) => refresh()));
    expect(await listKids(app)).toEqual([]);
    // The service itself is not waited for, so that all instances of the test need the key at the same time.
    await addOpenIdClient({ db: app.db, config: app.config, send: answersRight });
    await Promise.all(books.map(({ refresh }) => refresh()));
    const kids = await listKids(app);
    expect(kids).toHaveLength(1);
    for (const book of books) expect(kidsOf(book.keys())).toEqual(kids);
    await expect.poll(async () => (await app.send('/oauth/jwks')).status).toBe(200);
    expect(kidsOf(await readJwks(app))).toEqual(kids);
    await app.close();
  });

  it('follow each other every 90 days (contract 14.81 and 14.82)', async () => {
    const { app, config, close } = await openAlone();
    const [first = ''] = await listKids(app);
    const firstAt = Date.now();
    /** Lets several instances look after the keys at the same time: a minute before that day begins, and a minute after. */
    const on = async (day: number) => {
      let shown: { signs: string | undefined; published: string[]; hints: string[] } | undefined;
      for (const now of [
        new Date(firstAt + day * dayMs - 60_000),
        new Date(firstAt + day * dayMs + 60_000),
      ]) {
        const books = Array.from({ length: day === 89 ? 16 : 2 }, () => openKeys(app, config, () => now));
        await Promise.all(books.map(({ keepUp }) => keepUp()));
        await Promise.all(books.map(({ refresh }) => refresh()));
        const before = shown;
        shown = undefined;
        for (const book of books) {
          const keys = book.keys();
          const found = {
            signs: findSigningKey(keys, now)?.kid,
            published: kidsOf(listPublished(keys, now)),
            hints: kidsOf(listForHints(keys, now)),
          };
          shown ??= found;
          expect(found).toEqual(shown);
        }
        if (before) return [before, shown];
      }
      throw new Error('never');
    };
    const alone = { signs: first, published: [first], hints: [first] };
    expect(await on(45)).toEqual([alone, alone]);
    const [before, published] = await on(89);
    expect(before).toEqual(alone);
    const [, second = ''] = await listKids(app);
    expect(await listKids(app)).toHaveLength(2);
    // The second key was made a minute after its day began. It signs a day after it was made.
    const both = [second, first];
    expect(published).toEqual({ signs: first, published: both, hints: both });
    const follows = 90 + 60_000 / dayMs;
    expect(await on(follows)).toEqual([
      { signs: first, published: both, hints: both },
      { signs: second, published: both, hints: both },
    ]);
    expect(await on(follows + 2)).toEqual([
      { signs: second, published: both, hints: both },
      { signs: second, published: [second], hints: both },
    ]);
    expect(await on(follows + 30)).toEqual([
      { signs: second, published: [second], hints: both },
      { signs: second, published: [second], hints: [second] },
    ]);
    expect(await listKids(app)).toEqual([second]);
    await close();
  });

  it('are its own (contract 14.80)', async () => {
    const { app, config, close } = await openAlone();
    const kids = await listKids(app);
    const other = await app
      .startInstance({ env: { IDENTITY_ISSUER: 'http://localhost:3000/other' } })
      .catch(() => undefined);
    const otherConfig = other?.config ?? readConfig({ IDENTITY_ISSUER: 'http://localhost:3001' });
    const client = await addOpenIdClient({ db: app.db, config: otherConfig, send: answersRight });
    const theirs = openKeys(app, otherConfig);
    await theirs.keepUp();
    const ours = openKeys(app, config);
    await ours.keepUp();
    expect(kidsOf(ours.keys())).toEqual(kids);
    expect(kidsOf(theirs.keys())).toHaveLength(1);
    expect(kidsOf(theirs.keys())).not.toEqual(kids);
    expect(kidsOf(await readJwks(app))).toEqual(kids);
    // If a key's row is moved to another issuer, that issuer cannot decrypt the key.
    await sql`update oidc_keys set issuer = ${otherConfig.issuer} where kid = ${kids[0]}`.execute(app.db);
    const again = openKeys(app, otherConfig);
    await again.refresh();
    expect(kidsOf(again.keys())).not.toContain(kids[0]);
    expect(client.name).toMatch(/^wiki/);
    await close();
  });

  it('are sealed anew when IDENTITY_ENCRYPTION_KEY rotates (contract 14.80)', async () => {
    const app = await openApp({ env: { ...production, IDENTITY_ENCRYPTION_KEY: encryptionKeys.old } });
    await addOpenIdClient(app);
    const [kid = ''] = await listKids(app);
    const withKeys = (...keys: string[]) =>
      readConfig({ ...production, IDENTITY_ENCRYPTION_KEY: keys.join(',') });
    const readSealed = async () =>
      await app.db.selectFrom('oidc_keys').select(['sealed', 'key_id']).executeTakeFirstOrThrow();
    const was = await readSealed();
    const both = withKeys(encryptionKeys.new, encryptionKeys.old);
    const books = Array.from({ length: 16 }, () => openKeys(app, both));
    await Promise.all(books.map(({ keepUp }) => keepUp()));
    const after = await readSealed();
    expect(after.key_id).not.toBe(was.key_id);
    expect(books.some(({ logged }) => logged.some(({ fields }) => fields.left === 0))).toBe(true);
    const alone = openKeys(app, withKeys(encryptionKeys.new));
    await alone.refresh();
    expect(kidsOf(alone.keys())).toEqual([kid]);
    expect(alone.logged).toEqual([]);
    // No instance has made another key, not even the instance that has only the older key and holds the signing key in memory.
    await verifyJwt(app, (await logInAs(app)).id_token);
    expect(await listKids(app)).toEqual([kid]);
    await app.close();
  });

  it('do without one that nothing opens, and say so once (contract 14.87)', async () => {
    const { app, close } = await openAlone();
    const kids = await listKids(app);
    const config = readConfig({ IDENTITY_ENCRYPTION_KEY: encryptionKeys.new });
    // This instance cannot open the secrets of the clients either. So a client is added that this instance can use.
    await addOpenIdClient({ db: app.db, config, send: answersRight });
    const book = openKeys(app, config);
    const others = Array.from({ length: 15 }, () => openKeys(app, config));
    await Promise.all([book, ...others].map(({ keepUp }) => keepUp()));
    const all = await listKids(app);
    expect(all).toHaveLength(2);
    const made = all.filter((kid) => !kids.includes(kid));
    for (const each of [book, ...others]) expect(kidsOf(each.keys())).toEqual(made);
    const said = () => book.logged.filter(({ fields }) => 'kid' in fields);
    expect(said()).toEqual([
      {
        level: 'info',
        isKept: true,
        fields: { kid: kids[0] },
        message: expect.stringContaining('another one'),
      },
    ]);
    // Instances whose settings differ must not make new keys in turn.
    const first = openKeys(app, readConfig({}));
    for (let times = 0; times < 5; times++)
      for (const each of [first, book]) {
        await sql`update oidc_keys set key_id = key_id`.execute(app.db);
        await each.refresh();
      }
    expect(await listKids(app)).toEqual(all);
    expect(said()).toHaveLength(1);
    await close();
  });
});

/** Takes the place of an instance, for clients of settings that no instance of the test has. */
const answersRight: TestApp['send'] = async () => ({ status: 303, headers: new Headers(), text: '' });

async function logInAs(app: Pick<TestApp, 'db' | 'config' | 'send'>, client?: OpenIdClient) {
  const { cookie } = await addSession(app, (await addPerson(app)).id);
  const send: TestApp['send'] = (path, options) => app.send(path, { ...options, cookie });
  const at = client ?? (await addOpenIdClient(app));
  return tokensOf(await exchange(app, at, await getCode({ send }, at)));
}

describe('a key that is made by hand (contract 14.83 and 14.85)', () => {
  const app = shared(openApp);
  const second = shared(() => app.startInstance());
  const slow = shared(() => app.startInstance({ now: () => new Date(Date.now() - 60_000) }));
  async function rotate(revokes: boolean): Promise<string> {
    const key = await makeKey(app.config, new Date());
    await inTransaction(app.db, { by: 'service', cause: 'test' }, (trx) =>
      rotateKeys(trx, app.config, key, { revokes }),
    );
    return key.kid;
  }

  const kidNow = async (instance: TestInstance, client: OpenIdClient, browser: Browser) =>
    decodeJwt(tokensOf(await exchange(instance, client, await getCode(browser, client))).id_token).header.kid;

  /** Each instance follows within two seconds. A busy machine gets a few more. */
  const follow = (check: () => Promise<void>) => vi.waitFor(check, { timeout: 10_000, interval: 100 });

  const askWithHint = async (browser: Browser, client: OpenIdClient, id_token_hint: string) => {
    const answer = await browser.send(authorizePath(client, { prompt: 'none', id_token_hint }));
    const { code, error } = sentBack(answer);
    return code ? 'code' : error;
  };

  it('signs at once, and leaves the others in the JWKS', async () => {
    const client = await addOpenIdClient(app);
    const { browser, tokens } = await logInTo(app, client);
    await follow(async () => expect((await second.send(authorizePath(client))).status).toBe(303));
    await follow(async () => expect((await slow.send(authorizePath(client))).status).toBe(303));
    const before = kidsOf(await readJwks(app));
    const kid = await rotate(false);
    for (const instance of [app, second])
      await follow(async () => expect(await kidNow(instance, client, browser)).toBe(kid));
    // By the slow clock, the time of the new key has not come. But every instance accepts what the new key signs.
    await follow(async () => expect(kidsOf(await readJwks(slow))).toEqual([kid, ...before]));
    const slowly = tokensOf(await exchange(slow, client, await getCode(browser, client))).id_token;
    expect(before).toContain(decodeJwt(slowly).header.kid);
    for (const instance of [app, second, slow]) {
      await verifyJwt(instance, slowly);
      await verifyJwt(instance, tokens.id_token);
    }
    expect(await askWithHint(browser, client, tokens.id_token)).toBe('code');
  });

  it('ends all others if it revokes them, and of 16 at once one is left', async () => {
    const client = await addOpenIdClient(app);
    const { tokens } = await logInTo(app, client);
    const browser = await logIn(app.send, 'customer@example.test');
    const made = await Promise.all(Array.from({ length: 16 }, () => rotate(true)));
    const kids = await listKids(app);
    expect(kids).toHaveLength(1);
    expect(made).toContain(kids[0]);
    for (const instance of [app, second, slow]) {
      await follow(async () => expect(kidsOf(await readJwks(instance))).toEqual(kids));
      expect(await kidNow(instance, client, browser)).toBe(kids[0]);
      await expect(verifyJwt(instance, tokens.id_token)).rejects.toThrow('no key');
    }
    expect(await askWithHint(browser, client, tokens.id_token)).toBe('invalid_request');
    // A token that another key has signed is refused, even if it names this key.
    const renamed = alterJwt(tokens.id_token, {}, { kid: kids[0] });
    expect(await askWithHint(browser, client, renamed)).toBe('invalid_request');
    // Access tokens are not signed.
    expect((await readUserinfo(app, tokens.access_token)).status).toBe(200);
  });

  it('is soon on every instance', async () => {
    const client = await addOpenIdClient(app);
    const kid = await rotate(true);
    await follow(async () => {
      for (const instance of [app, second]) expect(kidsOf(await readJwks(instance))).toEqual([kid]);
    });
    const browser = await logIn(app.send, 'customer@example.test');
    const { id_token } = tokensOf(await exchange(second, client, await getCode(browser, client)));
    await verifyJwt(app, id_token);
  });

  it('is shown without its private part (contract 14.86)', async () => {
    await addOpenIdClient(app);
    const answer = await app.send('/oauth/jwks');
    expect(answer.headers.get('cache-control')).toBe('public, max-age=300');
    const keys: Record<string, string>[] = JSON.parse(answer.text).keys;
    for (const key of keys) {
      expect(Object.keys(key).sort()).toEqual(['alg', 'e', 'kid', 'kty', 'n', 'use']);
      expect([key.kty, key.use, key.alg, key.e]).toEqual(['RSA', 'sig', 'RS256', 'AQAB']);
      // The key has 2048 bits.
      expect(Buffer.from(key.n ?? '', 'base64url')).toHaveLength(256);
    }
    expect(new Set(kidsOf(keys as { kid: string }[])).size).toBe(keys.length);
  });
});
