// The Dockerfile without Docker: each stage is a folder, in which its commands run.
import { execFile } from 'node:child_process';
import { cp, mkdir, readdir } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { readOurFile } from './documents.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const run = promisify(execFile);

/** `folder` is the last WORKDIR. */
export type Image = {
  base: string;
  folder: string;
  env: Record<string, string>;
  user: string | undefined;
  command: string[];
  healthCheck: string[];
};

/** Runs every instruction, in folders inside `below`. Returns the last stage. Throws at an unknown instruction. */
export async function buildImage(below: string): Promise<Image> {
  const stages: (Image & { name: string; root: string })[] = [];
  for (const [word, rest] of readInstructions()) {
    const stage = stages.at(-1);
    if (word === 'FROM') {
      const [base = '', , name = 'last'] = rest.split(' ');
      const folder = join(below, name);
      await mkdir(folder);
      const [env, command, healthCheck] = [{}, [], []];
      stages.push({ base, name, root: folder, folder, env, user: undefined, command, healthCheck });
      continue;
    }
    if (!stage) throw new Error('The Dockerfile does not begin with FROM');
    if (word === 'WORKDIR') {
      stage.folder = join(stage.root, rest);
      await mkdir(stage.folder);
    } else if (word === 'ENV') {
      const [, name = '', value = ''] = /^(\w+)=(.*)$/.exec(rest) ?? [];
      stage.env[name] = value;
    } else if (word === 'COPY') {
      const [, from, words = ''] = /^(?:--from=(\w+) )?(.*)$/.exec(rest) ?? [];
      const paths = words.split(' ');
      const target = join(stage.folder, paths.pop() ?? '');
      const source = stages.find(({ name }) => name === from)?.root;
      for (const path of paths) {
        if (path === '.') await copyContext(target);
        else await copy(source ? join(source, path) : join(root, path), target, words.endsWith('/'));
      }
    } else if (word === 'RUN') {
      await run('sh', ['-c', rest], {
        cwd: stage.folder,
        env: { ...process.env, NODE_ENV: '', ...stage.env } as unknown as NodeJS.ProcessEnv,
        timeout: 240_000,
      });
    } else if (word === 'USER') stage.user = rest;
    else if (word === 'CMD') stage.command = JSON.parse(rest);
    else if (word === 'HEALTHCHECK')
      stage.healthCheck = JSON.parse(/^(?:--\S+\s+)*CMD (.*)$/.exec(rest)?.[1] ?? '');
    else if (word !== 'EXPOSE') throw new Error(`The test does not know ${word}`);
  }
  const last = stages.at(-1);
  if (!last) throw new Error('The Dockerfile is empty');
  return last;
}

function readInstructions(): [word: string, rest: string][] {
  const lines = readOurFile('Dockerfile')
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line !== '');
  return lines.map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]);
}

/** Copies as COPY does: into the target if that is a folder, or else to the target itself. */
async function copy(source: string, target: string, isIntoFolder: boolean): Promise<void> {
  const to = isIntoFolder ? join(target, basename(source)) : target;
  await mkdir(dirname(to), { recursive: true });
  // For many small files, cp(1) is faster than fs.cp, and it keeps the links of node_modules/.bin.
  await run('cp', ['-a', source, to]);
}

/** The last pattern that matches decides. A pattern with `!` brings back files that other patterns leave out. */
async function copyContext(target: string): Promise<void> {
  const patterns = readOurFile('.dockerignore')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => ({
      isKept: line.startsWith('!'),
      form: new RegExp(`^${line.replace('!', '').replaceAll('.', '\\.').replaceAll('*', '[^/]*')}$`),
    }));
  const isKept = (path: string) => patterns.findLast(({ form }) => form.test(path))?.isKept ?? true;
  for (const name of (await readdir(root)).filter(isKept)) {
    const filter = (source: string) => isKept(relative(root, source).replaceAll('\\', '/'));
    await cp(join(root, name), join(target, name), { recursive: true, filter });
  }
}
