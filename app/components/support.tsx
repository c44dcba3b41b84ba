/** Words that lead to support, where there is somewhere to go (IDENTITY_SUPPORT_URL). */
export const Support = ({ url, words = 'Contact support' }: { url: string | undefined; words?: string }) =>
  url ? <a href={url}>{words}</a> : words;
