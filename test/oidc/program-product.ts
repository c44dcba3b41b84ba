// A product that is a program of its own.
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  makeOwnFolder,
  type RunningProgram,
  startProgram,
  writeOwnFile,
} from '../support/machines/programs.ts';
import type { Place, Product } from './pair.ts';

export type ProgramProduct = {
  program: string;
  args: (folder: string) => string[];
  /** The files to write into the folder of the product, by name. */
  files: Record<string, string>;
};

/** Returns the text of a file beside this one. The user that runs the product may not read the checkout. */
export const readHere = (name: string) => readFile(fileURLToPath(new URL(name, import.meta.url)), 'utf8');

/** Starts the program with its place in the environment, and waits until it answers. */
export async function openProgram(place: Place, { program, args, files }: ProgramProduct): Promise<Product> {
  const { issuer, client, secret, origin, port } = place;
  const folder = await makeOwnFolder();
  for (const [name, text] of Object.entries(files)) await writeOwnFile(join(folder, name), text);
  const env = { ISSUER: issuer, CLIENT: client, SECRET: secret, ORIGIN: origin, PORT: String(port) };
  const running = startProgram(program, args(folder), { folder, env });
  async function close() {
    await running.stop('SIGTERM');
    await rm(folder, { recursive: true, force: true });
  }
  try {
    await waitForAnswer(origin, running);
  } catch (error) {
    await close();
    throw error;
  }
  return { close };
}

async function waitForAnswer(origin: string, { output, hasExited }: RunningProgram): Promise<void> {
  const deadline = Date.now() + 120_000;
  while (
    !(await fetch(origin).then(
      ({ ok }) => ok,
      () => false,
    ))
  ) {
    if (hasExited() || Date.now() > deadline) throw new Error(`The product did not start: ${output()}`);
    await new Promise((done) => setTimeout(done, 50));
  }
}
