// The texts that engineers read: comments, names of tests, and documents without their code.

/** Returns the paragraphs of a document, or the comments of a source and the names of its tests, each in one line. */
export function readProse(path: string, text: string): string[] {
  const found = path.endsWith('.md')
    ? text
        .replaceAll(/^ *```[\s\S]*?^ *```/gm, '')
        .replaceAll(/`[^`]*`/g, 'code')
        .replaceAll(/^(?:[-|] \*\*[\d.]+\*\* |[-*|#]+ )/gm, '\n')
        .split(/\n\s*\n/)
    : [...readComments(text), ...(path.startsWith('test/') ? readTestNames(text) : [])];
  return found.map((prose) => prose.replaceAll(/\s+/g, ' ').trim()).filter((prose) => prose !== '');
}

const readComments = (text: string) =>
  (text.match(/(?:^[ \t]*\/\/.*\n?)+|\/\*\*?\s[\s\S]*?\*\//gm) ?? []).map((comment) =>
    comment.replaceAll(/^\s*(?:\/\/|\/?\*+\/?)|\*\//gm, ''),
  );

const readTestNames = (text: string) =>
  [...text.matchAll(/\b(?:it|describe)(?:\.\w+(?:\([^)]*\))*)*\(\s*(['"`])(.*?)\1/g)].map(
    ([, , name = '']) => name,
  );
