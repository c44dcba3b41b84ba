// Signups with one wrong member, as data: each member missing, null, of the wrong type and in the wrong form.
import { at, type Case, type Change, refused, set, text } from './raw-signups.ts';

const invalidAt = (pointers: string[], cases: Record<string, Change>): Case[] =>
  refused(422, 'validation_failed', cases).map((one) => ({ ...one, pointers }));

/** One case for each wrong value of one member. */
const invalid = (path: string, values: Record<string, unknown>): Case[] =>
  invalidAt(
    [`/${path.replaceAll('.', '/')}`],
    Object.fromEntries(Object.entries(values).map(([what, value]) => [`${path}: ${what}`, set(path, value)])),
  );

/** `now` is the instant of the test, in Unix seconds. */
export function memberCases(now: number): Case[] {
  const ofText = { missing: undefined, null: null, 'a number': 1, 'a list': [], 'an object': {}, true: true };
  const ofObject = { missing: undefined, null: null, 'a string': 'canary', 'a list': [], 'a number': 1 };
  const names = {
    ...ofText,
    empty: '',
    'of spaces': ' \u00a0\t ',
    'of 201 characters': 'n'.repeat(201),
    'of 201 astral characters': '𝄞'.repeat(201),
    'with a zero byte': 'canary\u0000',
    'with an escape': 'canary\u001b[2J',
    'with a line feed': 'canary\ncanary',
    'with a C1 control': 'canary\u0085',
    'with a bidi override': 'canary\u202e',
    'with a bidi isolate': 'canary\u2066',
    'with a high surrogate alone': 'canary\ud800',
    'with a low surrogate alone': 'canary\udfff',
  };
  const instants = {
    null: null,
    'a number': now,
    empty: '',
    'in words': 'tomorrow canary',
    'without a zone': '2025-03-04T05:06:07',
    'without a time': '2025-03-04',
    'without a T': '2025-03-04 05:06:07Z',
    'without seconds and zone': '2025-03-04T05:06',
    'on 30 February': '2025-02-30T05:06:07Z',
    'on 29 February of no leap year': '2025-02-29T05:06:07Z',
    'in month 13': '2025-13-04T05:06:07Z',
    'at 25 hours': '2025-03-04T25:06:07Z',
    'in the year 0000': '0000-03-04T05:06:07Z',
    'in a year of six digits': '+012025-03-04T05:06:07Z',
    'with a line feed': '2025-03-04T05:06:07Z\n',
  };
  return [
    ...invalid('signup_id', {
      ...ofText,
      empty: '',
      'of 129 characters': 'i'.repeat(129),
      'with a space': 'canary 1',
      'with a slash': 'canary/1',
      'with a line feed': 'canary\n',
      'with an accent': 'canaryé',
      'with a zero byte': 'canary\u0000',
    }),
    ...invalid('occurred_at', {
      'before 2000': '1999-12-31T23:59:59.999Z',
      'an unset clock': '1970-01-01T00:00:00.000Z',
      ...instants,
      missing: undefined,
      '301 s ahead': at(now + 301),
      'a millisecond more than 300 s ahead': at(now + 300.001),
    }),
    ...invalid('user', ofObject),
    ...invalid('user.email', {
      ...ofText,
      empty: '',
      'without @': 'canary.example.test',
      'with two @': 'canary@canary@example.test',
      'without a name': '@canary.test',
      'without a domain': 'canary@',
      'with a space': 'ca nary@example.test',
      'with a space at its end': 'canary@example.test ',
      'with a line feed': 'canary@example.test\nbcc:x@example.test',
      'with a full-width character': 'ｃanary@example.test',
      'with a zero-width joiner': 'canary\u200d@example.test',
      'with a bidi override': 'canary\u202e@example.test',
      'with a lone surrogate': 'canary\ud800@example.test',
      'with an empty label': 'canary@example..test',
      'with a name around it': 'Canary <canary@example.test>',
      'of 255 characters': `${'c'.repeat(242)}@example.test`,
    }),
    ...invalid('user.name', names),
    ...invalid('account', ofObject),
    ...invalid('account.name', names),
    ...invalid('contract', ofObject),
    ...invalid('contract.plan', {
      ...ofText,
      empty: '',
      'of 65 characters': 'p'.repeat(65),
      'in capitals': 'Canary',
      'with a space': 'canary plan',
      'with a dot': 'canary.plan',
      'with a line feed': 'canary\n',
    }),
    ...invalid('contract.status', {
      ...ofText,
      empty: '',
      'in British spelling': 'cancelled',
      past_due: 'past_due',
      expired: 'expired',
      'in capitals': 'TRIALING',
      'with a space': 'trialing ',
    }),
    ...invalid('contract.trial_ends_at', {
      ...instants,
      'missing while trialing': undefined,
      'before occurred_at': at(now - 61),
      'equal to occurred_at': at(now - 60),
      'equal to occurred_at in another zone': at(now - 60 + 2 * 3_600).replace('Z', '+02:00'),
    }),
    ...invalid('contract.price', { 'a string': 'canary', 'a number': 2_900, 'a list': [] }),
    ...invalid('contract.price.currency', {
      ...ofText,
      empty: '',
      'in lower case': 'eur',
      'no longer assigned': 'DEM',
      'without a minor unit': 'XXX',
      'for gold': 'XAU',
      unknown: 'QQQ',
      'not a code': 'Euro',
      'a sign': '€',
      'with a space': 'EUR ',
      'a name that objects have': 'constructor',
    }),
    ...invalid('contract.price.unit_amount', {
      missing: undefined,
      null: null,
      negative: -1,
      'with a fraction': 29.5,
      'a string': '2900',
      'above 2^53': 2 ** 53 + 2,
      '2^53': 2 ** 53,
      'a list': [2_900],
      true: true,
    }),
    ...invalidAt(['/contract/price/unit_amount'], {
      'contract.price.unit_amount: too large for a number': text((json) => json.replace('49137', '1e400')),
    }),
    ...invalid('contract.price.interval', {
      ...ofText,
      empty: '',
      week: 'week',
      day: 'day',
      'in capitals': 'MONTH',
      monthly: 'monthly',
    }),
    ...invalidAt([''], {
      'a list instead of the whole signup': text((json) => `[${json}]`),
      'a string instead of the whole signup': text((json) => JSON.stringify(json)),
      'null instead of the whole signup': text(() => 'null'),
      'a number instead of the whole signup': text(() => '1'),
    }),
    ...invalidAt(['/user'], {
      'a user only through __proto__': text((json) => json.replace('"user"', '"__proto__"')),
    }),
    ...invalidAt(['/signup_id', '/occurred_at', '/user', '/account', '/contract'], {
      'an empty object': text(() => '{}'),
    }),
    ...invalidAt(['/user/name', '/contract/plan'], {
      'two wrong members': {
        signup: ({ user, contract }) => {
          user.name = '';
          contract.plan = '';
        },
      },
    }),
  ];
}
