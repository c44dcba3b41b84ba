import { relative } from 'node:path';
import ts from 'typescript';

/** Compiles a kit with its tsconfig.json. Returns the text of each file by its path in the folder. */
export function compileKit(folder: string): Map<string, string> {
  const { config } = ts.readConfigFile(`${folder}/tsconfig.json`, ts.sys.readFile);
  const { fileNames, options } = ts.parseJsonConfigFileContent(config, ts.sys, folder);
  const program = ts.createProgram(fileNames, options);
  const [fault] = ts.getPreEmitDiagnostics(program);
  if (fault) throw new Error(`${folder}: ${ts.flattenDiagnosticMessageText(fault.messageText, ' ')}`);
  const emitted = new Map<string, string>();
  program.emit(undefined, (path, text) => emitted.set(relative(folder, path).replaceAll('\\', '/'), text));
  return emitted;
}
