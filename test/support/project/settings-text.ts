// The texts about settings that `npm run settings` writes: the tables in docs/operate/settings.md, and .env.example.
import { describeSettings, readConfig } from '../../../server/settings/config.ts';
import { fileSettingOf } from '../../../server/settings/reader.ts';
import { type SettingWords, settingGroups } from '../../../server/settings/words.ts';

export const settingsFile = 'docs/operate/settings.md';
export const exampleFile = '.env.example';

const production = { NODE_ENV: 'production' };

/** What the code says about settings: which values each setting accepts, and its default in local mode and in production. */
const inLocalMode = describeSettings({});
const inProduction = describeSettings(production);
const required = listMissing();
const prefixes = [...inLocalMode.keys()].flatMap((name) => /^(SSO_.+_)CALLBACK_URL$/.exec(name)?.[1] ?? []);

/** The settings that the service asks for if it starts in production without any setting. */
function listMissing(): string[] {
  try {
    readConfig(production);
  } catch (error) {
    return [...String(error).matchAll(/^ {2}(\w+) is missing/gm)].map(([, name = '']) => name);
  }
  throw new Error('Production starts without a setting.');
}

const anyPrefix = 'SSO_<X>_';
const isOfClients = ({ name }: SettingWords) => name.startsWith(anyPrefix);
const namesOf = (words: SettingWords) =>
  isOfClients(words) ? prefixes.map((prefix) => words.name.replace(anyPrefix, prefix)) : [words.name];

const described = settingGroups.flatMap(({ settings }) => settings.flatMap(namesOf));

/** Settings that only the code or only words.ts has. */
export const listStray = () =>
  [...described, ...inLocalMode.keys()].filter((name) => !described.includes(name) || !inLocalMode.has(name));

const code = (value: string | undefined) => value && `\`${value}\``;

function describe(words: SettingWords) {
  const { meaning, fallback, local } = words;
  const [first = ''] = namesOf(words);
  const { form, fallback: usual, isSecret } = inLocalMode.get(first) ?? {};
  const here = local ?? fallback ?? code(usual) ?? 'none';
  const there = required.includes(first)
    ? '**the start fails**'
    : (fallback ?? code(inProduction.get(first)?.fallback) ?? 'none');
  const sentences = [
    meaning.replace(/[^.]$/, '$&.'),
    ...(form ? [`Takes ${form.replaceAll(/\B(?=(\d{3})+$)/g, ',')}.`] : []),
    ...(isSecret ? [`A secret: \`${fileSettingOf(words.name)}\` may name a file that holds it.`] : []),
  ];
  return {
    meaning: sentences.join(' '),
    unset: here === there ? here : `${there}; in local mode ${here}`,
    value: local || fallback ? '' : (usual ?? ''),
  };
}

const buildTable = (settings: SettingWords[]) =>
  [
    '| Setting | Meaning | If not set |',
    '| --- | --- | --- |',
    ...settings.map((words) => {
      const { meaning, unset } = describe(words);
      return `| \`${words.name}\` | ${meaning} | ${unset} |`;
    }),
  ].join('\n');

const marker = '<!-- What follows is written by `npm run settings`. -->\n';

/** The document with everything after the marker written anew. */
export function buildSettings(document: string): string {
  const groups = settingGroups.map(({ title, intro, settings }) =>
    [`\n## ${title}`, ...(intro ? [intro] : []), buildTable(settings)].join('\n\n'),
  );
  return `${document.split(marker)[0]}${marker}${groups.join('\n')}\n`;
}

/** Makes text a comment with lines of 118 characters, without the marks of code and links. */
function comment(text: string): string {
  const plain = text.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/[`*]/g, '');
  return plain.replaceAll(/\s+/g, ' ').replaceAll(/(.{1,116})(?: |$)/g, '# $1\n');
}

/** The text of .env.example. The settings of clients are described once, for all clients. */
export function buildExample(): string {
  const groups = settingGroups.map(({ title, intro, settings }) => {
    const entries = settings.map((words) => {
      const { meaning, unset, value } = describe(words);
      const text = unset === code(value) ? meaning : `${meaning} If not set: ${unset}.`;
      return isOfClients(words)
        ? comment(`${words.name}: ${text}`)
        : `${comment(text)}# ${words.name}=${value}\n`;
    });
    const ofClients = settings.filter(isOfClients);
    const lists =
      ofClients.length === 0
        ? []
        : prefixes.map((prefix) =>
            ofClients.map(({ name }) => `# ${name.replace(anyPrefix, prefix)}=\n`).join(''),
          );
    return [`# --- ${title} ---\n`, ...(intro ? [comment(intro)] : []), ...entries, ...lists].join('\n');
  });
  return `# Every setting of the service. docs/operate/settings.md says the same in tables, and \`npm run settings\` writes both.
#
# Copy this file to .env, take the # off what you set, and load it:
#   set -a; . ./.env; set +a; npm start
#
# Local mode needs none of them, and takes only addresses of this machine.

${groups.join('\n')}`;
}
