import { existsSync } from 'node:fs';
import { relative } from 'node:path';
import ts from 'typescript';

/** Compiles a kit for ES modules and, if it has a tsconfig.cjs.json, for CommonJS. Returns each file's text by its path. */
export function compileKit(folder: string): Map<string, string> {
  const emitted = compile(folder, 'tsconfig.json');
  if (!existsSync(`${folder}/tsconfig.cjs.json`)) return emitted;
  // The package has ES modules. So the folder with CommonJS files has to declare its own type.
  emitted.set('dist/cjs/package.json', '{ "type": "commonjs" }\n');
  return new Map([...emitted, ...compile(folder, 'tsconfig.cjs.json')]);
}

function compile(folder: string, name: string): Map<string, string> {
  const { config } = ts.readConfigFile(`${folder}/${name}`, ts.sys.readFile);
  const { fileNames, options } = ts.parseJsonConfigFileContent(config, ts.sys, folder);
  const program = ts.createProgram(fileNames, options);
  const [fault] = ts.getPreEmitDiagnostics(program);
  if (fault) throw new Error(`${folder}: ${ts.flattenDiagnosticMessageText(fault.messageText, ' ')}`);
  const emitted = new Map<string, string>();
  program.emit(undefined, (path, text) => emitted.set(relative(folder, path).replaceAll('\\', '/'), text));
  return emitted;
}
