// Forms that were refused, kept in a cookie for the page that shows them again (contract 9.171 to 9.176). The cookie is
// encrypted, so that nobody but us can make a page show a form, or read what was typed.
import { base64url } from 'oslo/encoding';
import { z } from 'zod';
import { type FaultName, isFaultName } from '../../basics/fault-words.ts';
import { readHeader } from '../../http/text.ts';
import type { Dependencies } from '../../instance/dependencies.ts';
import { seal, unseal } from './sealing.ts';
import { buildTokenCookie, readCookie } from './tokens.ts';

const cookie = 'identity_refused';
const lifeSeconds = 600;
const maxForms = 3;
const maxFieldBytes = 1_000;
const maxCookieBytes = 3_500;
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

type Deps = Pick<Dependencies, 'config' | 'now'>;

const nowSeconds = ({ now }: Deps) => Math.floor(now().getTime() / 1_000);

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
  const forms = [kept, ...(await readForms(deps, request))].slice(0, maxForms);
  let setCookie = await buildCookie(deps, forms);
  while (setCookie.length > maxCookieBytes && forms.length > 1) {
    forms.pop();
    setCookie = await buildCookie(deps, forms);
  }
  return hasRoom(deps, request, setCookie) ? { id, setCookie } : undefined;
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

function hasRoom({ config }: Deps, request: Request, setCookie: string): boolean {
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
  return forms.find((form) => form.id === id && form.path === path && form.userId === userId);
}

/** The `Set-Cookie` value that drops the forms of anybody but that user; undefined if there are none. */
export async function dropFormsOfOthers(
  deps: Deps,
  request: Request,
  userId: string,
): Promise<string | undefined> {
  const forms = await readForms(deps, request);
  const own = forms.filter((form) => form.userId === userId);
  return own.length === forms.length ? undefined : buildCookie(deps, own);
}

const context = 'refused forms';

async function buildCookie({ config }: Deps, forms: RefusedForm[]): Promise<string> {
  if (forms.length === 0) return buildTokenCookie(config.issuer, cookie, '', 0);
  const plain = new TextEncoder().encode(JSON.stringify(forms));
  const sealed = await seal(config.encryptionKeys, context, plain);
  const text = base64url.encode(sealed, { includePadding: false });
  return buildTokenCookie(config.issuer, cookie, text, lifeSeconds);
}

/** The forms that are still kept, newest first. None if the cookie is not ours, or is of a version that we do not know. */
async function readForms(deps: Deps, request: Request): Promise<RefusedForm[]> {
  const text = readCookie(request, deps.config.issuer, cookie) ?? '';
  if (!/^[A-Za-z0-9_-]{1,4000}$/.test(text)) return [];
  const opened = await unseal(deps.config.encryptionKeys, context, base64url.decode(text, { strict: false }));
  const read =
    opened && z.array(refusedFormSchema).safeParse(JSON.parse(new TextDecoder().decode(opened.plain)));
  if (!read?.success) return [];
  return read.data.filter(({ refusedAt }) => refusedAt + lifeSeconds > nowSeconds(deps));
}
