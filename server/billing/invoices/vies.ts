// Asks VIES, the EU's register of VAT ids, over its REST interface (contract 7.486 to 7.489).
import { z } from 'zod';
import type { VatAnswer } from '../../../db/tables/vat-checks.ts';
import { notShown } from '../../basics/names.ts';
import { version } from '../../runtime/version.ts';
import { isPrintable } from '../values/billing-text.ts';

export const viesUrl = 'https://ec.europa.eu/taxation_customs/vies/rest-api/check-vat-number';

const answerWithinMs = 10_000;
const maxLength = 64 * 1_024;

const answerSchema = z.object({
  countryCode: z.string(),
  vatNumber: z.string(),
  valid: z.boolean(),
  actionSucceed: z.boolean().nullish(),
  userError: z.string().nullish(),
  requestIdentifier: z.string().nullish(),
  name: z.string().nullish(),
  address: z.string().nullish(),
  /** Whether the country says that the name belongs to the VAT id. Only a few countries compare names. */
  traderNameMatch: z.string().nullish(),
});

/** `askedBy` is the seller's VAT id. Without it, VIES gives no consultation number. */
export type ViesQuestion = { vatId: string; name: string; askedBy: string };

export type ViesAnswer = VatAnswer & { hasName: boolean };

/** Throws if VIES, or the country that VIES asks, gives no answer. Such an error says nothing about the VAT id. */
export async function askVies(
  url: string,
  { vatId, name, askedBy }: ViesQuestion,
  stop: AbortSignal | undefined,
): Promise<ViesAnswer> {
  const controller = new AbortController();
  const end = () => controller.abort(new Error('no answer in time'));
  const timer = setTimeout(end, answerWithinMs);
  stop?.addEventListener('abort', end, { once: true });
  try {
    const response = await fetch(url, {
      method: 'POST',
      redirect: 'manual',
      signal: controller.signal,
      headers: {
        Accept: 'application/json',
        'Content-Type': 'application/json',
        'User-Agent': `identity-service/${version}`,
      },
      body: JSON.stringify({
        countryCode: vatId.slice(0, 2),
        vatNumber: vatId.slice(2),
        requesterMemberStateCode: askedBy.slice(0, 2),
        requesterNumber: askedBy.slice(2),
        traderName: name,
      }),
    });
    const text = await readAtMost(response);
    if (response.status !== 200) throw new Error(`HTTP ${response.status}`);
    return readAnswer(text, { vatId, name });
  } finally {
    clearTimeout(timer);
    stop?.removeEventListener('abort', end);
    controller.abort();
  }
}

async function readAtMost(response: Response): Promise<string> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const { value } = (await reader?.read()) ?? {};
    if (value === undefined) return text;
    text += value;
    if (text.length > maxLength) throw new Error('the answer is too long');
  }
}

// VIES also answers errors with status 200. Then either `actionSucceed` is false and `valid` is missing, or `userError` has an
// error code.
const certain = new Set([undefined, null, '', 'VALID', 'INVALID']);

function readAnswer(text: string, { vatId, name }: Pick<ViesQuestion, 'vatId' | 'name'>): ViesAnswer {
  const { data } = answerSchema.safeParse(parse(text));
  if (!data || data.actionSucceed === false || !certain.has(data.userError)) throw new Error('no verdict');
  if (data.countryCode + data.vatNumber !== vatId) throw new Error('an answer about another VAT id');
  const { requestIdentifier, address } = data;
  const registered = readText(data.name);
  return {
    isValid: data.valid,
    hasName: data.traderNameMatch === 'VALID' || (registered !== null && isSameName(registered, name)),
    consultation: requestIdentifier && /^[\w-]{1,64}$/.test(requestIdentifier) ? requestIdentifier : null,
    name: registered,
    address: readText(address),
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** VIES writes `---` if a country does not share a fact. */
const readText = (text: string | null | undefined) => {
  const line = Array.from(text?.replaceAll(/\s+/g, ' ').trim() ?? '')
    .filter((character) => isPrintable(character) && !notShown.test(character))
    .slice(0, 300)
    .join('');
  return line === '' || line === '---' ? null : line;
};

const listWords = (name: string) =>
  name
    .normalize('NFKD')
    .replaceAll(/[\p{M}.'’]/gu, '')
    .toUpperCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
    .sort()
    .join(' ');

/** Returns whether two names have the same words, apart from order, accents and marks: “Fleurs S.A.R.L.” is “SARL FLEURS”. */
export const isSameName = (one: string, other: string): boolean =>
  listWords(one) !== '' && listWords(one) === listWords(other);
