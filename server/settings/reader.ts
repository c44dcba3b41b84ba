// Reads settings one by one and collects their faults, so that one error can name them all.
import { z } from 'zod';
import { nameSchema } from '../basics/names.ts';
import { parseUrl } from '../basics/url.ts';
import { readSmallFile } from '../runtime/files.ts';
import { decodeKey, isPlaceholder, isWebhookSecret, minSecretBytes, spellingsOfKey } from './secret-forms.ts';
import { isThisMachine } from './this-machine.ts';

/** The message names settings and never shows a value. */
export class ConfigError extends Error {}

export type Env = Record<string, string | undefined>;

/** What `npm run settings` shows of a setting. If `isSecret`, the value may come from a file, and is never shown. */
export type Asked = { form?: string; fallback?: string; isSecret?: true };

export const fileSettingOf = (setting: string) => `${setting}_FILE`;

const maxSecretKibibytes = 16;

export class SettingsReader {
  readonly production: boolean;
  readonly #env: Env;
  readonly #asked = new Map<string, Asked>([['NODE_ENV', {}]]);
  readonly #faults = new Map<string, string>();
  readonly #keys: { setting: string; key: string }[] = [];
  readonly #secrets = new Map<string, string | undefined>();

  constructor(env: Env) {
    this.#env = env;
    this.production = env.NODE_ENV === 'production';
  }

  get asked(): ReadonlyMap<string, Asked> {
    return this.#asked;
  }

  /** Each value is a line that begins with the name of the setting, or of the setting of its file. */
  get faults(): ReadonlyMap<string, string> {
    return this.#faults;
  }

  /** Lists settings that match `form` and are set, but have not been read so far. */
  listUnread(form: RegExp): string[] {
    const files = [...this.#secrets.keys()].map(fileSettingOf);
    return Object.keys(this.#env).filter(
      (name) => form.test(name) && this.#isSet(name) && !this.#asked.has(name) && !files.includes(name),
    );
  }

  /** An empty value means that the setting is not set, because that is how shells and compose files leave out a setting. */
  text(setting: string, asked: Asked = {}): string | undefined {
    const known = { ...this.#asked.get(setting), ...asked };
    this.#asked.set(setting, known);
    return (known.isSecret ? this.#readSecret(setting) : this.#env[setting])?.trim() || undefined;
  }

  /** Returns the setting that the value comes from. For a secret it may be the setting of its file. Undefined for the default. */
  findSource(setting: string): string | undefined {
    const names = this.#asked.get(setting)?.isSecret ? [setting, fileSettingOf(setting)] : [setting];
    return names.find((name) => this.#isSet(name));
  }

  #isSet(name: string): boolean {
    return Boolean(this.#env[name]?.trim());
  }

  #readSecret(setting: string): string | undefined {
    if (!this.#secrets.has(setting)) {
      const path = this.#isSet(fileSettingOf(setting)) && this.#env[fileSettingOf(setting)]?.trim();
      this.#secrets.set(setting, path ? this.#readSecretFile(setting, path) : this.#env[setting]);
    }
    return this.#secrets.get(setting);
  }

  /** Drops the line end that editors and `echo` add. */
  #readSecretFile(setting: string, path: string): string | undefined {
    const blame = (what: string) => this.#faults.set(setting, `${fileSettingOf(setting)} ${what}`);
    if (this.#isSet(setting)) {
      blame(`is set, and so is ${setting}: set one of them`);
      return undefined;
    }
    const bytes = readSmallFile(path, maxSecretKibibytes * 1_024);
    if (!bytes) {
      blame(`must name a file that can be read, of ${maxSecretKibibytes} KiB at most`);
      return undefined;
    }
    try {
      const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes).replace(/\r?\n$/, '');
      if (text.trim()) return text;
      blame('names a file that is empty');
    } catch {
      blame('must name a file of text in UTF-8');
    }
    return undefined;
  }

  title(setting: string, fallback: string): string {
    const text = this.text(setting, { form: '1 to 60 characters', fallback }) ?? fallback;
    const isRight = nameSchema.safeParse(text).success && Array.from(text).length <= 60;
    this.faultIf(setting, !isRight, 'must be 1 to 60 characters that can be shown');
    return text;
  }

  faultIf(setting: string, condition: boolean, what: string): void {
    if (!condition || this.#faults.has(setting)) return;
    const source = this.findSource(setting) ?? setting;
    this.#faults.set(setting, `${setting} ${what}${source === setting ? '' : ` (it is from ${source})`}`);
  }

  integer(setting: string, { min, max, fallback }: { min: number; max: number; fallback: number }): number {
    const text = this.text(setting, { form: `${min} to ${max}`, fallback: String(fallback) });
    const parsed = z.coerce
      .number()
      .int()
      .min(min)
      .max(max)
      .safeParse(text ?? fallback);
    this.faultIf(
      setting,
      !parsed.success || (text !== undefined && !/^\d+$/.test(text)),
      `must be a whole number from ${min} to ${max}`,
    );
    return parsed.data ?? fallback;
  }

  oneOf<T extends string>(setting: string, values: readonly T[], fallback: T): T {
    const text = this.text(setting, { form: values.map((value) => `\`${value}\``).join(' or '), fallback });
    const parsed = z.enum(values as [T, ...T[]]).safeParse(text ?? fallback);
    this.faultIf(setting, !parsed.success, `must be ${values.join(' or ')}`);
    return parsed.data ?? fallback;
  }

  /** Reads a comma-separated list. */
  someOf<T extends string>(setting: string, values: readonly T[], fallback: readonly T[]): readonly T[] {
    const form = `${values.map((value) => `\`${value}\``).join(', ')}; several comma-separated`;
    const text = this.text(setting, { form, fallback: fallback.join() });
    const parsed = z
      .array(z.enum(values as readonly [T, ...T[]]))
      .safeParse(text?.split(',').map((word) => word.trim()) ?? fallback);
    this.faultIf(setting, !parsed.success, `must be one or more of ${values.join(', ')}`);
    return parsed.data ?? fallback;
  }

  /** The default for `schemes` is https in production, and http or https on this machine in local mode. */
  url(
    setting: string,
    options: {
      required?: boolean;
      fallback?: string;
      schemes?: string[];
      reservedParameters?: string[];
      /** If true, only scheme, host and port are allowed, as `URL` spells them. */
      isOrigin?: boolean;
      /** The URL may contain a password. */
      isSecret?: true;
    },
  ): string | undefined {
    const { fallback, isSecret } = options;
    const text = this.text(setting, {
      ...(isSecret && { isSecret }),
      ...(fallback && !this.production && { fallback }),
    });
    if (!text) {
      this.faultIf(setting, options.required === true && this.production, 'is missing');
      return this.production ? undefined : fallback;
    }
    const url = parseUrl(text);
    const schemes = options.schemes ?? (this.production ? ['https:'] : ['https:', 'http:']);
    this.faultIf(
      setting,
      !url || !schemes.includes(url.protocol),
      `must be a URL that starts with ${schemes.map((scheme) => (scheme === 'mailto:' ? scheme : `${scheme}//`)).join(' or ')}`,
    );
    if (!url || options.schemes) return url && text;
    this.requireThisMachine(setting, url.hostname);
    this.faultIf(
      setting,
      options.isOrigin === true && text !== url.origin,
      `must be exactly ${url.origin}, as payloads carry it byte for byte`,
    );
    this.faultIf(
      setting,
      Boolean(url.hash || url.username || url.password),
      'must not have a fragment, user name or password',
    );
    this.faultIf(
      setting,
      options.reservedParameters?.some((name) => url.searchParams.has(name)) ?? false,
      `must not have any of these query parameters: ${options.reservedParameters?.join(', ')}`,
    );
    return text;
  }

  /** Without this check, a mistyped NODE_ENV would put demo users and published secrets on the internet. */
  requireThisMachine(setting: string, hostname: string): void {
    this.faultIf(
      setting,
      !this.production && !isThisMachine(hostname),
      'must be on this machine (localhost or a loopback address), because NODE_ENV is not production',
    );
  }

  /** One secret, or two during a rotation. A secret is never trimmed: the key is the configured text byte for byte. */
  secrets(
    setting: string,
    { fallback, form, required }: { fallback?: string; form?: 'whsec' | 'key'; required?: boolean },
  ): readonly string[] | undefined {
    if (!this.text(setting, { isSecret: true })) {
      this.faultIf(setting, required === true && this.production, 'is missing');
      return this.production || !fallback ? undefined : [fallback];
    }
    const secrets = (this.#readSecret(setting) ?? '').split(',');
    this.faultIf(setting, secrets.length > 2, 'must hold one secret, or two during a rotation');
    this.faultIf(
      setting,
      secrets.some((secret) => secret === '' || secret !== secret.trim()),
      'must not hold an empty secret, or spaces around a secret',
    );
    for (const secret of secrets) {
      if (form === 'whsec') {
        this.faultIf(
          setting,
          !isWebhookSecret(secret),
          'must be whsec_ followed by 24 to 64 bytes in base64',
        );
      } else if (form === 'key') {
        this.faultIf(setting, decodeKey(secret) === undefined, 'must be 32 bytes in base64');
      } else if (this.production) {
        this.faultIf(
          setting,
          new TextEncoder().encode(secret).length < minSecretBytes,
          `must be at least ${minSecretBytes} bytes long`,
        );
      }
      this.faultIf(
        setting,
        this.production && isPlaceholder(secret, form),
        'is a known placeholder: make a new secret',
      );
      for (const key of form === 'whsec' ? spellingsOfKey(secret) : [secret])
        this.#keys.push({ setting, key });
    }
    return secrets;
  }

  /** If two uses shared a secret, somebody who has the secret for one use could forge messages for the other use. */
  requireDistinctSecrets(): void {
    if (!this.production) return;
    for (const [index, { setting, key }] of this.#keys.entries()) {
      const other = this.#keys.find((candidate, at) => at !== index && candidate.key === key);
      if (other) this.faultIf(setting, true, `is used twice (also in ${other.setting})`);
    }
  }

  throwFaults(): void {
    if (this.#faults.size === 0) return;
    const lines = [...this.#faults.values()].map((fault) => `  ${fault}`);
    throw new ConfigError(`These settings are wrong:\n${lines.join('\n')}`);
  }
}
