// A file of /developers, by its name.
import type { LoaderFunctionArgs } from '@remix-run/node';

export async function loadDeveloperFile(
  name: string,
  { request, context }: LoaderFunctionArgs,
): Promise<Response> {
  const { files } = await import('virtual:developers');
  const file = files.find((each) => each.name === name);
  if (!file) return context.transport.notFound();
  const bytes = Uint8Array.from(atob(await file.load()), (character) => character.charCodeAt(0));
  return context.transport.answerToAll(request, bytes, { 'Content-Type': file.type });
}
