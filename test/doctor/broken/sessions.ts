// Kinds of sessions of clients. A stranger can guess or make the value of some. The others look similar but are safe.
import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from 'node:crypto';
import type { Site, User } from './typescript.ts';

type Session = {
  make: (user: User, sid: string, site: Site) => string;
  /** Finds who is logged in. Without this function, the value is looked up among the stored sessions. */
  read?: (value: string, site: Site) => User | undefined;
};

const ownKey = randomBytes(32).toString('hex');
const encode = (text: string) => Buffer.from(text).toString('base64url');
const decode = (text: string | undefined) => Buffer.from(text ?? '', 'base64url').toString();
const sign = (text: string, key: string) => createHmac('sha256', key).update(text).digest('base64url');
const findById = ({ users }: Site, id: unknown) => users.find((user) => user.id === id);

function readJson(text: string): { id?: string; role?: string } {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

const sealingKey = randomBytes(32);

function seal(text: string): string {
  const iv = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', sealingKey, iv);
  const sealed = Buffer.concat([cipher.update(text), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64url');
}

function open(value: string): string {
  try {
    const bytes = Buffer.from(value, 'base64url');
    const decipher = createDecipheriv('aes-256-gcm', sealingKey, bytes.subarray(0, 12));
    decipher.setAuthTag(bytes.subarray(12, 28));
    return decipher.update(bytes.subarray(28)).toString() + decipher.final().toString();
  } catch {
    return '';
  }
}

const makeJwt = ({ id, role }: User, key: string) => {
  const text = [
    { alg: 'HS256', typ: 'JWT' },
    { id, role },
  ]
    .map((part) => encode(JSON.stringify(part)))
    .join('.');
  return `${text}.${sign(text, key)}`;
};

/** A JWT whose signature is checked with the key, or not at all. */
const jwt = (key: string, isChecked = true): Session => ({
  make: (user) => makeJwt(user, key),
  read: (value, site) => {
    const [header, payload, signature] = value.split('.');
    const isRight = !isChecked || signature === sign(`${header}.${payload}`, key);
    return isRight ? findById(site, readJson(decode(payload)).id) : undefined;
  },
});

const signed = jwt(ownKey);
const unchecked = jwt(ownKey, false);

export const sessions: Record<string, Session> = {
  session_is_person: { make: ({ id }) => id, read: (value, site) => findById(site, value) },
  session_in_json: {
    make: ({ id, role }) => encodeURIComponent(Buffer.from(JSON.stringify({ id, role })).toString('base64')),
    read: (value, site) =>
      findById(site, readJson(Buffer.from(decodeURIComponent(value), 'base64').toString()).id),
  },
  session_counts: {
    make: (_, __, site) => `shop-session-${String(site.sessions.size + 1).padStart(8, '0')}`,
  },
  session_is_sid: { make: (_, sid) => Buffer.from(sid).toString('hex') },
  session_digest: { make: ({ id }) => createHash('md5').update(`user ${id}`).digest('hex') },
  session_not_verified: unchecked,
  session_known_key: jwt('changeme'),
  session_in_part: {
    make: () => randomBytes(32).toString('hex'),
    read: (value, { sessions }) =>
      [...sessions].find(([each]) => each.slice(0, 32) === value.slice(0, 32))?.[1],
  },
  session_once_unsigned: {
    ...signed,
    read: (value, site) => (value.split('.').length === 2 ? unchecked : signed).read?.(value, site),
  },
  // The sessions from here on are safe.
  jwt: signed,
  encrypted_session: {
    make: ({ id, role }) => seal(JSON.stringify({ id, role })),
    read: (value, site) => findById(site, readJson(open(value)).id),
  },
  // What the value says about the person is only for the client's log.
  labelled_session: {
    make: ({ id }) => `${id}.${randomBytes(24).toString('base64url')}`,
    read: (value, { sessions }) =>
      [...sessions].find(([each]) => each.split('.')[1] === value.split('.')[1])?.[1],
  },
  // Jetty appends the name of its server to the value, and skips it when it reads the value.
  session_with_server: {
    make: () => `${randomBytes(24).toString('hex')}.node0`,
    read: (value, { sessions }) => sessions.get(`${value.split('.')[0]}.node0`),
  },
  named_session: {
    make: ({ id }) => `${encodeURIComponent(id)}%3A${randomBytes(24).toString('base64url')}`,
  },
};
