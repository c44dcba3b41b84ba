// What app/developers/publish/plugin.ts makes at build time of docs/ and clients/.
declare module 'virtual:developers' {
  type Section = { id: string; title: string };
  export type DeveloperPage = {
    /** The last part of its path; empty for the start page. */
    slug: string;
    path: string;
    group: string;
    /** What the contents call it. */
    name: string;
    /** The name of the file to download, of a kit. */
    archive?: string;
    load: () => Promise<{ title: string; html: string; sections: Section[] }>;
  };
  export type DeveloperFile = {
    name: string;
    type: string;
    /** In bytes. */
    size: number;
    sha256: string;
    /** Its bytes in base64. */
    load: () => Promise<string>;
  };
  /** In the order of the contents. */
  export const pages: DeveloperPage[];
  export const files: DeveloperFile[];
}
