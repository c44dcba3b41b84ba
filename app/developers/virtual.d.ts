// What app/developers/publish/plugin.ts builds from docs/ and clients/.
declare module 'virtual:developers' {
  type Section = { id: string; title: string };
  export type DeveloperPage = {
    /** The last part of the page's path; empty for the start page. */
    slug: string;
    path: string;
    group: string;
    name: string;
    /** The name of the file to download; only for a kit. */
    archive?: string;
    load: () => Promise<{ title: string; html: string; sections: Section[] }>;
  };
  export type DeveloperFile = {
    name: string;
    type: string;
    size: number;
    sha256: string;
    /** The file's bytes in base64. */
    load: () => Promise<string>;
  };
  export const pages: DeveloperPage[];
  export const files: DeveloperFile[];
}
