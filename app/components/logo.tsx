/** Shows nothing if there is no `logoPath`. If there is a `logoDarkPath`, a dark page shows that logo instead. */
export function Logo({ logoPath, logoDarkPath, name = '' }: LogoProps) {
  if (!logoPath) return null;
  return (
    <picture>
      {logoDarkPath && <source srcSet={logoDarkPath} media="(prefers-color-scheme: dark)" />}
      <img src={logoPath} alt={name} />
    </picture>
  );
}

type LogoProps = {
  logoPath: string | undefined;
  logoDarkPath: string | undefined;
  /** The logo's text for screen readers. Left out if the same text is shown beside the logo. */
  name?: string;
};
