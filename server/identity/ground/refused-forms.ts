// Forms that were refused, kept for the page that shows them again (contract 9.171 to 9.176, 9.300 to 9.302): in a cookie, or, where
// that would be long, in a row that the cookie names. Both are encrypted, so that nobody but us can make a page show a form, or read
// what was typed.
import { base64url } from 'oslo/encoding';
import { z } from 'zod';
import { findRefusedForm as findRow, insertRefusedForm } from '../../../db/tables/refused-forms.ts';
import { type FaultName, isFaultName } from '../../basics/fault-words.ts';
import { readHeader } from '../../basics/text.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { seal, unseal } from './sealing.ts';
import { buildTokenCookie, readCookie } from './tokens.ts';

const cookie = 'identity_refused';
const lifeSeconds = 600;
const maxForms = 3;
const maxFieldBytes = 1_000;
// Proxies have 4 KB for all the headers of an answer, unless they are told otherwise.
const maxCookieBytes = 1_000;
// Of nobody who is known, and so has no row. It has room for any one form.
const maxCookieBytesOfStranger = 2_000;
const maxRowsOfUser = 10;
const maxCookiesBytes = 8_192;

const refusedFormSchema = z.object({
  id: z.string(),
  /** Of the page. */
  path: z.string(),
  /** Who was logged in, or null. Nobody else is shown the form. */
  userId: z.string().nullable(),
  /** Unix seconds. */
  refusedAt: z.int(),
  /** A problem code, or a word of the page. */
  code: z.string(),
  /** What is wrong, by field. The name '' is for the form as a whole. */
  faults: z.record(
    z.string(),
    z.custom<FaultName>((name) => typeof name === 'string' && isFaultName(name)),
  ),
  /** Unix seconds: when to try again. */
  waitsUntil: z.int().optional(),
  fields: z.record(z.string(), z.string()),
});

export type RefusedForm = z.infer<typeof refusedFormSchema>;

/** What the cookie has of a form that is in a row. */
const formInRowSchema = refusedFormSchema
  .pick({ id: true, refusedAt: true })
  .extend({ userId: z.string(), inRow: z.literal(true) });

type FormInRow = z.infer<typeof formInRowSchema>;

const isInRow = (form: RefusedForm | FormInRow): form is FormInRow => 'inRow' in form;

type CookieDeps = Pick<Dependencies, 'config' | 'now'>;
type Deps = CookieDeps & Pick<Dependencies, 'db'>;

const nowSeconds = ({ now }: CookieDeps) => Math.floor(now().getTime() / 1_000);

/** Keeps a refused form. Undefined if there is no room for it. */
export async function keepRefusedForm(
  deps: Deps,
  request: Request,
  form: Omit<RefusedForm, 'id' | 'refusedAt'>,
): Promise<{ id: string; setCookie: string } | undefined> {
  const id = crypto.randomUUID();
  const fields = pickShort(form.fields);
  const isCut = Object.keys(form.fields).some((name) => !(name in fields));
  // A reason in the words of whoever gave it is not lost (contract 12.94), nor a part of a form that is to be sent again as it is.
  if (isCut && (form.code === 'confirm' || ('why' in form.fields && !('why' in fields)))) return undefined;
  const kept = { ...form, id, refusedAt: nowSeconds(deps), fields };
  const others = await readForms(deps, request);
  const maxBytes = form.userId ? maxCookieBytes : maxCookieBytesOfStranger;
  const inCookie = await packForms(deps, [kept, ...others], maxBytes, form.userId ? maxForms : 1);
  if (inCookie) return hasRoom(deps, request, inCookie) ? { id, setCookie: inCookie } : undefined;
  if (!form.userId) return undefined;
  const { userId } = form;
  const named = await packForms(
    deps,
    [{ id, userId, refusedAt: kept.refusedAt, inRow: true }, ...others],
    maxBytes,
    1,
  );
  if (!named || !hasRoom(deps, request, named)) return undefined;
  await keepInRow(deps, { ...kept, userId });
  return { id, setCookie: named };
}

/**
 * The cookie with the newest of the forms, as many as there is room for; undefined if there is none for `minForms` of them, or for as
 * many as there are.
 */
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

const contextOfRow = (id: string) => `refused form ${id}`;

async function keepInRow({ db, config }: Deps, form: RefusedForm & { userId: string }): Promise<void> {
  const { id, userId, refusedAt } = form;
  const plain = new TextEncoder().encode(JSON.stringify(form));
  const sealed = await seal(config.encryptionKeys, contextOfRow(id), plain);
  const expiresAt = new Date((refusedAt + lifeSeconds) * 1_000);
  await insertRefusedForm(db, { id, userId, sealed, expiresAt }, maxRowsOfUser);
}

async function readRow(
  { db, config, now }: Deps,
  { id, userId }: FormInRow,
): Promise<RefusedForm | undefined> {
  const sealed = await findRow(db, { id, userId, now: now() });
  const opened = sealed && (await unseal(config.encryptionKeys, contextOfRow(id), sealed));
  return opened && refusedFormSchema.safeParse(JSON.parse(new TextDecoder().decode(opened.plain))).data;
}

/** The fields, in their order, as long as there is room for them. */
function pickShort(fields: Record<string, string>): Record<string, string> {
  let left = maxFieldBytes;
  return Object.fromEntries(
    Object.entries(fields).filter((field) => {
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

/** The form that was refused on that page for that user, if it is kept. */
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

/** The `Set-Cookie` value that drops the forms of anybody but that user; undefined if there are none. */
export async function dropFormsOfOthers(
  deps: CookieDeps,
  request: Request,
  userId: string,
): Promise<string | undefined> {
  const forms = await readForms(deps, request);
  const own = forms.filter((form) => form.userId === userId);
  return own.length === forms.length ? undefined : buildCookie(deps, own);
}

const context = 'refused forms';

async function buildCookie({ config }: CookieDeps, forms: (RefusedForm | FormInRow)[]): Promise<string> {
  if (forms.length === 0) return buildTokenCookie(config.issuer, cookie, '', 0);
  const plain = new TextEncoder().encode(JSON.stringify(forms));
  const sealed = await seal(config.encryptionKeys, context, plain);
  const text = base64url.encode(sealed, { includePadding: false });
  return buildTokenCookie(config.issuer, cookie, text, lifeSeconds);
}

/** The forms that are still kept, newest first. None if the cookie is not ours, or is of a version that we do not know. */
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
