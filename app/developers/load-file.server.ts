import type { LoaderFunctionArgs } from '@remix-run/node';

export async function loadDeveloperFile(name: string, { context }: LoaderFunctionArgs): Promise<Response> {
  const { files } = await import('virtual:developers');
  const file = files.find((each) => each.name === name);
  if (!file) return context.transport.notFound();
  const bytes = Uint8Array.from(atob(await file.load()), (character) => character.charCodeAt(0));
  return new Response(bytes, { headers: { 'Content-Type': file.type } });
}
