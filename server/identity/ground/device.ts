// The device cookie (contract 9.23), and the names of browsers as people read them. The cookie itself logs nobody in, but it
// lets a hand-off log in the user who was last to log in with this browser (contract 6.36).

import Bowser from 'bowser';
import type { Transaction } from 'kysely';
import type { Database } from '../../../db/postgres/client.ts';
import type { DB } from '../../../db/schema.ts';
import {
  deferDeviceLogin,
  findHolderOfDevice,
  findLastUserOfDevice,
  recordDeviceCredential,
} from '../../../db/tables/devices.ts';
import type { PasswordOwner } from '../../../db/tables/password-owners.ts';
import { headerBounds, readHeader } from '../../basics/text.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import type { Tried } from '../../ground/rate-limits.ts';
import { buildTokenCookie, createToken, hashToken, readToken } from './tokens.ts';

const cookie = 'identity_device';
const lifeDays = 400;

export const userAgentOf = (request: Request) =>
  (readHeader(request.headers, 'user-agent') ?? '').slice(0, headerBounds['user-agent']);

/** Returns the hash of the token in the device cookie. */
export function readDevice(
  { config }: Pick<Dependencies, 'config'>,
  request: Request,
): Uint8Array | undefined {
  const token = readToken(request, config.issuer, cookie);
  return token === undefined ? undefined : hashToken(token);
}

/** Records that this user was the last to log in with this browser. Returns a `Set-Cookie` value. */
export async function rememberLogin(
  trx: Transaction<DB>,
  { config, now }: Dependencies,
  request: Request,
  { userId, ...given }: { userId: string; credentialAt: Date | null; firstCredentialAt: Date | null },
): Promise<string> {
  const token = createToken();
  const previousHash = readDevice({ config }, request);
  const login = { userId, ...given, tokenHash: hashToken(token), now: now() };
  deferDeviceLogin(trx, { previousHash, ...login });
  return buildTokenCookie(config.issuer, cookie, token, lifeDays * 24 * 60 * 60);
}

export async function rememberCredential(
  trx: Database,
  { config, now }: Pick<Dependencies, 'config' | 'now'>,
  request: Request,
  userId: string,
): Promise<void> {
  const tokenHash = readDevice({ config }, request);
  if (tokenHash) await recordDeviceCredential(trx, { tokenHash, userId, now: now() });
}

/** Finds the last user who logged in with this browser. Undefined if that user has since forgotten the browser. */
export async function findLastUser(
  db: Database,
  deps: Pick<Dependencies, 'config'>,
  request: Request,
): Promise<string | undefined> {
  const device = readDevice(deps, request);
  return device && findLastUserOfDevice(db, device);
}

/**
 * Names a browser by its user and the time since when that user has known it. The cookie cannot be the name, because each login
 * changes the cookie.
 */
const nameDevice = (userId: string, knownSince: Date) => `${userId} ${knownSince.toISOString()}`;

/**
 * Says which counts a guess at a password or a code uses up. A new password starts new counts, so its owner gets in even if
 * others used up the tries at the old password. A browser that this user does not know has no count of its own.
 */
export function countGuessFor(account: string, owner: PasswordOwner | undefined, address: string): Tried {
  const hash = owner?.passwordHash ?? '';
  const device = owner?.deviceKnownSince && nameDevice(owner.userId, owner.deviceKnownSince);
  return { account: `${account} ${hash}`, address, device: device ? `${device} ${hash}` : undefined };
}

/**
 * Returns the name of the browser for the user who holds the email address or has it reserved. Undefined if that user does not
 * know the browser.
 */
export async function findDeviceName(
  deps: Dependencies,
  request: Request | undefined,
  email: string,
): Promise<string | undefined> {
  const tokenHash = request && readDevice(deps, request);
  const holder = tokenHash && (await findHolderOfDevice(deps.read, { email, tokenHash }));
  return holder && nameDevice(holder.userId, holder.knownSince);
}

const knownNames = new Set<string>([...Object.values(Bowser.BROWSER_MAP), ...Object.values(Bowser.OS_MAP)]);

/** Uses only names from a list. The header itself is a stranger's text, and the name goes into mails. */
export function describeDevice(userAgent: string): string {
  if (!userAgent) return 'Unknown browser';
  const { browser, os } = Bowser.parse(userAgent);
  const [browserName, osName] = [browser.name, os.name].map((name) =>
    name && knownNames.has(name) ? name : undefined,
  );
  return [browserName ?? 'Unknown browser', osName].filter(Boolean).join(' on ');
}

const kinds = new Map<string | undefined, 'phone' | 'tablet' | 'computer'>([
  ['mobile', 'phone'],
  ['tablet', 'tablet'],
  ['desktop', 'computer'],
]);

export function kindOfDevice(userAgent: string): 'phone' | 'tablet' | 'computer' | undefined {
  return userAgent ? kinds.get(Bowser.parse(userAgent).platform.type) : undefined;
}
