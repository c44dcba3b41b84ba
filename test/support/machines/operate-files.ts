// The configuration files of docs/operate/files/ as a test runs them: the same text, with what differs by machine replaced.
import { readOurFile } from '../project/documents.ts';

/**
 * Reads a file with these replacements. Throws if the file does not have a text to replace, because then file and test do not
 * fit.
 */
export function renderOperateFile(name: string, replacements: Record<string, string>): string {
  return Object.entries(replacements).reduce(
    (text, [from, to]) => {
      if (!text.includes(from)) throw new Error(`docs/operate/files/${name} does not contain: ${from}`);
      return text.replaceAll(from, to);
    },
    readOurFile(`docs/operate/files/${name}`),
  );
}
