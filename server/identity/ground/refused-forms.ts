// Refused forms, kept for the page that shows them again (contract 9.171 to 9.176). They are in a cookie or, if they are long,
// in a row that the cookie names. They are encrypted, so that only we can make a page show a form.
import { base64url } from 'oslo/encoding';
import { z } from 'zod';
import { findRefusedForm as findRow, insertRefusedForm } from '../../../db/tables/refused-forms.ts';
import { type FaultName, isFaultName } from '../../basics/fault-words.ts';
import { seal, unseal } from '../../basics/sealing.ts';
import { readHeader } from '../../basics/text.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { buildTokenCookie, readCookie } from './tokens.ts';

const cookie = 'identity_refused';
const lifeSeconds = 600;
const maxForms = 3;
const maxFieldBytes = 1_000;
// The cookie must stay small: by default, proxies have room for 4 KB of headers in an answer.
const maxCookieBytes = 1_000;
// A stranger has no row, so their cookie has room for any single form.
const maxCookieBytesOfStranger = 2_000;
const maxRowsOfUser = 10;
// The database checks this, too.
const maxRowBytes = 4_000;
const maxCookiesBytes = 8_192;

const refusedFormSchema = z.object({
  id: z.string(),
  path: z.string(),
  /** The user who was logged in, and the only one who is shown the form. Null if nobody was logged in. */
  userId: z.string().nullable(),
  /** Unix seconds. */
  refusedAt: z.int(),
  code: z.string(),
  /** The keys are the names of fields. The name '' is for the form as a whole. */
  faults: z.record(
    z.string(),
    z.custom<FaultName>((name) => typeof name === 'string' && isFaultName(name)),
  ),
  /** What is wrong, in words, for faults that have no name in fault-words.ts. Only large forms have such faults. */
  words: z.record(z.string(), z.string()).optional(),
  /** Unix seconds: when to try again. */
  waitsUntil: z.int().optional(),
  fields: z.record(z.string(), z.string()),
});

export type RefusedForm = z.infer<typeof refusedFormSchema>;

const formInRowSchema = refusedFormSchema
  .pick({ id: true, refusedAt: true })
  .extend({ userId: z.string(), inRow: z.literal(true) });

type FormInRow = z.infer<typeof formInRowSchema>;

const isInRow = (form: RefusedForm | FormInRow): form is FormInRow => 'inRow' in form;

type CookieDeps = Pick<Dependencies, 'config' | 'now'>;
type Deps = CookieDeps & Pick<Dependencies, 'db'>;

const nowSeconds = ({ now }: CookieDeps) => Math.floor(now().getTime() / 1_000);

/**
 * Returns undefined if there is no room for the form. The caller must then answer with the page that shows the form. If the
 * form `isLarge`, it is kept whole, compressed, in a row.
 */
export async function keepRefusedForm(
  deps: Deps,
  request: Request,
  form: Omit<RefusedForm, 'id' | 'refusedAt'>,
  { isLarge = false }: { isLarge?: boolean } = {},
): Promise<{ id: string; setCookie: string } | undefined> {
  const id = makeId(isLarge);
  const fields = isLarge ? form.fields : pickShort(form.fields);
  const isCut = Object.keys(form.fields).some((name) => !(name in fields));
  // A form that waits to be confirmed will be sent again unchanged, so it must not lose any part.
  if (isCut && form.code === 'confirm') return undefined;
  const kept = { ...form, id, refusedAt: nowSeconds(deps), fields };
  const others = await readForms(deps, request);
  const maxBytes = form.userId ? maxCookieBytes : maxCookieBytesOfStranger;
  const inCookie = isLarge
    ? undefined
    : await packForms(deps, [kept, ...others], maxBytes, form.userId ? maxForms : 1);
  if (inCookie) return hasRoom(deps, request, inCookie) ? { id, setCookie: inCookie } : undefined;
  if (!form.userId) return undefined;
  const { userId } = form;
  const row: FormInRow = { id, userId, refusedAt: kept.refusedAt, inRow: true };
  const named = await packForms(deps, [row, ...others], maxBytes, 1);
  if (!named || !hasRoom(deps, request, named)) return undefined;
  return (await keepInRow(deps, row, kept)) ? { id, setCookie: named } : undefined;
}

/** Packs as many of the newest forms as there is room for. Undefined if there is room for fewer than `minForms`. */
async function packForms(
  deps: CookieDeps,
  [...forms]: (RefusedForm | FormInRow)[],
  maxBytes: number,
  minForms: number,
): Promise<string | undefined> {
  forms.splice(maxForms);
  for (const least = Math.min(minForms, forms.length); forms.length >= least; forms.pop()) {
    const setCookie = await buildCookie(deps, forms);
    if (setCookie.length <= maxBytes) return setCookie;
  }
  return undefined;
}

/** The id of a large form is a UUID of version 8. */
const makeId = (isLarge: boolean): string => {
  const id = crypto.randomUUID();
  return isLarge ? `${id.slice(0, 14)}8${id.slice(15)}` : id;
};
const isLargeId = (id: string) => id[14] === '8';

const contextOfRow = (id: string) => `${isLargeId(id) ? 'large ' : ''}refused form ${id}`;

/** Returns false if the form is too long. */
async function keepInRow({ db, config }: Deps, row: FormInRow, form: RefusedForm): Promise<boolean> {
  const { id, userId, refusedAt } = row;
  const json = new TextEncoder().encode(JSON.stringify(form));
  const plain = isLargeId(id) ? await convert(json, new CompressionStream('deflate-raw')) : json;
  const sealed = await seal(config.encryptionKeys, contextOfRow(id), plain);
  if (sealed.length > maxRowBytes) return false;
  const expiresAt = new Date((refusedAt + lifeSeconds) * 1_000);
  await insertRefusedForm(db, { id, userId, sealed, expiresAt }, maxRowsOfUser);
  return true;
}

const convert = async (
  bytes: Uint8Array,
  by: { readable: ReadableStream; writable: WritableStream },
): Promise<Uint8Array> =>
  new Uint8Array(
    await new Response(new Blob([Uint8Array.from(bytes)]).stream().pipeThrough(by)).arrayBuffer(),
  );

async function readRow({ db, config, now }: Deps, row: FormInRow): Promise<RefusedForm | undefined> {
  const { id, userId } = row;
  const sealed = await findRow(db, { id, userId, now: now() });
  const opened = sealed && (await unseal(config.encryptionKeys, contextOfRow(id), sealed));
  if (!opened) return undefined;
  const json = isLargeId(id)
    ? await convert(opened.plain, new DecompressionStream('deflate-raw'))
    : opened.plain;
  return refusedFormSchema.safeParse(JSON.parse(new TextDecoder().decode(json))).data;
}

/**
 * Texts that staff wrote in their own words. They are never shortened or left out. If they make the form too large to be kept,
 * the refusal is sent directly (contract 9.173).
 */
const ownWords = ['why', 'text'];

function pickShort(fields: Record<string, string>): Record<string, string> {
  let left = maxFieldBytes;
  return Object.fromEntries(
    Object.entries(fields).filter((field) => {
      if (ownWords.includes(field[0])) return true;
      const { length } = new TextEncoder().encode(JSON.stringify(field));
      if (length > left) return false;
      left -= length;
      return true;
    }),
  );
}

function hasRoom({ config }: CookieDeps, request: Request, setCookie: string): boolean {
  const cookies = readHeader(request.headers, 'cookie') ?? '';
  const replaced = readCookie(request, config.issuer, cookie) ?? '';
  return cookies.length - replaced.length + setCookie.length <= maxCookiesBytes;
}

export async function findRefusedForm(
  deps: Deps,
  request: Request,
  { id, path, userId }: Pick<RefusedForm, 'id' | 'path' | 'userId'>,
): Promise<RefusedForm | undefined> {
  const forms = await readForms(deps, request);
  const found = forms.find((form) => form.id === id && form.userId === userId);
  const form = found && (isInRow(found) ? await readRow(deps, found) : found);
  return form?.path === path ? form : undefined;
}

/** Drops the forms of other users from the cookie. Returns a `Set-Cookie` value, or undefined if there is nothing to drop. */
export async function dropFormsOfOthers(
  deps: CookieDeps,
  request: Request,
  userId: string,
): Promise<string | undefined> {
  const forms = await readForms(deps, request);
  const own = forms.filter((form) => form.userId === userId);
  return own.length === forms.length ? undefined : buildCookie(deps, own);
}

/**
 * Drops a form that waited for a credential or a login, after the form has done its work. Otherwise the browser's Back button
 * would show the form as not done. Returns a `Set-Cookie` value, or undefined if there is nothing to drop.
 */
export async function dropDoneForm(
  deps: CookieDeps,
  request: Request,
  id: string,
): Promise<string | undefined> {
  const forms = await readForms(deps, request);
  const left = forms.filter(
    (form) => form.id !== id || !(isInRow(form) || form.code === 'confirm' || form.code === 'ended'),
  );
  return left.length === forms.length ? undefined : buildCookie(deps, left);
}

const context = 'refused forms';

async function buildCookie({ config }: CookieDeps, forms: (RefusedForm | FormInRow)[]): Promise<string> {
  if (forms.length === 0) return buildTokenCookie(config.issuer, cookie, '', 0);
  const plain = new TextEncoder().encode(JSON.stringify(forms));
  const sealed = await seal(config.encryptionKeys, context, plain);
  const text = base64url.encode(sealed, { includePadding: false });
  return buildTokenCookie(config.issuer, cookie, text, lifeSeconds);
}

/** Returns the newest form first. Returns no forms if the cookie is not ours, or has an unknown version. */
async function readForms(deps: CookieDeps, request: Request): Promise<(RefusedForm | FormInRow)[]> {
  const text = readCookie(request, deps.config.issuer, cookie) ?? '';
  if (!/^[A-Za-z0-9_-]{1,4000}$/.test(text)) return [];
  const opened = await unseal(deps.config.encryptionKeys, context, base64url.decode(text, { strict: false }));
  const read =
    opened &&
    z
      .array(z.union([formInRowSchema, refusedFormSchema]))
      .safeParse(JSON.parse(new TextDecoder().decode(opened.plain)));
  if (!read?.success) return [];
  return read.data.filter(({ refusedAt }) => refusedAt + lifeSeconds > nowSeconds(deps));
}
